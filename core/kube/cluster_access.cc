#include "core/kube/cluster_access.h"

#include <algorithm>
#include <string_view>

#include "core/base/names.h"
#include "core/base/spelling.h"
#include "core/net/url.h"

namespace detent {
namespace {

constexpr const char* kExecV1 = "client.authentication.k8s.io/v1";
constexpr const char* kExecV1Beta1 = "client.authentication.k8s.io/v1beta1";

bool HasControlCharacter(std::string_view text) {
  return std::any_of(text.begin(), text.end(),
                     [](unsigned char c) { return c < ' ' || c == 0x7F; });
}

bool LacksPem(const std::string& data) {
  return !data.empty() && data.find("-----BEGIN ") == data.npos;
}

// A hint comes from whoever wrote the file and goes to a terminal: escape sequences are broken. Of
// the C1 controls (U+0080 to U+009F, C2 80 to C2 9F in UTF-8) too.
std::string SafeForTerminal(std::string text) {
  for (size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if ((c < ' ' && c != '\t' && c != '\n') || c == 0x7F) text[i] = '?';
    if (c != 0xC2 || i + 1 == text.size()) continue;
    if (static_cast<unsigned char>(text[i + 1]) < 0xA0) text.replace(i, 2, "?");
  }
  return text;
}

bool BeginsWithHttps(std::string_view url) {
  constexpr std::string_view kHttps = "https://";
  if (url.size() < kHttps.size()) return false;
  // The scheme's letters may be of either case (RFC 3986, section 3.1).
  return std::equal(kHttps.begin(), kHttps.end(), url.begin(), [](char wanted, char c) {
    return wanted == (c >= 'A' && c <= 'Z' ? c + 32 : c);
  });
}

template <typename Entry>
std::vector<std::string> NamesOf(const std::map<std::string, Entry>& entries) {
  std::vector<std::string> names;
  for (const auto& [name, entry] : entries) names.push_back(name);
  return names;
}

// " (did you mean 'x'?)", or what there is: a list of up to five names.
std::string Choices(const std::string& name, const std::vector<std::string>& known) {
  if (std::string meant = DidYouMean(name, known); !meant.empty()) return meant;
  if (known.empty()) return " (there are none)";
  std::string list;
  for (size_t i = 0; i < known.size() && i < 5; ++i)
    list += (i == 0 ? "'" : ", '") + known[i] + "'";
  return " (there are " + list + (known.size() > 5 ? ", ...)" : ")");
}

class AccessResolver {
 public:
  // Both borrowed.
  AccessResolver(const KubeConfig& config, const AccessOverrides& overrides)
      : config_(config), overrides_(overrides) {}

  Result<ClusterAccess> Run() {
    if (config_.empty()) return NoConfig();
    if (!ChooseContext()) return Mistakes();
    const KubeCluster* cluster = ChooseCluster();
    const KubeUser* user = ChooseUser();
    if (cluster != nullptr) TakeCluster(*cluster);
    if (user != nullptr) TakeUser(*user);
    TakeNamespace();
    if (!mistakes_.empty()) return Mistakes();
    if (user != nullptr && HasCredentials() && !BeginsWithHttps(access_.server)) Withhold();
    return std::move(access_);
  }

 private:
  void Mistake(const KubeOrigin& origin, const std::string& field, const std::string& message) {
    std::string line;
    if (!origin.file.empty()) line += origin.file + ":";
    if (!origin.file.empty() && origin.line > 0) line += std::to_string(origin.line) + ":";
    if (!line.empty()) line += " ";
    line += origin.field;
    if (!field.empty()) line += (origin.field.empty() ? "" : ".") + field;
    mistakes_.push_back(line + ": " + message);
  }

  Error Mistakes() const {
    std::string text;
    for (const std::string& mistake : mistakes_) text += (text.empty() ? "" : "\n") + mistake;
    return Error(code_, std::move(text));
  }

  Error NoConfig() const {
    std::string text = "no kubeconfig says where a cluster is";
    for (size_t i = 0; i < config_.missing_files.size(); ++i) {
      text += (i == 0 ? " (not there: '" : ", '") + config_.missing_files[i] + "'";
    }
    if (!config_.missing_files.empty()) text += ")";
    return Error(Code::kNotFound, text + "; name one with --kubeconfig or KUBECONFIG");
  }

  bool ChooseContext() {
    const bool asked = !overrides_.context.empty();
    const std::string& name = asked ? overrides_.context : config_.current_context;
    if (name.empty()) {
      // A cluster that is named needs no context around it.
      if (!overrides_.cluster.empty()) return true;
      Mistake(
          {}, "current-context",
          "is not set; name a context with --context" + Choices(name, NamesOf(config_.contexts)));
      return false;
    }
    const auto found = config_.contexts.find(name);
    if (found != config_.contexts.end()) {
      context_ = &found->second;
      return true;
    }
    KubeOrigin origin = config_.current_context_origin;
    if (asked) origin = {"", "--context", 0};
    Mistake(origin, "",
            "there is no context '" + name + "'" + Choices(name, NamesOf(config_.contexts)));
    return false;
  }

  // The entry that a flag or else the context names, or null after a mistake.
  template <typename Entry>
  const Entry* Choose(const std::map<std::string, Entry>& entries, const char* what,
                      const std::string& flag, const std::string& named) {
    const bool asked = !flag.empty();
    const std::string& name = asked ? flag : named;
    const KubeOrigin origin = asked                 ? KubeOrigin{"", "--" + std::string(what), 0}
                              : context_ != nullptr ? context_->origin
                                                    : KubeOrigin{};
    const std::string field = asked ? "" : what;
    if (name.empty()) {
      Mistake(origin, field, "is required");
      return nullptr;
    }
    const auto found = entries.find(name);
    if (found != entries.end()) return &found->second;
    Mistake(
        origin, field,
        "there is no " + std::string(what) + " '" + name + "'" + Choices(name, NamesOf(entries)));
    return nullptr;
  }

  const KubeCluster* ChooseCluster() {
    return Choose(config_.clusters, "cluster", overrides_.cluster,
                  context_ == nullptr ? "" : context_->cluster);
  }

  // A context without a user asks as nobody, as kubectl does.
  const KubeUser* ChooseUser() {
    const std::string named = context_ == nullptr ? "" : context_->user;
    if (named.empty() && overrides_.user.empty()) return nullptr;
    return Choose(config_.users, "user", overrides_.user, named);
  }

  void TakeCluster(const KubeCluster& cluster) {
    TakeServer(cluster);
    TakeProxy(cluster);
    access_.disable_compression = cluster.disable_compression;
    access_.tls.server_name = cluster.tls_server_name;
    access_.tls.insecure_skip_verify = cluster.insecure_skip_tls_verify;
    access_.tls.authority = Pem(cluster.certificate_authority_data, cluster.certificate_authority);
    cluster_exec_config_ = cluster.exec_extension;
    if (LacksPem(cluster.certificate_authority_data)) {
      Mistake(cluster.origin, "certificate-authority-data", "holds no PEM block once decoded");
    }
    if (cluster.insecure_skip_tls_verify && !access_.tls.authority.empty()) {
      Mistake(cluster.origin, "insecure-skip-tls-verify",
              "contradicts certificate-authority; leave one of them out");
    }
    if (HasControlCharacter(cluster.tls_server_name)) {
      Mistake(cluster.origin, "tls-server-name", "contains a control character");
    }
  }

  void TakeServer(const KubeCluster& cluster) {
    if (cluster.server.empty()) {
      return Mistake(cluster.origin, "server", "is required, as https://HOST:PORT");
    }
    // kubectl takes "host:8080" for plain http.
    const bool has_scheme = cluster.server.find("://") != cluster.server.npos;
    std::string server = has_scheme ? cluster.server : "http://" + cluster.server;
    if (auto checked = CheckHttpUrl(server); !checked) {
      return Mistake(cluster.origin, "server", checked.error().message());
    }
    server.resize(std::min(server.find_first_of("?#"), server.size()));
    while (server.back() == '/') server.pop_back();
    access_.server = std::move(server);
  }

  void TakeProxy(const KubeCluster& cluster) {
    const std::string& url = cluster.proxy_url;
    if (url.empty()) return;
    const std::string scheme = url.substr(0, std::min(url.find("://"), url.size()));
    if (scheme != "http" && scheme != "https" && scheme != "socks5") {
      Mistake(cluster.origin, "proxy-url", "must begin with http://, https:// or socks5://");
    } else if (HostOf(url).empty() || HostOf(url).front() == ':') {
      Mistake(cluster.origin, "proxy-url", "has no host");
    } else if (HasControlCharacter(url) || url.find(' ') != url.npos) {
      Mistake(cluster.origin, "proxy-url", "contains a space or a control character; encode it");
    }
    access_.proxy_url = url;
  }

  void TakeUser(const KubeUser& user) {
    TakeCertificate(user);
    TakeImpersonation(user);
    if (user.has_auth_provider) {
      code_ = Code::kUnsupported;
      return Mistake(user.origin, "auth-provider",
                     "is not supported; use exec with the provider's credential plugin");
    }
    const bool basic = !user.username.empty() || !user.password.empty();
    const bool token = !user.token.empty() || !user.token_file.empty();
    if (user.exec) CheckExec(*user.exec, user.origin);
    if (basic && token) {
      Mistake(user.origin, user.token.empty() ? "tokenFile" : "token",
              "excludes username and password; leave one of them out");
    }
    CheckHeaderTexts(user);
    // What stands in the file goes before a plugin that would fetch it, a client certificate too.
    if (!user.token_file.empty()) {
      access_.credentials = BearerTokenFile{user.token_file, user.token};
    } else if (token) {
      access_.credentials = BearerToken{user.token};
    } else if (basic) {
      access_.credentials = BasicLogin{user.username, user.password};
    } else if (user.exec && !access_.tls.client) {
      access_.credentials = Plugin(*user.exec);
    }
  }

  // What goes into a header must not end it.
  void CheckHeaderTexts(const KubeUser& user) {
    if (HasControlCharacter(user.token) || user.token.find(' ') != user.token.npos) {
      Mistake(user.origin, "token", "contains a space, a line end or a control character");
    }
    if (HasControlCharacter(user.username) || user.username.find(':') != user.username.npos) {
      Mistake(user.origin, "username", "contains a colon or a control character");
    }
    if (HasControlCharacter(user.password)) {
      Mistake(user.origin, "password", "contains a control character");
    }
  }

  void TakeCertificate(const KubeUser& user) {
    const PemSource certificate = Pem(user.client_certificate_data, user.client_certificate);
    const PemSource key = Pem(user.client_key_data, user.client_key);
    if (certificate.empty() && key.empty()) return;
    if (certificate.empty()) {
      Mistake(user.origin, "client-certificate", "is required, because a client key is given");
    }
    if (key.empty()) {
      Mistake(user.origin, "client-key", "is required, because a client certificate is given");
    }
    if (LacksPem(certificate.data)) {
      Mistake(user.origin, "client-certificate-data", "holds no PEM block once decoded");
    }
    if (LacksPem(key.data)) {
      Mistake(user.origin, "client-key-data", "holds no PEM block once decoded");
    }
    access_.tls.client = ClientCertificate{certificate, key};
  }

  void TakeImpersonation(const KubeUser& user) {
    const bool details =
        !user.as_uid.empty() || !user.as_groups.empty() || !user.as_user_extra.empty();
    if (user.as.empty() && details) {
      Mistake(user.origin, "as", "is required by as-uid, as-groups and as-user-extra");
    }
    const auto check = [&](const char* field, const std::string& text) {
      if (HasControlCharacter(text)) Mistake(user.origin, field, "contains a control character");
    };
    check("as", user.as);
    check("as-uid", user.as_uid);
    for (const std::string& group : user.as_groups) check("as-groups", group);
    for (const auto& [key, values] : user.as_user_extra) {
      for (const std::string& value : values) check("as-user-extra", value);
    }
    access_.impersonation = {user.as, user.as_uid, user.as_groups, user.as_user_extra};
  }

  void CheckExec(const KubeExec& exec, const KubeOrigin& origin) {
    if (exec.command.empty()) Mistake(origin, "exec.command", "is required");
    if (exec.api_version.empty()) {
      Mistake(origin, "exec.apiVersion", "is required, as " + std::string(kExecV1));
    } else if (exec.api_version != kExecV1 && exec.api_version != kExecV1Beta1) {
      Mistake(origin, "exec.apiVersion",
              "must be " + std::string(kExecV1) + " or " + kExecV1Beta1 +
                  "; a newer release of the plugin may offer it");
    }
    const std::string& mode = exec.interactive_mode;
    if (mode.empty() && exec.api_version == kExecV1) {
      Mistake(origin, "exec.interactiveMode", "is required: Never, IfAvailable or Always");
    } else if (!mode.empty() && mode != "Never" && mode != "IfAvailable" && mode != "Always") {
      Mistake(origin, "exec.interactiveMode", "must be Never, IfAvailable or Always");
    }
    for (size_t i = 0; i < exec.env.size(); ++i) {
      const std::string& name = exec.env[i].first;
      if (!name.empty() && name.find('=') == name.npos) continue;
      Mistake(origin, "exec.env[" + std::to_string(i) + "].name",
              name.empty() ? "is required" : "must not contain '='");
    }
  }

  ExecPlugin Plugin(const KubeExec& exec) const {
    ExecPlugin plugin;
    plugin.command = exec.command;
    plugin.args = exec.args;
    plugin.env = exec.env;
    plugin.api_version = exec.api_version;
    plugin.install_hint = SafeForTerminal(exec.install_hint);
    plugin.provide_cluster_info = exec.provide_cluster_info;
    if (exec.provide_cluster_info) plugin.cluster_config = cluster_exec_config_;
    plugin.input = ExecInput::kIfAvailable;
    if (exec.interactive_mode == "Never") plugin.input = ExecInput::kNever;
    if (exec.interactive_mode == "Always") plugin.input = ExecInput::kAlways;
    return plugin;
  }

  void TakeNamespace() {
    const bool asked = !overrides_.namespace_name.empty();
    std::string name = overrides_.namespace_name;
    if (!asked && context_ != nullptr) name = context_->namespace_name;
    if (name.empty()) return;
    if (auto checked = CheckDns1123Label(name); !checked) {
      const KubeOrigin flag{"", "--namespace", 0};
      Mistake(asked ? flag : context_->origin, asked ? "" : "namespace", checked.error().message());
    }
    access_.namespace_name = std::move(name);
  }

  bool HasCredentials() const {
    return access_.credentials.index() != 0 || access_.tls.client.has_value();
  }

  // kubectl too sends no secret where anybody can read it along.
  void Withhold() {
    access_.credentials = NoCredentials{};
    access_.tls.client.reset();
    access_.credentials_withheld = true;
  }

  static PemSource Pem(const std::string& data, const std::string& file) {
    return {data, data.empty() ? file : ""};
  }

  const KubeConfig& config_;
  const AccessOverrides& overrides_;
  const KubeContext* context_ = nullptr;
  Json cluster_exec_config_;
  ClusterAccess access_;
  std::vector<std::string> mistakes_;
  Code code_ = Code::kInvalid;
};

}  // namespace

Result<ClusterAccess> Resolve(const KubeConfig& config, const AccessOverrides& overrides) {
  return AccessResolver(config, overrides).Run();
}

}  // namespace detent
