// The document itself: ParseKubeConfig.

#include <cstdio>
#include <filesystem>
#include <iterator>

#include "core/base/diagnostic.h"
#include "core/base/yaml.h"
#include "core/kube/base64.h"
#include "core/kube/kubeconfig.h"

namespace detent {
namespace {

constexpr std::string_view kExecExtension = "client.authentication.k8s.io/exec";
constexpr const char* kWantedText = "a string";
constexpr const char* kWantedFlag = "true or false";
constexpr const char* kNotShown = "(not shown)";

// One object of the document. Absent and null members leave what is read as it was.
class KubeSection {
 public:
  // All borrowed; a null `value` is an empty section.
  KubeSection(const Json* value, std::string pointer, Diagnostics& mistakes)
      : value_(value), pointer_(std::move(pointer)), mistakes_(mistakes) {
    if (value_ != nullptr && value_->is_null()) value_ = nullptr;
    if (value_ == nullptr || value_->is_object()) return;
    WrongType(pointer_, "an object", *value_);
    value_ = nullptr;
  }

  bool present() const { return value_ != nullptr; }
  const std::string& pointer() const { return pointer_; }

  const Json* Find(std::string_view name) const {
    const Json* member = value_ == nullptr ? nullptr : value_->Find(name);
    return member == nullptr || member->is_null() ? nullptr : member;
  }

  void Read(std::string_view name, std::string& out) const {
    if (const Json* member = Find(name)) ReadText(*member, PointerTo(name), out);
  }

  void Read(std::string_view name, bool& out) const {
    const Json* member = Find(name);
    if (member == nullptr) return;
    if (!member->is_bool()) return WrongType(PointerTo(name), kWantedFlag, *member);
    out = member->as_bool();
  }

  void Read(std::string_view name, std::vector<std::string>& out) const {
    if (const Json* member = Find(name)) ReadTexts(*member, PointerTo(name), out);
  }

  void Read(std::string_view name, std::map<std::string, std::vector<std::string>>& out) const {
    const KubeSection lists = Child(name);
    if (!lists.present()) return;
    for (const auto& [key, list] : lists.value_->as_object()) {
      ReadTexts(list, lists.PointerTo(key), out[key]);
    }
  }

  void ReadBytes(std::string_view name, std::string& out) const {
    std::string text;
    Read(name, text);
    auto bytes = DecodeBase64(text);
    if (bytes) {
      out = *std::move(bytes);
    } else {
      Mistake(PointerTo(name), "is not base64", "encode the file with `base64 -w0 FILE`");
    }
  }

  KubeSection Child(std::string_view name) const {
    return KubeSection(Find(name), PointerTo(name), mistakes_);
  }

  std::vector<KubeSection> Children(std::string_view name) const {
    std::vector<KubeSection> children;
    const Json* member = Find(name);
    if (member == nullptr) return children;
    if (!member->is_array()) {
      WrongType(PointerTo(name), "a list", *member);
      return children;
    }
    for (const Json& item : member->as_array()) {
      const std::string index = std::to_string(children.size());
      children.emplace_back(&item, PointerTo(name) + "/" + index, mistakes_);
    }
    return children;
  }

  void Mistake(std::string pointer, std::string message, std::string hint = "") const {
    mistakes_.push_back(
        {std::move(pointer), Diagnostic::Reason::kInvalid, std::move(message), std::move(hint)});
  }

  std::string PointerTo(std::string_view name) const { return pointer_ + PointerToken(name); }

 private:
  // Never with the value itself, which may be a secret.
  void WrongType(std::string pointer, const std::string& wanted, const Json& found) const {
    std::string hint;
    if (found.is_string() && wanted == kWantedFlag) hint = "write it without quotes";
    if (wanted == kWantedText && !found.is_array() && !found.is_object()) {
      hint = "put it in quotes";
    }
    Mistake(std::move(pointer), "must be " + wanted + ", not " + found.type_name(),
            std::move(hint));
  }

  void ReadText(const Json& value, std::string pointer, std::string& out) const {
    if (!value.is_string()) return WrongType(std::move(pointer), kWantedText, value);
    out = value.as_string();
  }

  void ReadTexts(const Json& value, const std::string& pointer,
                 std::vector<std::string>& out) const {
    if (!value.is_array()) return WrongType(pointer, "a list of strings", value);
    for (size_t i = 0; i < value.as_array().size(); ++i) {
      ReadText(value.as_array()[i], pointer + "/" + std::to_string(i), out.emplace_back());
    }
  }

  const Json* value_;
  const std::string pointer_;
  Diagnostics& mistakes_;
};

class KubeConfigReader {
 public:
  // `document` is borrowed.
  KubeConfigReader(const YamlDocument& document, const std::string& file)
      : document_(document), file_(file) {}

  Result<KubeConfig> Read() {
    const KubeSection root(&document_.value, "", mistakes_);
    CheckWord(root, "apiVersion", "v1");
    CheckWord(root, "kind", "Config");
    root.Read("current-context", config_.current_context);
    config_.current_context_origin = OriginOf("/current-context");
    ReadEntries(root, "clusters", "cluster", config_.clusters);
    ReadEntries(root, "users", "user", config_.users);
    ReadEntries(root, "contexts", "context", config_.contexts);
    if (!mistakes_.empty()) return Mistakes();
    return std::move(config_);
  }

 private:
  KubeOrigin OriginOf(const std::string& pointer) const {
    return {file_, FieldPath(pointer), document_.PositionOf(pointer).line};
  }

  static void CheckWord(const KubeSection& root, const char* name, const std::string& wanted) {
    std::string word = wanted;
    root.Read(name, word);
    if (word.empty() || word == wanted) return;
    root.Mistake(root.PointerTo(name), "must be '" + wanted + "'", "is this a kubeconfig?");
  }

  template <typename Entry>
  void ReadEntries(const KubeSection& root, const char* list, const char* inner,
                   std::map<std::string, Entry>& out) {
    for (const KubeSection& item : root.Children(list)) {
      std::string name;
      item.Read("name", name);
      if (name.empty()) {
        item.Mistake(item.PointerTo("name"), "is required");
        continue;
      }
      const auto [entry, is_new] = out.try_emplace(name);
      if (!is_new) {
        item.Mistake(item.PointerTo("name"), "'" + name + "' is given twice in this file");
        continue;
      }
      const KubeSection section = item.Child(inner);
      ReadEntry(section, entry->second);
      entry->second.origin = OriginOf(section.pointer());
    }
  }

  void ReadEntry(const KubeSection& section, KubeCluster& cluster) const {
    section.Read("server", cluster.server);
    section.Read("tls-server-name", cluster.tls_server_name);
    section.Read("insecure-skip-tls-verify", cluster.insecure_skip_tls_verify);
    ReadPath(section, "certificate-authority", cluster.certificate_authority);
    section.ReadBytes("certificate-authority-data", cluster.certificate_authority_data);
    section.Read("proxy-url", cluster.proxy_url);
    section.Read("disable-compression", cluster.disable_compression);
    for (const KubeSection& item : section.Children("extensions")) {
      std::string name;
      item.Read("name", name);
      const Json* extension = item.Find("extension");
      if (name == kExecExtension && extension != nullptr) cluster.exec_extension = *extension;
    }
  }

  void ReadEntry(const KubeSection& section, KubeUser& user) const {
    ReadPath(section, "client-certificate", user.client_certificate);
    ReadPath(section, "client-key", user.client_key);
    section.ReadBytes("client-certificate-data", user.client_certificate_data);
    section.ReadBytes("client-key-data", user.client_key_data);
    section.Read("token", user.token);
    ReadPath(section, "tokenFile", user.token_file);
    section.Read("username", user.username);
    section.Read("password", user.password);
    section.Read("as", user.as);
    section.Read("as-uid", user.as_uid);
    section.Read("as-groups", user.as_groups);
    section.Read("as-user-extra", user.as_user_extra);
    user.has_auth_provider = section.Child("auth-provider").present();
    const KubeSection exec = section.Child("exec");
    if (exec.present()) ReadExec(exec, user.exec.emplace());
  }

  static void ReadEntry(const KubeSection& section, KubeContext& context) {
    section.Read("cluster", context.cluster);
    section.Read("user", context.user);
    section.Read("namespace", context.namespace_name);
  }

  void ReadExec(const KubeSection& section, KubeExec& exec) const {
    section.Read("command", exec.command);
    // A bare name is looked for in PATH, so it must stay bare.
    if (exec.command.find('/') != exec.command.npos) ResolvePath(exec.command);
    section.Read("args", exec.args);
    section.Read("apiVersion", exec.api_version);
    section.Read("installHint", exec.install_hint);
    section.Read("interactiveMode", exec.interactive_mode);
    section.Read("provideClusterInfo", exec.provide_cluster_info);
    for (const KubeSection& item : section.Children("env")) {
      auto& [name, value] = exec.env.emplace_back();
      item.Read("name", name);
      item.Read("value", value);
    }
  }

  void ReadPath(const KubeSection& section, std::string_view name, std::string& out) const {
    section.Read(name, out);
    ResolvePath(out);
  }

  void ResolvePath(std::string& path) const {
    if (path.empty() || file_.empty() || path.front() == '/') return;
    const std::filesystem::path directory = std::filesystem::path(file_).parent_path();
    path = (directory / path).lexically_normal().string();
  }

  Error Mistakes() const {
    std::string text;
    for (const Diagnostic& mistake : mistakes_) {
      const TextPosition position = document_.PositionOf(mistake.pointer);
      if (!text.empty()) text += "\n";
      text += Place(position) + Sentence(mistake);
    }
    return Error(Code::kInvalid, std::move(text));
  }

  std::string Place(const TextPosition& position) const {
    if (file_.empty()) return Where(position);
    return file_ + ":" + std::to_string(position.line) + ":" + std::to_string(position.column) +
           ": ";
  }

  const YamlDocument& document_;
  const std::string file_;
  KubeConfig config_;
  Diagnostics mistakes_;
};

// The parser's messages quote the text they stumbled over: a password that begins with '*' or '!'
// would be shown. What it quotes goes; where it stands is kept.
std::string WithoutQuotations(std::string message) {
  const size_t first = message.find_first_of("'\"");
  const size_t last = message.find_last_of("'\"");
  if (first < last && last != message.npos) {
    message.replace(first, last - first + 1, kNotShown);
  }
  const size_t colon = message.find(": ");
  if (colon != message.npos) message.replace(colon + 2, message.npos, kNotShown);
  return message;
}

// "line 3, column 5: text" in the form of the other mistakes, "FILE:3:5: text".
Error SyntaxMistake(const std::string& message, const std::string& file) {
  int line = 0, column = 0, end = 0;
  if (std::sscanf(message.c_str(), "line %d, column %d: %n", &line, &column, &end) < 2) end = 0;
  std::string place = message.substr(0, static_cast<size_t>(end));
  if (!file.empty()) {
    place = file + ":" + std::to_string(line) + ":" + std::to_string(column) + ": ";
  }
  return Error(Code::kInvalid, place + WithoutQuotations(message.substr(static_cast<size_t>(end))));
}

}  // namespace

Result<KubeConfig> ParseKubeConfig(std::string_view text, const std::string& file) {
  auto documents = ParseYaml(text);
  if (!documents) return SyntaxMistake(documents.error().message(), file);
  if (documents->size() > 1) {
    return Error(Code::kInvalid, (file.empty() ? "the kubeconfig" : file) +
                                     " must hold one document, not " +
                                     std::to_string(documents->size()));
  }
  if (documents->empty()) return KubeConfig{};
  return KubeConfigReader(documents->front(), file).Read();
}

}  // namespace detent
