// A kubeconfig written by the real kubectl means the same to it and to us: DETENT_KUBECTL names it.

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "core/kube/cluster_access.h"

namespace detent {
namespace {

class KubectlConfig : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* kubectl = getenv("DETENT_KUBECTL");
    if (kubectl == nullptr) {
      const char* ci = getenv("CI");
      ASSERT_FALSE(ci != nullptr && std::string(ci) == "true") << "kubectl must be there in CI";
      GTEST_SKIP() << "DETENT_KUBECTL is not set; tests/tools/build.sh makes kubectl";
    }
    kubectl_ = kubectl;
    std::string pattern = std::filesystem::temp_directory_path() / "detent-kube-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    home_ = pattern;
  }
  void TearDown() override {
    if (!home_.empty()) std::filesystem::remove_all(home_);
  }

  // What kubectl prints, with KUBECONFIG's files, or nullopt if it fails.
  std::optional<std::string> Kubectl(const std::string& files, const std::string& arguments) {
    const std::string command = "cd '" + home_ + "' && HOME='" + home_ + "' KUBECONFIG='" + files +
                                "' '" + kubectl_ + "' config " + arguments + " 2>'" + home_ +
                                "/errors'";
    FILE* pipe = popen(command.c_str(), "r");
    if (pipe == nullptr) return std::nullopt;
    std::string output;
    char piece[4096];
    while (const size_t got = fread(piece, 1, sizeof(piece), pipe)) output.append(piece, got);
    return pclose(pipe) == 0 ? std::optional(output) : std::nullopt;
  }

  std::string Write(const std::string& name, const std::string& text) const {
    std::ofstream(home_ + "/" + name) << text;
    return home_ + "/" + name;
  }

  std::string kubectl_;
  std::string home_;
};

// Everything we read, in one text to compare.
std::string Describe(const KubeConfig& config) {
  std::string text = "current " + config.current_context + "\n";
  const auto add = [&text](const std::string& field) { text += " [" + field + "]"; };
  for (const auto& [name, c] : config.clusters) {
    text += "\ncluster " + name;
    add(c.server + "|" + c.tls_server_name + "|" + c.proxy_url + "|" + c.certificate_authority);
    add(c.certificate_authority_data);
    add(std::to_string(c.insecure_skip_tls_verify) + std::to_string(c.disable_compression));
  }
  for (const auto& [name, u] : config.users) {
    text += "\nuser " + name;
    add(u.client_certificate + "|" + u.client_key + "|" + u.token + "|" + u.token_file);
    add(u.client_certificate_data + "|" + u.client_key_data);
    add(u.username + "|" + u.password + "|" + u.as + "|" + u.as_uid);
    for (const std::string& group : u.as_groups) add(group);
    for (const auto& [key, values] : u.as_user_extra) add(key + std::to_string(values.size()));
    if (!u.exec) continue;
    add(u.exec->command + "|" + u.exec->api_version + "|" + u.exec->interactive_mode);
    for (const std::string& argument : u.exec->args) add(argument);
    for (const auto& [variable, value] : u.exec->env) add(variable + "=" + value);
  }
  for (const auto& [name, c] : config.contexts) {
    text += "\ncontext " + name;
    add(c.cluster + "|" + c.user + "|" + c.namespace_name);
  }
  return text;
}

TEST_F(KubectlConfig, IsReadAsKubectlReadsIt) {
  const std::string pem = Write("pem", "-----BEGIN CERTIFICATE-----\nx\n");
  // What kubectl has no command for, it keeps when it writes the rest.
  const std::string file = Write("config",
                                 "users: [{name: erin, user: {as: root, as-uid: '0', as-groups: "
                                 "[a, b], as-user-extra: {acme.com/k: [u1, u2]}}}]\n");
  const std::string commands[] = {
      "set-cluster one --server=https://[fd00::1]:6443 --tls-server-name=api "
      "--certificate-authority=" +
          pem + " --embed-certs=true --proxy-url=http://u:p@proxy:1",
      "set-cluster two --server=https://two --insecure-skip-tls-verify=true",
      "set-cluster three --server=https://three --certificate-authority=" + pem,
      "set clusters.two.disable-compression true",
      "set-credentials alice --client-certificate=" + pem + " --client-key=" + pem +
          " --embed-certs=true",
      "set-credentials bob --token=t0ken",
      "set-credentials carol --username='a b' --password='\"#: '",
      "set-credentials dave --exec-command=aws --exec-arg=eks --exec-arg=--now "
      "--exec-env=A=b --exec-api-version=client.authentication.k8s.io/v1beta1",
      "set-context work --cluster=one --user=alice --namespace=batch",
      "set-context other --cluster=two --user=bob",
      "use-context work"};
  for (const std::string& command : commands) {
    ASSERT_TRUE(Kubectl(file, command)) << command << ": " << *ReadLocalFile(home_ + "/errors");
  }
  const auto view = Kubectl(file, "view --raw -o json");
  ASSERT_TRUE(view);
  auto theirs = ParseKubeConfig(*view, file);
  auto ours = LoadKubeConfig({{file}, true});
  ASSERT_TRUE(theirs) << theirs.error().message();
  ASSERT_TRUE(ours) << ours.error().message();
  EXPECT_EQ(ours->clusters.size() + ours->users.size() + ours->contexts.size(), 10u);
  EXPECT_EQ(Describe(*ours), Describe(*theirs));
  auto access = Resolve(*ours);
  ASSERT_TRUE(access) << access.error().message();
  EXPECT_EQ(access->server + " " + access->namespace_name, "https://[fd00::1]:6443 batch");
}

TEST_F(KubectlConfig, IsMergedAsKubectlMergesIt) {
  std::filesystem::create_directory(home_ + "/sub");
  Write("ca", "beside the first");
  Write("sub/ca", "beside the second");
  const std::string first = Write("first",
                                  "users: [{name: u, user: {tokenFile: t}}]\n"
                                  "clusters: [{name: c, cluster: {server: 'https://1'}}]");
  const std::string second =
      Write("sub/second",
            "current-context: b\nclusters: [{name: c, cluster: {server: 'https://2', "
            "tls-server-name: s}}, {name: d, cluster: {server: 'https://d', "
            "certificate-authority: ../ca}}]\ncontexts: [{name: b, context: {cluster: "
            "d, user: e}}]");
  const std::string third =
      Write("third",
            "current-context: a\nusers: [{name: u, user: {password: p}}, {name: e, user: "
            "{exec: {command: ./x, apiVersion: client.authentication.k8s.io/v1beta1, "
            "interactiveMode: Never}}}]");
  const std::string list = first + ":" + home_ + "/none:" + second + ":" + third + ":" + first;
  const auto view = Kubectl(list, "view --raw -o json");
  ASSERT_TRUE(view) << *ReadLocalFile(home_ + "/errors");
  auto theirs = ParseKubeConfig(*view, home_ + "/x");
  KubeEnvironment environment;
  environment.kubeconfig = list;
  auto ours = LoadKubeConfig(ChooseKubeConfigFiles(environment));
  ASSERT_TRUE(theirs) << theirs.error().message();
  ASSERT_TRUE(ours) << ours.error().message();
  // kubectl shows paths as the files have them, and embeds what it finds there when it flattens.
  const auto flat = Kubectl(list, "view --raw --flatten -o json");
  ASSERT_TRUE(flat) << *ReadLocalFile(home_ + "/errors");
  auto embedded = ParseKubeConfig(*flat, home_ + "/x");
  ASSERT_TRUE(embedded) << embedded.error().message();
  KubeCluster& d = ours->clusters.at("d");
  EXPECT_EQ(d.certificate_authority, home_ + "/ca");
  auto authority = ReadLocalFile(d.certificate_authority);
  ASSERT_TRUE(authority) << authority.error().message();
  EXPECT_EQ(embedded->clusters.at("d").certificate_authority_data, *authority);
  d.certificate_authority = theirs->clusters.at("d").certificate_authority;
  EXPECT_EQ(Describe(*ours), Describe(*theirs));
}

TEST_F(KubectlConfig, AgreesOnWhichDocumentsAreNone) {
  const struct {
    const char* text;
    const char* because;
  } rows[] = {
      {"", "empty"},
      {"users: [{name: a, user: {token: 5}}]", "a number for a text"},
      {"users: [{name: a}, {name: a}]", "a name twice"},
      {"kind: Pod\napiVersion: v1", "another kind"},
      {"apiVersion: v2\nkind: Config", "another version"},
      {"clusters: [{name: a, cluster: {certificate-authority-data: '!'}}]", "no base64"},
      {"clusters: [{name: a, cluster: {certificate-authority-data: \"Zm9v\\nZm9v\\n\"}}]", "lines"},
      {"clusters: [{name: a, cluster: {certificate-authority-data: Zm9}}]", "no padding"},
      {"clusters: [{name: a, cluster: {insecure-skip-tls-verify: 'true'}}]", "a text for a bool"},
      {"clusters: {}", "a map for a list"},
      {"clusters: null", "null"},
      {"unknown: 1\nclusters: [{name: a, cluster: {unknown: {}}}]", "fields nobody knows"},
      {"users: [{name: a, user: {as-groups: x}}]", "a text for a list"},
      {"a: [", "bad syntax"},
  };
  for (const auto& row : rows) {
    const std::string file = Write("case", row.text);
    const bool theirs = Kubectl(file, "view --raw -o json").has_value();
    EXPECT_EQ(LoadKubeConfig({{file}, true}).has_value(), theirs) << row.because;
  }
}

}  // namespace
}  // namespace detent
