#include "core/kube/exec_credential.h"

#include <unistd.h>

#include <algorithm>

#include "core/base/json_writer.h"
#include "core/kube/base64.h"

namespace detent {
namespace {

constexpr size_t kPluginWordsShown = 500;

Error NoCredential(const std::string& what) {
  return Error(Code::kUnauthorized, what);
}

// A text member of `status`; empty where it is absent or null.
Result<std::string> TextOf(const Json& status, const char* name) {
  const Json* value = status.Find(name);
  if (value == nullptr || value->is_null()) return std::string();
  if (value->is_string()) return value->as_string();
  return Error(Code::kInvalid,
               std::string("status.") + name + " must be a string, not " + value->type_name());
}

// Goes into a header, or is PEM.
Result<void> CheckToken(const std::string& token) {
  const bool bad = std::any_of(token.begin(), token.end(),
                               [](unsigned char c) { return c <= ' ' || c == 0x7F; });
  if (!bad) return {};
  return Error(Code::kInvalid, "status.token contains a space or a control character");
}

Result<void> CheckCertificate(const ExecCredential& credential) {
  if (credential.certificate_pem.empty() != credential.key_pem.empty()) {
    return Error(
        Code::kInvalid,
        "status.clientCertificateData and status.clientKeyData go together; one is missing");
  }
  if (credential.certificate_pem.empty() && credential.token.empty()) {
    return Error(Code::kInvalid,
                 "status has neither a token nor clientCertificateData with clientKeyData");
  }
  for (const std::string* pem : {&credential.certificate_pem, &credential.key_pem}) {
    if (pem->empty() || pem->find("-----BEGIN ") != pem->npos) continue;
    return Error(Code::kInvalid,
                 "status.clientCertificateData and status.clientKeyData must be PEM");
  }
  return {};
}

// The last of what a program wrote for people, on one line and harmless to a terminal.
std::string LastWords(const std::string& errors) {
  std::string words;
  for (const char c : errors) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte == '\n' || byte == '\t' || byte == '\r') {
      if (!words.empty() && words.back() != ' ') words += ' ';
    } else if (byte >= ' ' && byte < 0x7F) {
      words += c;
    }
  }
  while (!words.empty() && words.back() == ' ') words.pop_back();
  if (words.size() > kPluginWordsShown) words.erase(0, words.size() - kPluginWordsShown);
  return words;
}

Error Hinted(const ExecPlugin& plugin, const Error& error) {
  std::string message = "exec credential plugin: " + error.message();
  if (error.code() == Code::kNotFound && !plugin.install_hint.empty()) {
    message += "; " + plugin.install_hint;
  }
  return NoCredential(message);
}

Result<bool> DecideInteractive(const ExecPlugin& plugin) {
  const bool terminal = isatty(STDIN_FILENO) == 1;
  if (plugin.input == ExecInput::kAlways && !terminal) {
    return Error(Code::kInvalid, "'" + plugin.command +
                                     "' wants to ask at a terminal (interactiveMode: Always), and "
                                     "standard input is none");
  }
  return plugin.input != ExecInput::kNever && terminal;
}

}  // namespace

Result<ExecCredential> ParseExecCredential(std::string_view text, const std::string& api_version) {
  const auto json = ParseJson(text);
  if (!json) return Error(Code::kInvalid, "it is not JSON: " + json.error().message());
  const Json* kind = json->Find("kind");
  const Json* version = json->Find("apiVersion");
  if (kind == nullptr || *kind != Json("ExecCredential")) {
    return Error(Code::kInvalid, "kind must be ExecCredential");
  }
  if (version == nullptr || *version != Json(api_version)) {
    return Error(Code::kInvalid,
                 "apiVersion must be " + api_version + ", as the kubeconfig has it");
  }
  const Json* status = json->Find("status");
  if (status == nullptr || !status->is_object()) {
    return Error(Code::kInvalid, "status is required");
  }
  ExecCredential credential;
  credential.token = TRY(TextOf(*status, "token"));
  credential.certificate_pem = TRY(TextOf(*status, "clientCertificateData"));
  credential.key_pem = TRY(TextOf(*status, "clientKeyData"));
  const std::string expires = TRY(TextOf(*status, "expirationTimestamp"));
  TRY(CheckToken(credential.token));
  TRY(CheckCertificate(credential));
  if (expires.empty()) return credential;
  credential.expires = ParseTime(expires);
  if (credential.expires) return credential;
  return Error(Code::kInvalid, "status.expirationTimestamp must be a time as RFC 3339 writes it");
}

std::string ExecInfo(const ClusterAccess& access, const std::string& ca_pem, bool interactive) {
  const auto& plugin = std::get<ExecPlugin>(access.credentials);
  std::string text;
  JsonWriter json(text);
  json.BeginObject().Member("kind", "ExecCredential").Member("apiVersion", plugin.api_version);
  json.Key("spec").BeginObject().Member("interactive", interactive);
  if (plugin.provide_cluster_info) {
    json.Key("cluster").BeginObject().Member("server", access.server);
    json.MemberIfSet("tls-server-name", access.tls.server_name);
    if (access.tls.insecure_skip_verify) json.Member("insecure-skip-tls-verify", true);
    json.MemberIfSet("certificate-authority-data", EncodeBase64(ca_pem));
    json.MemberIfSet("proxy-url", access.proxy_url);
    if (access.disable_compression) json.Member("disable-compression", true);
    if (!plugin.cluster_config.is_null()) json.Member("config", plugin.cluster_config);
    json.EndObject();
  }
  json.EndObject().EndObject();
  return text;
}

Result<ExecCredential> RunExecPlugin(const ClusterAccess& access, const std::string& ca_pem,
                                     const ExecSurroundings& around) {
  const auto& plugin = std::get<ExecPlugin>(access.credentials);
  const auto interactive = DecideInteractive(plugin);
  if (!interactive) return Hinted(plugin, interactive.error());
  ChildCommand command;
  command.command = plugin.command;
  command.args = plugin.args;
  command.env = plugin.env;
  command.env.emplace_back("KUBERNETES_EXEC_INFO", ExecInfo(access, ca_pem, *interactive));
  command.interactive = *interactive;
  command.timeout = around.timeout;
  const auto ran = RunChild(command, around.stop, around.clock);
  if (!ran) return Hinted(plugin, ran.error());
  if (ran->exit_code != 0) {
    const std::string words = LastWords(ran->errors);
    return NoCredential("exec credential plugin: '" + plugin.command + "' exited with " +
                        std::to_string(ran->exit_code) + (words.empty() ? "" : ": " + words));
  }
  auto credential = ParseExecCredential(ran->output, plugin.api_version);
  if (!credential) {
    return NoCredential("exec credential plugin: what '" + plugin.command +
                        "' printed is of no use: " + credential.error().message());
  }
  return credential;
}

}  // namespace detent
