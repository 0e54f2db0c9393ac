#include "core/app/config.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>
#include <utility>

#include "core/base/spelling.h"
#include "core/base/yaml.h"
#include "core/cron/zone.h"

namespace detent {
namespace {

// As a hint, which is shown in brackets; or empty.
std::string Nearest(const std::string& word, const std::vector<std::string>& candidates) {
  const std::string nearest = NearestWord(word, candidates);
  return nearest.empty() ? "" : "did you mean '" + nearest + "'?";
}

// Reads the members of one mapping, and keeps every mistake.
class Section {
 public:
  Section(const Json* json, std::string pointer, Diagnostics& mistakes)
      : json_(json), pointer_(std::move(pointer)), mistakes_(mistakes) {
    if (json_ && !json_->is_object()) {
      Mistake("", Diagnostic::Reason::kTypeInvalid,
              std::string("must be a mapping, not ") + json_->type_name());
      json_ = nullptr;
    }
  }

  // Every member has been asked for by now: those that were not are unknown.
  ~Section() {
    if (!json_) return;
    for (const auto& [name, value] : json_->as_object()) {
      if (std::find(known_.begin(), known_.end(), name) != known_.end()) continue;
      Mistake(name, Diagnostic::Reason::kUnknownField, "is no key of this configuration",
              Nearest(name, known_));
    }
  }
  Section(const Section&) = delete;
  Section& operator=(const Section&) = delete;

  const Json* Member(const std::string& name) {
    known_.push_back(name);
    const Json* member = json_ ? json_->Find(name) : nullptr;
    return member && !member->is_null() ? member : nullptr;
  }

  void Text(const std::string& name, std::string& out) {
    const Json* member = Member(name);
    if (!member) return;
    if (!member->is_string()) return TypeMistake(name, "a string", *member);
    out = member->as_string();
  }

  void Flag(const std::string& name, bool& out) {
    const Json* member = Member(name);
    if (!member) return;
    if (!member->is_bool()) return TypeMistake(name, "true or false", *member);
    out = member->as_bool();
  }

  void Number(const std::string& name, int64_t least, int64_t& out) {
    const Json* member = Member(name);
    if (!member) return;
    if (!member->is_int()) return TypeMistake(name, "an integer", *member);
    if (member->as_int() < least) {
      return Mistake(name, Diagnostic::Reason::kInvalid,
                     "must be greater than or equal to " + std::to_string(least) + ", not " +
                         std::to_string(member->as_int()));
    }
    out = member->as_int();
  }

  void Seconds(const std::string& name, std::chrono::seconds& out) {
    int64_t number = out.count();
    Number(name, 0, number);
    out = std::chrono::seconds(number);
  }

  // One of a few words.
  void Choice(const std::string& name, const std::vector<std::string>& words, std::string& out) {
    std::string word = out;
    Text(name, word);
    if (std::find(words.begin(), words.end(), word) != words.end()) {
      out = word;
      return;
    }
    std::string list;
    for (const std::string& each : words) list += (list.empty() ? "" : ", ") + each;
    Mistake(name, Diagnostic::Reason::kNotSupported, "'" + word + "' is none of: " + list,
            Nearest(word, words));
  }

  void Mistake(const std::string& name, Diagnostic::Reason reason, std::string message,
               std::string hint = "") {
    mistakes_.push_back({Pointer(name), reason, std::move(message), std::move(hint)});
  }

  std::string Pointer(const std::string& name) const {
    return name.empty() ? pointer_ : pointer_ + PointerToken(name);
  }

 private:
  void TypeMistake(const std::string& name, const char* wanted, const Json& found) {
    Mistake(name, Diagnostic::Reason::kTypeInvalid,
            std::string("must be ") + wanted + ", not " + found.type_name());
  }

  const Json* json_;
  const std::string pointer_;
  Diagnostics& mistakes_;
  std::vector<std::string> known_;
};

void ReadListen(Section& root, Diagnostics& mistakes, ListenConfig& listen) {
  Section section(root.Member("listen"), root.Pointer("listen"), mistakes);
  section.Text("address", listen.address);
  section.Text("tokenFile", listen.token_file);
  section.Text("socket", listen.socket);
  Section tls(section.Member("tls"), section.Pointer("tls"), mistakes);
  tls.Text("certificate", listen.certificate);
  tls.Text("key", listen.key);
  tls.Text("clientCA", listen.client_ca);
  if (listen.certificate.empty() != listen.key.empty()) {
    tls.Mistake("", Diagnostic::Reason::kRequired, "needs both certificate and key");
  }
}

bool IsSha256(const std::string& text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

PluginEntryConfig ReadPlugin(const Json& json, const std::string& pointer, Diagnostics& mistakes) {
  PluginEntryConfig plugin;
  Section section(&json, pointer, mistakes);
  section.Text("path", plugin.path);
  section.Text("kind", plugin.kind);
  section.Choice("isolation", {"in_process", "process"}, plugin.isolation);
  section.Text("sha256", plugin.sha256);
  if (const Json* config = section.Member("config")) {
    plugin.config = *config;
    if (!config->is_object()) {
      section.Mistake("config", Diagnostic::Reason::kTypeInvalid, "must be a mapping");
    }
  }
  Section limits(section.Member("limits"), section.Pointer("limits"), mistakes);
  limits.Number("tasks", 1, plugin.tasks_max);
  if (limits.Member("memory")) {
    limits.Mistake("memory", Diagnostic::Reason::kForbidden,
                   "needs isolation: process, which this version does not offer; remove it");
  }
  using Reason = Diagnostic::Reason;
  if (plugin.path.empty()) {
    section.Mistake("path", Reason::kRequired, "is missing: say where the plugin's file is");
  } else if (plugin.path.front() != '/') {
    section.Mistake("path", Reason::kInvalid,
                    "must be an absolute path, not '" + plugin.path + "'");
  }
  if (plugin.kind.empty()) {
    section.Mistake("kind", Reason::kRequired,
                    "is missing: say which taskTemplate field it serves");
  }
  if (plugin.isolation == "process") {
    section.Mistake("isolation", Reason::kForbidden,
                    "process is not offered by this version; use in_process");
  }
  if (!plugin.sha256.empty() && !IsSha256(plugin.sha256)) {
    section.Mistake("sha256", Reason::kInvalid, "must be 64 lower case hexadecimal digits");
  }
  return plugin;
}

void ReadPlugins(Section& root, Diagnostics& mistakes, HostConfig& config) {
  const Json* list = root.Member("plugins");
  if (!list) return;
  if (!list->is_array()) {
    root.Mistake("plugins", Diagnostic::Reason::kTypeInvalid, "must be a list");
    return;
  }
  for (size_t i = 0; i < list->as_array().size(); ++i) {
    const std::string pointer = "/plugins/" + std::to_string(i);
    PluginEntryConfig plugin = ReadPlugin(list->as_array()[i], pointer, mistakes);
    const bool twice = std::any_of(config.plugins.begin(), config.plugins.end(),
                                   [&](const auto& other) { return other.kind == plugin.kind; });
    if (twice && !plugin.kind.empty()) {
      mistakes.push_back({pointer + "/kind", Diagnostic::Reason::kDuplicate,
                          "'" + plugin.kind + "' is served by another plugin already", ""});
    }
    config.plugins.push_back(std::move(plugin));
  }
}

void ReadRoot(const Json& document, Diagnostics& mistakes, HostConfig& config) {
  Section root(&document, "", mistakes);
  std::string home = "standalone";
  root.Choice("home", {"standalone", "kubernetes"}, home);
  if (home == "kubernetes") {
    root.Mistake("home", Diagnostic::Reason::kForbidden,
                 "kubernetes is not offered by this version; use standalone");
  }
  root.Text("data", config.data);
  std::string durability = "full";
  root.Choice("durability", {"full", "normal"}, durability);
  config.durability_full = durability == "full";
  ReadListen(root, mistakes, config.listen);
  ReadPlugins(root, mistakes, config);
  {
    Section jobs(root.Member("jobs"), root.Pointer("jobs"), mistakes);
    jobs.Seconds("defaultTTLSecondsAfterFinished", config.default_ttl);
    jobs.Seconds("defaultPendingTimeoutSeconds", config.default_pending_timeout);
    jobs.Seconds("forceDeleteTimeoutSeconds", config.force_delete_timeout);
  }
  {
    Section cron(root.Member("cron"), root.Pointer("cron"), mistakes);
    cron.Text("defaultTimezone", config.default_timezone);
    cron.Number("maxMissedSchedules", 0, config.max_missed_schedules);
    cron.Seconds("maxDowntimeSeconds", config.max_downtime);
    cron.Flag("hashNames", config.hash_names);
    if (const auto zone = Zone::Find(config.default_timezone); !zone) {
      cron.Mistake("defaultTimezone", Diagnostic::Reason::kInvalid, zone.error().message());
    }
  }
  Section log(root.Member("log"), root.Pointer("log"), mistakes);
  std::string level = "info";
  const std::vector<std::string> levels = {"debug", "info", "warning", "error"};
  log.Choice("level", levels, level);
  config.log_level =
      static_cast<LogLevel>(std::find(levels.begin(), levels.end(), level) - levels.begin());
}

Error Mistakes(const Diagnostics& mistakes, const YamlDocument& document, const std::string& file) {
  std::string text;
  for (const Diagnostic& mistake : mistakes) {
    const TextPosition position = document.PositionOf(mistake.pointer);
    if (!text.empty()) text += "\n";
    text += file + ":" + std::to_string(position.line) + ":" + std::to_string(position.column) +
            ": " + Sentence(mistake);
  }
  return Error(Code::kInvalid, std::move(text));
}

// "line 3, column 5: text" in the form of the other mistakes, "FILE:3:5: text".
Error SyntaxError(const Error& error, const std::string& file) {
  int line = 0, column = 0, end = 0;
  const std::string& text = error.message();
  if (std::sscanf(text.c_str(), "line %d, column %d: %n", &line, &column, &end) < 2 || end == 0) {
    return Error(error.code(), file + ": " + text);
  }
  return Error(error.code(), file + ":" + std::to_string(line) + ":" + std::to_string(column) +
                                 ": " + text.substr(static_cast<size_t>(end)));
}

}  // namespace

Result<HostConfig> ParseConfig(std::string_view text, const std::string& file) {
  auto documents = ParseYaml(text);
  if (!documents) return SyntaxError(documents.error(), file);
  if (documents->size() > 1) {
    return Error(Code::kInvalid,
                 file + ": must hold one YAML document, not " + std::to_string(documents->size()));
  }
  HostConfig config;
  if (documents->empty()) return config;
  Diagnostics mistakes;
  ReadRoot(documents->front().value, mistakes, config);
  if (!mistakes.empty()) return Mistakes(mistakes, documents->front(), file);
  return config;
}

Result<HostConfig> LoadConfig(const std::string& path) {
  std::ifstream file(path);
  if (!file) {
    return Error(Code::kNotFound,
                 "cannot read the configuration '" + path + "': " + std::strerror(errno));
  }
  std::ostringstream text;
  text << file.rdbuf();
  return ParseConfig(text.str(), path);
}

}  // namespace detent
