// What an operator configures: one YAML file, every key with a default, every mistake with its
// line.
//
// Values. config/detent.yaml shows all keys with their defaults, and a test holds the two together.

#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/diagnostic.h"
#include "core/base/json.h"
#include "core/base/log.h"
#include "core/base/result.h"

namespace detent {

struct ListenConfig {
  std::string address = "127.0.0.1:7420";  // "host:port"; another than loopback needs one of these:
  std::string token_file;                  // a bearer token, read again when it changes,
  std::string certificate, key, client_ca;  // or TLS, with client_ca for mutual TLS. PEM files.
  std::string socket;                       // A Unix socket beside it; empty: none.
};

struct PluginEntryConfig {
  std::string path;  // Absolute.
  std::string kind;
  std::string isolation = "in_process";
  std::string sha256;  // 64 hexadecimal digits; empty: not pinned.
  int64_t tasks_max = 20'000;
  Json config = Json(Json::Object{});
};

// Hosts that live in a cluster choose one that leads, by a Lease. Names and defaults are
// client-go's.
struct LeaderElectionConfig {
  std::chrono::seconds lease_duration{15};  // Others wait for so long after its last renewal,
  std::chrono::seconds renew_deadline{10};  // a leader that cannot renew stops after so long,
  std::chrono::seconds retry_period{2};     // and it renews this often.
};

// What judges JobConfigs and Jobs on their way into a cluster.
struct WebhookConfig {
  std::string address;  // "host:port"; "off": none; empty: 0.0.0.0:7443 in a pod, else none.
  std::string certificate, key, ca;  // PEM files; empty: the hosts make a certificate themselves.
};

// The cluster that executors work in; with Home::kKubernetes, the one that objects live in.
struct KubernetesConfig {
  std::string kubeconfig;           // A file; empty: as kubectl finds one, or the pod we run in.
  std::string context;              // Of it; empty: the current one.
  int64_t requests_per_second = 0;  // 0: no limit of ours.
  // After so long what is watched is listed anew, with the next watch: for what was lost on its
  // way.
  std::chrono::seconds relist{1800};  // 0: never.
  std::string ns;  // The host's own, with its Lease; empty: the pod's, or "detent".
  LeaderElectionConfig leader_election;
  WebhookConfig webhook;

  // Somebody has said which, so that it must be there.
  bool is_explicit() const { return !kubeconfig.empty() || !context.empty(); }
};

// Where objects live.
enum class Home : uint8_t {
  kStandalone,  // In SQLite, in the data directory.
  kKubernetes,  // In the Kubernetes API, as custom resources.
};

// "standalone", "kubernetes".
std::optional<Home> HomeFromName(std::string_view name);

struct HostConfig {
  std::optional<Home> home;  // Nothing said: kKubernetes in a pod of a cluster, else kStandalone.
  std::string data = "/var/lib/detent";
  ListenConfig listen;
  bool durability_full = true;
  LogLevel log_level = LogLevel::kInfo;
  std::vector<PluginEntryConfig> plugins;
  KubernetesConfig kubernetes;
  std::chrono::seconds default_ttl{3600};
  std::chrono::seconds default_pending_timeout{900};
  std::chrono::seconds force_delete_timeout{900};
  std::string default_timezone = "UTC";
  int64_t max_missed_schedules = 5;
  std::chrono::seconds max_downtime{300};
  bool hash_names = true;
};

// Reads a configuration. Every line of the error is one mistake, "FILE:LINE:COLUMN: key: what".
Result<HostConfig> ParseConfig(std::string_view text, const std::string& file);

// The same from a file; kNotFound where there is none.
Result<HostConfig> LoadConfig(const std::string& path);

}  // namespace detent
