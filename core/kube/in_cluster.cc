// The cluster that the host runs in, and the way from the surroundings to an access.

#include <algorithm>
#include <charconv>

#include "core/base/names.h"
#include "core/kube/cluster_access.h"
#include "core/net/url.h"

namespace detent {
namespace {

// Where the kubelet mounts a pod's ServiceAccount.
constexpr const char* kTokenPath = "/var/run/secrets/kubernetes.io/serviceaccount/token";
constexpr const char* kAuthorityPath = "/var/run/secrets/kubernetes.io/serviceaccount/ca.crt";
constexpr const char* kNamespacePath = "/var/run/secrets/kubernetes.io/serviceaccount/namespace";

constexpr const char* kHostVariable = "KUBERNETES_SERVICE_HOST";
constexpr const char* kPortVariable = "KUBERNETES_SERVICE_PORT";

std::string WithoutSpace(const std::string& text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first == text.npos) return "";
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

bool IsPort(const std::string& text) {
  int port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  return error == std::errc() && end == text.data() + text.size() && port > 0 && port < 65536;
}

Result<std::string> ServerOf(const KubeEnvironment& environment) {
  const std::string& host = environment.service_host;
  const std::string& port = environment.service_port;
  if (host.empty() && port.empty()) {
    return Error(Code::kNotFound,
                 std::string("not in a cluster: ") + kHostVariable + " and " + kPortVariable +
                     " are not set; name a kubeconfig with --kubeconfig or KUBECONFIG");
  }
  if (host.empty() || port.empty()) {
    return Error(Code::kInvalid, std::string(host.empty() ? kHostVariable : kPortVariable) +
                                     " is not set, though " +
                                     (host.empty() ? kPortVariable : kHostVariable) + " is");
  }
  if (!IsPort(port)) {
    return Error(Code::kInvalid,
                 std::string(kPortVariable) + " must be a port, 1 to 65535, not '" + port + "'");
  }
  const bool bare_ipv6 = host.find(':') != host.npos && host.front() != '[';
  const std::string server = "https://" + (bare_ipv6 ? "[" + host + "]" : host) + ":" + port;
  auto checked = CheckHttpUrl(server);
  if (checked && host.find_first_of("/?#") == host.npos) return server;
  return Error(Code::kInvalid, std::string(kHostVariable) + " must be a host or an address");
}

Result<std::string> NamespaceOf(const KubeEnvironment& environment, const FileReader& read_file) {
  std::string name = environment.pod_namespace;
  std::string source = "POD_NAMESPACE";
  if (name.empty()) {
    auto text = read_file(kNamespacePath);
    if (!text && text.error().code() != Code::kNotFound) return std::move(text).error();
    name = text ? WithoutSpace(*text) : "";
    source = kNamespacePath;
  }
  if (name.empty()) return std::string("default");
  if (auto checked = CheckDns1123Label(name); !checked) {
    return Error(Code::kInvalid, source + ": " + checked.error().message());
  }
  return name;
}

}  // namespace

Result<ClusterAccess> InClusterAccess(const KubeEnvironment& environment,
                                      const FileReader& read_file) {
  ClusterAccess access;
  access.server = TRY(ServerOf(environment));
  auto token = read_file(kTokenPath);
  if (!token) {
    const Code code = token.error().code();
    return Error(code, "the ServiceAccount's token: " + token.error().message() +
                           (code == Code::kNotFound
                                ? "; does the pod set automountServiceAccountToken to false?"
                                : ""));
  }
  if (WithoutSpace(*token).empty()) {
    return Error(Code::kInvalid, std::string(kTokenPath) + " is empty");
  }
  access.credentials = BearerTokenFile{kTokenPath, ""};
  auto authority = read_file(kAuthorityPath);
  if (authority && authority->find("-----BEGIN ") == authority->npos) {
    return Error(Code::kInvalid, std::string(kAuthorityPath) + " holds no PEM block");
  }
  if (authority) {
    access.tls.authority.file = kAuthorityPath;
  } else if (authority.error().code() != Code::kNotFound) {
    return std::move(authority).error();
  }
  access.namespace_name = TRY(NamespaceOf(environment, read_file));
  return access;
}

Result<ClusterAccess> FindClusterAccess(const KubeEnvironment& environment,
                                        const AccessOverrides& overrides,
                                        const FileReader& read_file) {
  const KubeConfigFiles files = ChooseKubeConfigFiles(environment);
  const KubeConfig config = TRY(LoadKubeConfig(files, read_file));
  const bool in_pod = !environment.service_host.empty() || !environment.service_port.empty();
  // A flag asks for that file: another cluster than it would have named is no answer.
  if (!config.empty() || files.required || !in_pod) return Resolve(config, overrides);
  const std::pair<const char*, const std::string*> needs_config[] = {
      {"--context", &overrides.context},
      {"--cluster", &overrides.cluster},
      {"--user", &overrides.user}};
  for (const auto& [flag, value] : needs_config) {
    if (value->empty()) continue;
    return Error(Code::kInvalid, std::string(flag) + ": there is no kubeconfig to look it up in");
  }
  ClusterAccess access = TRY(InClusterAccess(environment, read_file));
  if (overrides.namespace_name.empty()) return access;
  if (auto checked = CheckDns1123Label(overrides.namespace_name); !checked) {
    return std::move(checked).error().While("--namespace");
  }
  access.namespace_name = overrides.namespace_name;
  return access;
}

}  // namespace detent
