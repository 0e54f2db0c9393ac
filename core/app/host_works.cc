#include "core/app/host_works.h"

#include <optional>
#include <set>
#include <utility>

namespace detent {
namespace {

ControlOptions ControlOptionsOf(const HostConfig& config) {
  ControlOptions options;
  options.default_timezone = config.default_timezone;
  options.hash_names = config.hash_names;
  options.max_missed_schedules = config.max_missed_schedules;
  options.max_downtime = config.max_downtime;
  options.default_ttl = config.default_ttl;
  options.default_pending_timeout = config.default_pending_timeout;
  options.force_delete_timeout = config.force_delete_timeout;
  for (const PluginEntryConfig& plugin : config.plugins) {
    options.tasks_per_kind[plugin.kind] = plugin.tasks_max;
  }
  return options;
}

ServerOptions ServerOptionsOf(const ListenConfig& listen) {
  ServerOptions options;
  std::optional<TlsFiles> tls;
  if (!listen.certificate.empty()) tls = TlsFiles{listen.certificate, listen.key, listen.client_ca};
  options.listeners = {{listen.address, tls}};
  if (!listen.socket.empty()) options.listeners.push_back({"unix:" + listen.socket, std::nullopt});
  options.token_file = listen.token_file;
  return options;
}

PluginHostOptions PluginOptionsOf(const HostConfig& config) {
  PluginHostOptions options;
  options.state_root = config.data + "/plugins";
  return options;
}

HostParts PartsOf(HostBase& base, KubeDoor* door) {
  HostParts parts;
  parts.kube = door;
  parts.clock = &base.clock;
  parts.logger = &base.log;
  parts.http = &base.http;
  parts.sink = &base.sink;
  return parts;
}

}  // namespace

std::vector<PluginConfig> PluginsOf(const HostConfig& config) {
  std::vector<PluginConfig> plugins;
  for (const PluginEntryConfig& entry : config.plugins) {
    PluginConfig plugin;
    plugin.path = entry.path;
    plugin.kind = entry.kind;
    plugin.sha256 = entry.sha256;
    plugin.isolation = entry.isolation;
    plugin.config = entry.config;
    plugin.limits.tasks = static_cast<size_t>(entry.tasks_max);
    plugins.push_back(std::move(plugin));
  }
  return plugins;
}

HostWorks::HostWorks(HostBase& base, KubeDoor* door)
    : base_(base),
      options_(ControlOptionsOf(base.config)),
      plugins_(PluginsOf(base.config), PluginOptionsOf(base.config), PartsOf(base, door)) {
  api_.clock = &base.clock;
  api_.random = &base.random;
  api_.validator = &plugins_;
  api_.live = &plugins_;
  api_.metrics = &base.metrics;
  api_.default_timezone = base.config.default_timezone;
  api_.hash_names = base.config.hash_names;
  api_.version = DETENT_VERSION;
}

Result<void> HostWorks::Serve(Handler handler) {
  server_ = TRY(Server::Start(ServerOptionsOf(base_.config.listen), std::move(handler), base_.clock,
                              &base_.log));
  for (const std::string& url : urls()) base_.log.Info("listening", {{"url", url}});
  return {};
}

void HostWorks::Follow(Store& store) {
  std::set<ChangeLog*> logs;  // One for all kinds, or one for each.
  for (const Kind kind : kKinds) logs.insert(&store.changes(kind));
  for (ChangeLog* log : logs) {
    log->SetListener([&inbox = base_.inbox](const std::vector<Change>& changes) {
      inbox.PostAnswer(StoreChanged{changes});
    });
  }
}

Result<void> HostWorks::Run(Store& store) {
  intake_ = std::make_unique<JobIntake>(store, base_.inbox);
  engine_ = std::make_unique<Engine>(EngineDeps{store, plugins_, base_.inbox, base_.clock,
                                                base_.log, base_.metrics, options_, &plugins_});
  TRY(engine_->Load());
  plugins_.Start();
  loop_ = std::make_unique<Loop>(*engine_, base_.inbox);
  loop_->Start();
  admin_ = std::make_unique<HostAdmin>(*loop_, plugins_);
  api_.store = intake_.get();
  api_.admin = admin_.get();
  return {};
}

void HostWorks::Stop() {
  if (server_) server_->Stop();
  plugins_.Stop();
  if (loop_) loop_->Stop();
}

}  // namespace detent
