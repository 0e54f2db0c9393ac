// The cluster around a pod, and the order in which kubeconfigs and it are tried.

#include <gtest/gtest.h>

#include "core/kube/cluster_access.h"

namespace detent {
namespace {

const std::string kMount = "/var/run/secrets/kubernetes.io/serviceaccount/";

using PodFiles = std::map<std::string, std::string>;

PodFiles MountedFiles() {
  return {{kMount + "token", "s3cret\n"},
          {kMount + "ca.crt", "-----BEGIN CERTIFICATE-----\n"},
          {kMount + "namespace", "batch\n"}};
}

FileReader ReaderOf(PodFiles files) {
  return [files = std::move(files)](const std::string& path) -> Result<std::string> {
    const auto found = files.find(path);
    if (found == files.end()) return Error(Code::kNotFound, "no file '" + path + "'");
    if (found->second == "DENIED") return Error(Code::kForbidden, "may not read '" + path + "'");
    return found->second;
  };
}

KubeEnvironment PodEnvironment(const std::string& host, const std::string& port) {
  KubeEnvironment environment;
  environment.service_host = host;
  environment.service_port = port;
  return environment;
}

TEST(InCluster, TakesWhatTheKubeletMounts) {
  auto access = InClusterAccess(PodEnvironment("10.0.0.1", "443"), ReaderOf(MountedFiles()));
  ASSERT_TRUE(access) << access.error().message();
  EXPECT_EQ(access->server, "https://10.0.0.1:443");
  const auto& token = std::get<BearerTokenFile>(access->credentials);
  EXPECT_EQ(token.path, kMount + "token") << "the kubelet replaces it, so it stays a file";
  EXPECT_EQ(token.fallback, "");
  EXPECT_EQ(access->tls.authority.file, kMount + "ca.crt");
  EXPECT_FALSE(access->tls.insecure_skip_verify);
  EXPECT_EQ(access->namespace_name, "batch");
}

TEST(InCluster, BuildsTheServersUrl) {
  const struct {
    const char* host;
    const char* port;
    const char* server;  // Or null for an error.
    const char* because;
  } rows[] = {
      {"fd00::1", "6443", "https://[fd00::1]:6443", "IPv6 in brackets"},
      {"[fd00::1]", "443", "https://[fd00::1]:443", "which may be there already"},
      {"kubernetes.default", "443", "https://kubernetes.default:443", "a name"},
      {"10.0.0.1", "", nullptr, "no port"},
      {"", "443", nullptr, "no host"},
      {"", "", nullptr, "no pod"},
      {"10.0.0.1", "0", nullptr, "no port"},
      {"10.0.0.1", "65536", nullptr, "no port"},
      {"10.0.0.1", "https", nullptr, "no number"},
      {"10.0.0.1", "443/x", nullptr, "more than a port"},
      {"a@b", "443", nullptr, "no host"},
      {"a/b", "443", nullptr, "no host"},
  };
  for (const auto& row : rows) {
    auto access = InClusterAccess(PodEnvironment(row.host, row.port), ReaderOf(MountedFiles()));
    ASSERT_EQ(access.has_value(), row.server != nullptr) << row.because;
    if (access) {
      EXPECT_EQ(access->server, row.server) << row.because;
    } else {
      EXPECT_NE(access.error().message().find("KUBERNETES_SERVICE_"), std::string::npos);
    }
  }
}

TEST(InCluster, SaysWhatIsWrongWithTheMount) {
  const struct {
    const char* file;
    const char* content;  // Or null: the file is missing.
    Code code;
    const char* message;
  } rows[] = {
      {"token", nullptr, Code::kNotFound, "automountServiceAccountToken"},
      {"token", " \n", Code::kInvalid, "token is empty"},
      {"token", "DENIED", Code::kForbidden, "may not read"},
      {"ca.crt", "", Code::kInvalid, "ca.crt holds no PEM block"},
      {"ca.crt", "DENIED", Code::kForbidden, "may not read"},
      {"namespace", "Not A Name", Code::kInvalid, "namespace: must"},
      {"namespace", "DENIED", Code::kForbidden, "may not read"},
  };
  for (const auto& row : rows) {
    PodFiles files = MountedFiles();
    files.erase(kMount + row.file);
    if (row.content != nullptr) files[kMount + row.file] = row.content;
    auto access = InClusterAccess(PodEnvironment("h", "1"), ReaderOf(files));
    ASSERT_FALSE(access) << row.message;
    EXPECT_EQ(access.error().code(), row.code) << row.message;
    EXPECT_NE(access.error().message().find(row.message), std::string::npos)
        << access.error().message();
    EXPECT_EQ(access.error().message().find("s3cret"), std::string::npos);
  }
}

TEST(InCluster, DoesWithoutCertificatesAndNamespace) {
  const PodFiles files = {{kMount + "token", "t"}};
  KubeEnvironment environment = PodEnvironment("h", "1");
  auto access = InClusterAccess(environment, ReaderOf(files));
  ASSERT_TRUE(access) << access.error().message();
  EXPECT_TRUE(access->tls.authority.empty()) << "the system's";
  EXPECT_EQ(access->namespace_name, "default");
  environment.pod_namespace = "mine";
  access = InClusterAccess(environment, ReaderOf(MountedFiles()));
  ASSERT_TRUE(access);
  EXPECT_EQ(access->namespace_name, "mine") << "POD_NAMESPACE goes first";
}

TEST(FindClusterAccess, TriesTheFilesAndThenThePod) {
  const std::string config =
      "current-context: x\ncontexts: [{name: x, context: {cluster: c}}]\n"
      "clusters: [{name: c, cluster: {server: 'https://file'}}]";
  const struct {
    const char* flag;
    const char* variable;
    bool in_pod;
    const char* found;  // A server, or a part of an error.
    const char* because;
  } rows[] = {
      {"/f", "", true, "https://file", "a flag goes first"},
      {"/none", "", true, "no file '/none'", "and must be there"},
      {"/empty", "", true, "no kubeconfig says", "and must say something"},
      {"", "/none:/f", true, "https://file", "then the variable"},
      {"", "/none", true, "https://h:1", "then the pod"},
      {"", "/empty", true, "https://h:1", "also when the file says nothing"},
      {"", "/bad", true, "/bad:1:1: kind", "a mistake is not passed over"},
      {"", "/none", false, "not there: '/none'", "no pod either"},
      {"", "", false, "not there: '/home/u/.kube/config'", "nor a home"},
  };
  for (const auto& row : rows) {
    PodFiles files = MountedFiles();
    files.insert({{"/f", config}, {"/empty", ""}, {"/bad", "kind: Pod"}});
    KubeEnvironment environment = PodEnvironment(row.in_pod ? "h" : "", row.in_pod ? "1" : "");
    environment.kubeconfig_flag = row.flag;
    environment.kubeconfig = row.variable;
    environment.home = "/home/u";
    auto access = FindClusterAccess(environment, {}, ReaderOf(files));
    const std::string found = access ? access->server : access.error().message();
    EXPECT_NE(found.find(row.found), std::string::npos) << row.because << ": " << found;
  }
}

TEST(FindClusterAccess, AppliesInAPodOnlyTheNamespace) {
  const KubeEnvironment pod = PodEnvironment("h", "1");
  auto access = FindClusterAccess(pod, {"", "", "", "n2"}, ReaderOf(MountedFiles()));
  ASSERT_TRUE(access) << access.error().message();
  EXPECT_EQ(access->namespace_name, "n2");
  const AccessOverrides refused[] = {
      {"x", "", "", ""}, {"", "x", "", ""}, {"", "", "x", ""}, {"", "", "", "X"}};
  for (const AccessOverrides& overrides : refused) {
    EXPECT_FALSE(FindClusterAccess(pod, overrides, ReaderOf(MountedFiles())));
  }
}

}  // namespace
}  // namespace detent
