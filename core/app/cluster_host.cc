// The host in a cluster: objects are custom resources, and of several hosts the one that holds the
// Lease does the work.
//
// A host that leads reads everything anew, so that it knows what the one before it did to the last
// write. Every change that it makes is asked for by the client (may_write) whether it still leads.

#include <unistd.h>

#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

#include "core/app/cluster.h"
#include "core/app/host.h"
#include "core/app/host_works.h"
#include "core/furiko/furiko_bridge.h"
#include "core/http/api.h"
#include "core/kube/lease.h"
#include "core/kube_store/kube_store.h"
#include "core/webhook/webhook.h"

namespace detent {
namespace {

using std::chrono::milliseconds;

std::string IdentityOfProcess() {
  if (const char* pod = std::getenv("POD_NAME"); pod != nullptr && *pod != '\0') return pod;
  char name[256] = {};
  if (gethostname(name, sizeof(name) - 1) != 0 || name[0] == '\0') return "detent";
  return name;
}

// The handler can be replaced while requests come.
class Switchboard {
 public:
  void Set(Handler handler) {
    auto shared = std::make_shared<const Handler>(std::move(handler));
    const std::lock_guard lock(mutex_);
    handler_ = std::move(shared);
  }
  Response operator()(const Request& request) const {
    std::shared_ptr<const Handler> handler;
    {
      const std::lock_guard lock(mutex_);
      handler = handler_;
    }
    return (*handler)(request);
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const Handler> handler_;  // Guarded by mutex_.
};

class ClusterHost final : public Host, private LeadershipSink {
 public:
  ClusterHost(const HostConfig& config, const Clock& clock, std::function<void()> on_deposed)
      : base_(config, clock), on_deposed_(std::move(on_deposed)) {}
  ~ClusterHost() override;

  Result<void> Start();
  const std::vector<std::string>& urls() const override { return works_->urls(); }

 private:
  void OnElected(int64_t epoch) override;
  void OnDeposed(const std::string& why) override;
  void OnLeader(const std::string& identity) override;

  Result<void> MakeElector(const ClusterAccess& access);
  std::unique_ptr<KubeClient> PlainClient(const ClusterAccess& access);
  Result<void> StartWebhook(const ClusterAccess& access);
  void Lead();
  bool WaitUntilRead();
  bool Pause(milliseconds time);
  std::string WhyNotYet() const;
  Result<void> Readiness() const;

  HostBase base_;
  const std::function<void()> on_deposed_;
  // The elector's own, so that a renewal never waits behind other requests.
  std::unique_ptr<KubeClient> elector_client_;
  std::unique_ptr<LeaseElector> elector_;
  std::unique_ptr<Cluster> cluster_;
  std::unique_ptr<KubeStore> store_;
  std::unique_ptr<HostWorks> works_;
  std::unique_ptr<FurikoBridge> furiko_;  // Once the host leads.
  // May write whether or not this host leads: a certificate that all hosts share, and no more.
  std::unique_ptr<KubeClient> webhook_client_;
  std::unique_ptr<Webhook> webhook_;
  Switchboard switchboard_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;  // Guarded by mutex_, as all below.
  bool elected_ = false;
  bool running_ = false;
  std::string leader_;   // Who leads, as far as is known; empty: nobody.
  std::string trouble_;  // Why what is stored cannot be read.
  std::thread lead_;
};

Result<void> ClusterHost::MakeElector(const ClusterAccess& access) {
  LeaseOptions options;
  options.ns = HomeNamespace(base_.config.kubernetes);
  options.identity = IdentityOfProcess();
  const LeaderElectionConfig& election = base_.config.kubernetes.leader_election;
  options.duration = election.lease_duration;
  options.renew_deadline = election.renew_deadline;
  options.retry_period = election.retry_period;
  TRY(CheckLeaseOptions(options));
  elector_client_ = PlainClient(access);
  LeadershipSink& sink = *this;
  elector_ = std::make_unique<LeaseElector>(*elector_client_, options, sink);
  return {};
}

std::unique_ptr<KubeClient> ClusterHost::PlainClient(const ClusterAccess& access) {
  KubeClientOptions options;
  options.user_agent = kUserAgent;
  return std::make_unique<KubeClient>(access, std::move(options), base_.clock, base_.log);
}

Result<void> ClusterHost::StartWebhook(const ClusterAccess& access) {
  const WebhookConfig& config = base_.config.kubernetes.webhook;
  const bool by_default = config.address.empty() && IsInCluster(EnvironmentOfProcess());
  if (config.address == "off" || (config.address.empty() && !by_default)) return {};
  WebhookOptions options;
  if (!by_default) options.listen = config.address;
  options.ns = HomeNamespace(base_.config.kubernetes);
  options.default_timezone = base_.config.default_timezone;
  if (!config.certificate.empty()) {
    options.files = CertificateFiles{config.certificate, config.key, config.ca};
  }
  webhook_client_ = PlainClient(access);
  PluginHost& plugins = works_->plugins();
  plugins.Prepare();
  webhook_ = TRY(Webhook::Start(std::move(options),
                                {*webhook_client_, &plugins, base_.clock, base_.log, &plugins}));
  return {};
}

Result<void> ClusterHost::Start() {
  const ClusterAccess access = TRY(AccessOf(base_.config.kubernetes));
  TRY(MakeElector(access));
  ClusterOptions options;
  // The same for all hosts of this home, and in every life of them.
  options.host_id = HomeNamespace(base_.config.kubernetes);
  options.jobs_are_there = true;
  options.may_write = [elector = elector_.get()] { return elector->Fence().has_value(); };
  cluster_ =
      std::make_unique<Cluster>(access, options, base_.config.kubernetes, base_.clock, base_.log);
  works_ = std::make_unique<HostWorks>(base_, &cluster_->door());
  works_->options().raw_objects = true;
  works_->options().collect_dependents = false;  // Kubernetes' own collector does.
  works_->plugins().Load();
  works_->api().ready = [this] { return Readiness(); };
  switchboard_.Set(MakeStandbyApi(works_->api(), [this] { return WhyNotYet(); }));
  TRY(works_->Serve([this](const Request& request) { return switchboard_(request); }));
  TRY(StartWebhook(access));
  lead_ = std::thread([this] { Lead(); });
  elector_->Start();
  return {};
}

ClusterHost::~ClusterHost() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  if (lead_.joinable()) lead_.join();
  if (webhook_) webhook_->Stop();
  furiko_.reset();
  if (works_) works_->Stop();
  store_.reset();
  // Last of all: another may lead before this returns.
  if (elector_) elector_->Stop();
}

void ClusterHost::OnElected(int64_t /*epoch*/) {
  {
    const std::lock_guard lock(mutex_);
    elected_ = true;
  }
  changed_.notify_all();
}

void ClusterHost::OnDeposed(const std::string& /*why*/) {
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) return;
  }
  on_deposed_();
}

void ClusterHost::OnLeader(const std::string& identity) {
  const std::lock_guard lock(mutex_);
  leader_ = identity;
}

bool ClusterHost::Pause(milliseconds time) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, time, [this] { return stopping_; });
  return !stopping_;
}

// False: the host is stopping. Until then it goes on trying: CRDs may be installed, rights given.
bool ClusterHost::WaitUntilRead() {
  for (;;) {
    const auto ready = store_->Ready();
    {
      const std::lock_guard lock(mutex_);
      trouble_ = ready ? "" : ready.error().message();
    }
    if (ready) return true;
    if (!Pause(milliseconds(20))) return false;
  }
}

void ClusterHost::Lead() {
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return stopping_ || elected_; });
    if (stopping_) return;
  }
  KubeStoreOptions options;
  options.watch.relist = base_.config.kubernetes.relist;
  store_ = std::make_unique<KubeStore>(cluster_->client(), options, base_.log);
  works_->Follow(*store_);
  store_->Start();
  if (!WaitUntilRead()) return;
  if (const auto run = works_->Run(*store_); !run) {
    base_.log.Error("the host cannot begin, and ends", {{"error", run.error().message()}});
    on_deposed_();
    return;
  }
  FurikoBridgeOptions furiko;
  furiko.default_timezone = base_.config.default_timezone;
  furiko_ =
      std::make_unique<FurikoBridge>(cluster_->client(), works_->plugins(), furiko, base_.log);
  furiko_->Start();
  switchboard_.Set(MakeApi(works_->api()));
  const std::lock_guard lock(mutex_);
  running_ = true;
}

std::string ClusterHost::WhyNotYet() const {
  const std::string lease = elector_->Trouble();
  const std::lock_guard lock(mutex_);
  if (elected_) return "this host leads, and is reading what is stored: " + trouble_;
  if (!lease.empty()) return "this host waits to lead; " + lease;
  if (leader_.empty()) return "this host waits to lead; nobody is known to lead";
  return "this host waits to lead; ask " + leader_ + ", which does";
}

Result<void> ClusterHost::Readiness() const {
  std::unique_lock lock(mutex_);
  if (running_) {
    lock.unlock();
    return store_->Ready();
  }
  if (elected_) return Error(Code::kUnavailable, trouble_);
  if (std::string lease = elector_->Trouble(); !lease.empty()) {
    return Error(Code::kUnavailable, std::move(lease));
  }
  if (!leader_.empty()) return {};
  return Error(Code::kUnavailable, "no host is known to lead");
}

}  // namespace

Result<std::unique_ptr<Host>> StartClusterHost(const HostConfig& config, const Clock& clock,
                                               std::function<void()> on_deposed) {
  auto host = std::make_unique<ClusterHost>(config, clock, std::move(on_deposed));
  TRY(host->Start());
  return std::unique_ptr<Host>(std::move(host));
}

}  // namespace detent
