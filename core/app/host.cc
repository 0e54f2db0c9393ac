#include "core/app/host.h"

#include <optional>
#include <utility>

#include "core/app/cluster.h"
#include "core/app/host_admin.h"
#include "core/base/limits.h"
#include "core/base/random.h"
#include "core/control/job_intake.h"
#include "core/control/loop.h"
#include "core/http/api.h"
#include "core/http/server.h"
#include "core/net/curl_transport.h"
#include "core/plugin/plugin_host.h"
#include "core/store/sqlite_store.h"

namespace detent {
namespace {

class InboxSink final : public ExecutorSink {
 public:
  explicit InboxSink(Inbox& inbox) : inbox_(inbox) {}
  void Post(std::vector<ExecutorEvent>& events) override {
    inbox_.PostAnswer(ExecutorsSaid{std::move(events)});
    events.clear();
  }

 private:
  Inbox& inbox_;
};

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

// In the order of their making; destroyed in the reverse.
struct Host::Parts {
  Parts(const HostConfig& config, const Clock& host_clock)
      : options(ControlOptionsOf(config)),
        clock(host_clock),
        log(config.log_level, StandardErrorSink()),
        http(CurlTransportOptions{}, host_clock) {}

  const ControlOptions options;
  const Clock& clock;
  Logger log;
  Metrics metrics;
  SystemRandom random;
  Inbox inbox{limits::kMailboxEvents};
  InboxSink sink{inbox};
  std::unique_ptr<SqliteStore> store;
  std::unique_ptr<JobIntake> intake;  // The store as the API sees it.
  CurlTransport http;
  std::unique_ptr<Cluster> cluster;  // Null: there is none.
  std::unique_ptr<PluginHost> plugins;
  std::unique_ptr<Engine> engine;
  std::unique_ptr<Loop> loop;
  std::unique_ptr<HostAdmin> admin;
  ApiContext api;
  std::unique_ptr<Server> server;

  Result<void> OpenStore(const HostConfig& config);
  Result<void> StartCore(const HostConfig& config);
  Result<void> StartServer(const HostConfig& config);
};

Result<void> Host::Parts::OpenStore(const HostConfig& config) {
  SqliteStore::Options options;
  options.directory = config.data;
  options.durability = config.durability_full ? Durability::kFull : Durability::kNormal;
  options.log = &log;
  options.metrics = &metrics;
  options.clock = &clock;
  store = TRY(SqliteStore::Open(options));
  intake = std::make_unique<JobIntake>(*store, inbox);
  store->changes().SetListener(
      [this](const std::vector<Change>& changes) { inbox.PostAnswer(StoreChanged{changes}); });
  return {};
}

Result<void> Host::Parts::StartCore(const HostConfig& config) {
  PluginHostOptions plugin_options;
  plugin_options.state_root = config.data + "/plugins";
  cluster = TRY(Cluster::Find(config.kubernetes, store->host_id(), clock, log));
  HostParts parts;
  if (cluster) parts.kube = &cluster->door();
  parts.clock = &clock;
  parts.logger = &log;
  parts.http = &http;
  parts.sink = &sink;
  plugins = std::make_unique<PluginHost>(PluginsOf(config), plugin_options, parts);
  engine =
      std::make_unique<Engine>(EngineDeps{*store, *plugins, inbox, clock, log, metrics, options});
  TRY(engine->Load());
  plugins->Start();
  loop = std::make_unique<Loop>(*engine, inbox);
  loop->Start();
  return {};
}

Result<void> Host::Parts::StartServer(const HostConfig& config) {
  admin = std::make_unique<HostAdmin>(*loop, *plugins);
  api.store = intake.get();
  api.clock = &clock;
  api.random = &random;
  api.validator = plugins.get();
  api.admin = admin.get();
  api.metrics = &metrics;
  api.default_timezone = config.default_timezone;
  api.hash_names = config.hash_names;
  api.version = DETENT_VERSION;
  server = TRY(Server::Start(ServerOptionsOf(config.listen), MakeApi(api), clock, &log));
  return {};
}

Host::Host(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

Result<std::unique_ptr<Host>> Host::Start(const HostConfig& config, const Clock& clock) {
  std::unique_ptr<Host> host(new Host(std::make_unique<Parts>(config, clock)));
  TRY(host->parts_->OpenStore(config));
  TRY(host->parts_->StartCore(config));
  TRY(host->parts_->StartServer(config));
  for (const std::string& url : host->urls()) host->parts_->log.Info("listening", {{"url", url}});
  return host;
}

Host::~Host() {
  if (parts_->server) parts_->server->Stop();
  if (parts_->plugins) parts_->plugins->Stop();
  if (parts_->loop) parts_->loop->Stop();
}

const std::vector<std::string>& Host::urls() const {
  return parts_->server->urls();
}

}  // namespace detent
