#include "core/app/config.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>
#include <utility>

#include "core/api/field_reader.h"
#include "core/api/schema_fields.h"
#include "core/base/yaml.h"
#include "core/cron/zone.h"

namespace detent {
namespace {

using Reason = Diagnostic::Reason;

const std::vector<std::string_view> kLevels = {"debug", "info", "warning", "error"};

// config/detent.yaml says what each is for.
Fields PluginFields() {
  Field isolation = OneOf("isolation", "", {"in_process"});
  isolation.values_not_offered = {"process"};
  return {
      Required(Text("path", "")),
      Required(Text("kind", "")),
      isolation,
      Text("sha256", ""),
      Struct("limits", "", {Number("tasks", ""), NotOffered(Anything("memory", ""))}),
      Struct("config", "", {}),
  };
}

Fields ConfigFields() {
  const Fields tls = {Text("certificate", ""), Text("key", ""), Text("clientCA", "")};
  return {
      OneOf("home", "", {"standalone", "kubernetes"}),
      Text("data", ""),
      OneOf("durability", "", {"full", "normal"}),
      Struct(
          "listen", "",
          {Text("address", ""), Text("tokenFile", ""), Text("socket", ""), Struct("tls", "", tls)}),
      Structs("plugins", "", PluginFields()),
      Struct("kubernetes", "",
             {Text("kubeconfig", ""), Text("context", ""), Number("requestsPerSecond", ""),
              Number("relistSeconds", ""), Text("namespace", ""),
              Struct("leaderElection", "",
                     {Number("leaseDurationSeconds", ""), Number("renewDeadlineSeconds", ""),
                      Number("retryPeriodSeconds", "")}),
              Struct("webhook", "",
                     {Text("address", ""), Text("certificate", ""), Text("key", ""),
                      Text("ca", "")})}),
      Struct("jobs", "",
             {Number("defaultTTLSecondsAfterFinished", ""),
              Number("defaultPendingTimeoutSeconds", ""), Number("forceDeleteTimeoutSeconds", "")}),
      Struct("cron", "",
             {Text("defaultTimezone", ""), Number("maxMissedSchedules", ""),
              Number("maxDowntimeSeconds", ""), Truth("hashNames", "")}),
      Struct("log", "", {OneOf("level", "", kLevels)}),
  };
}

// A member that is a mapping, or an empty one. What has a wrong type has been reported by then, so
// that the readers' own errors are not looked at.
const Json& SectionOf(const Json& parent, std::string_view name) {
  static const Json kEmpty = Json(Json::Object{});
  const Json* section = parent.Find(name);
  return section != nullptr && section->is_object() ? *section : kEmpty;
}

class ConfigReader {
 public:
  ConfigReader(const Json& document, Diagnostics& mistakes)
      : document_(document), mistakes_(mistakes) {}

  HostConfig Read() {
    CheckObject(ConfigFields(), document_, "", mistakes_);
    std::string durability, home;
    FieldReader(document_, "")
        .Read("home", home)
        .Read("data", config_.data)
        .Read("durability", durability);
    if (!home.empty()) config_.home = HomeFromName(home);
    config_.durability_full = durability != "normal";
    ReadListen();
    ReadPlugins();
    ReadKubernetes();
    ReadJobs();
    ReadCron();
    std::string level = "info";
    FieldReader(SectionOf(document_, "log"), "").Read("level", level);
    const auto found = std::find(kLevels.begin(), kLevels.end(), level);
    if (found != kLevels.end()) {
      config_.log_level = static_cast<LogLevel>(found - kLevels.begin());
    }
    return std::move(config_);
  }

 private:
  void ReadListen() {
    ListenConfig& listen = config_.listen;
    const Json& section = SectionOf(document_, "listen");
    FieldReader(section, "")
        .Read("address", listen.address)
        .Read("tokenFile", listen.token_file)
        .Read("socket", listen.socket);
    FieldReader(SectionOf(section, "tls"), "")
        .Read("certificate", listen.certificate)
        .Read("key", listen.key)
        .Read("clientCA", listen.client_ca);
    if (listen.certificate.empty() != listen.key.empty()) {
      Mistake("/listen/tls", Reason::kRequired, "needs both certificate and key");
    }
  }

  void ReadPlugins() {
    const Json* list = document_.Find("plugins");
    if (list == nullptr || !list->is_array()) return;
    for (size_t i = 0; i < list->as_array().size(); ++i) {
      const std::string pointer = "/plugins/" + std::to_string(i);
      PluginEntryConfig plugin = ReadPlugin(list->as_array()[i], pointer);
      const bool twice = std::any_of(config_.plugins.begin(), config_.plugins.end(),
                                     [&](const auto& other) { return other.kind == plugin.kind; });
      if (twice && !plugin.kind.empty()) {
        Mistake(pointer + "/kind", Reason::kDuplicate,
                "'" + plugin.kind + "' is served by another plugin already");
      }
      config_.plugins.push_back(std::move(plugin));
    }
  }

  PluginEntryConfig ReadPlugin(const Json& entry, const std::string& pointer) {
    PluginEntryConfig plugin;
    FieldReader(entry, "")
        .Read("path", plugin.path)
        .Read("kind", plugin.kind)
        .Read("isolation", plugin.isolation)
        .Read("sha256", plugin.sha256);
    plugin.config = SectionOf(entry, "config");
    ReadNumber(SectionOf(entry, "limits"), pointer + "/limits/tasks", 1, plugin.tasks_max);
    for (const char* name : {"path", "kind"}) {
      const Json* given = entry.is_object() ? entry.Find(name) : nullptr;
      if (given == nullptr || !given->is_string() || !given->as_string().empty()) continue;
      Mistake(pointer + "/" + name, Reason::kInvalid, "must not be empty");
    }
    if (!plugin.path.empty() && plugin.path.front() != '/') {
      Mistake(pointer + "/path", Reason::kInvalid,
              "must be an absolute path, not '" + plugin.path + "'");
    }
    const bool hex = plugin.sha256.find_first_not_of("0123456789abcdef") == std::string::npos;
    if (!plugin.sha256.empty() && (plugin.sha256.size() != 64 || !hex)) {
      Mistake(pointer + "/sha256", Reason::kInvalid, "must be 64 lower case hexadecimal digits");
    }
    return plugin;
  }

  void ReadKubernetes() {
    KubernetesConfig& kubernetes = config_.kubernetes;
    const Json& section = SectionOf(document_, "kubernetes");
    FieldReader(section, "")
        .Read("kubeconfig", kubernetes.kubeconfig)
        .Read("context", kubernetes.context)
        .Read("namespace", kubernetes.ns);
    ReadNumber(section, "/kubernetes/requestsPerSecond", 0, kubernetes.requests_per_second);
    if (!kubernetes.kubeconfig.empty() && kubernetes.kubeconfig.front() != '/') {
      Mistake("/kubernetes/kubeconfig", Reason::kInvalid,
              "must be an absolute path, not '" + kubernetes.kubeconfig + "'");
    }
    ReadSeconds("/kubernetes/relistSeconds", kubernetes.relist);
    ReadLeaderElection(kubernetes.leader_election);
    FieldReader(SectionOf(section, "webhook"), "")
        .Read("address", kubernetes.webhook.address)
        .Read("certificate", kubernetes.webhook.certificate)
        .Read("key", kubernetes.webhook.key)
        .Read("ca", kubernetes.webhook.ca);
    if (kubernetes.webhook.certificate.empty() != kubernetes.webhook.key.empty()) {
      Mistake("/kubernetes/webhook", Reason::kRequired, "needs both certificate and key");
    }
  }

  void ReadLeaderElection(LeaderElectionConfig& election) {
    const std::string at = "/kubernetes/leaderElection";
    ReadSeconds(at + "/leaseDurationSeconds", election.lease_duration);
    ReadSeconds(at + "/renewDeadlineSeconds", election.renew_deadline);
    ReadSeconds(at + "/retryPeriodSeconds", election.retry_period);
    // As CheckLeaseOptions has it (core/kube/lease_election.h).
    const auto duration = election.lease_duration.count();
    if (duration < 1 || duration > 3600) {
      Mistake(at + "/leaseDurationSeconds", Reason::kInvalid, "must be from 1 to 3600");
    } else if (election.renew_deadline.count() * 10 > duration * 9) {
      Mistake(at + "/renewDeadlineSeconds", Reason::kInvalid,
              "must be at least a tenth shorter than leaseDurationSeconds");
    } else if (election.retry_period.count() < 1 ||
               election.retry_period * 2 > election.renew_deadline) {
      Mistake(at + "/retryPeriodSeconds", Reason::kInvalid,
              "must be from 1 to half of renewDeadlineSeconds");
    }
  }

  void ReadJobs() {
    ReadSeconds("/jobs/defaultTTLSecondsAfterFinished", config_.default_ttl);
    ReadSeconds("/jobs/defaultPendingTimeoutSeconds", config_.default_pending_timeout);
    ReadSeconds("/jobs/forceDeleteTimeoutSeconds", config_.force_delete_timeout);
  }

  void ReadCron() {
    const Json& cron = SectionOf(document_, "cron");
    FieldReader(cron, "")
        .Read("defaultTimezone", config_.default_timezone)
        .Read("hashNames", config_.hash_names);
    ReadNumber(cron, "/cron/maxMissedSchedules", 0, config_.max_missed_schedules);
    ReadSeconds("/cron/maxDowntimeSeconds", config_.max_downtime);
    if (const auto zone = Zone::Find(config_.default_timezone); !zone) {
      Mistake("/cron/defaultTimezone", Reason::kInvalid, zone.error().message());
    }
  }

  // `pointer` ends in the member's name.
  void ReadNumber(const Json& section, const std::string& pointer, int64_t least, int64_t& out) {
    FieldReader(section, "").Read(pointer.substr(pointer.rfind('/') + 1), out);
    if (out >= least) return;
    Mistake(pointer, Reason::kInvalid,
            "must be at least " + std::to_string(least) + ", not " + std::to_string(out));
  }

  void ReadSeconds(const std::string& pointer, std::chrono::seconds& out) {
    int64_t number = out.count();
    const Json* section = document_.At(pointer.substr(0, pointer.rfind('/')));
    static const Json none(Json::Object{});
    ReadNumber(section != nullptr && section->is_object() ? *section : none, pointer, 0, number);
    out = std::chrono::seconds(number);
  }

  void Mistake(std::string pointer, Reason reason, std::string message) {
    mistakes_.push_back({std::move(pointer), reason, std::move(message), ""});
  }

  const Json& document_;
  Diagnostics& mistakes_;
  HostConfig config_;
};

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

std::optional<Home> HomeFromName(std::string_view name) {
  if (name == "standalone") return Home::kStandalone;
  if (name == "kubernetes") return Home::kKubernetes;
  return std::nullopt;
}

Result<HostConfig> ParseConfig(std::string_view text, const std::string& file) {
  auto documents = ParseYaml(text);
  if (!documents) return SyntaxError(documents.error(), file);
  if (documents->size() > 1) {
    return Error(Code::kInvalid,
                 file + ": must hold one YAML document, not " + std::to_string(documents->size()));
  }
  if (documents->empty()) return HostConfig{};
  Diagnostics mistakes;
  HostConfig config = ConfigReader(documents->front().value, mistakes).Read();
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
