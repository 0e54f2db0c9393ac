// The host on one machine: objects in SQLite, everything begins at once.

#include <utility>

#include "core/app/cluster.h"
#include "core/app/host.h"
#include "core/app/host_works.h"
#include "core/http/api.h"
#include "core/store/sqlite_store.h"

namespace detent {
namespace {

class StandaloneHost final : public Host {
 public:
  StandaloneHost(const HostConfig& config, const Clock& clock) : base_(config, clock) {}
  ~StandaloneHost() override {
    if (works_) works_->Stop();
  }

  Result<void> Start() {
    SqliteStore::Options options;
    options.directory = base_.config.data;
    options.durability = base_.config.durability_full ? Durability::kFull : Durability::kNormal;
    options.log = &base_.log;
    options.metrics = &base_.metrics;
    options.clock = &base_.clock;
    store_ = TRY(SqliteStore::Open(options));
    ClusterOptions cluster_options;
    cluster_options.host_id = store_->host_id();
    cluster_ = TRY(Cluster::Find(base_.config.kubernetes, cluster_options, base_.clock, base_.log));
    works_ = std::make_unique<HostWorks>(base_, cluster_ ? &cluster_->door() : nullptr);
    works_->Follow(*store_);
    TRY(works_->Run(*store_));
    return works_->Serve(MakeApi(works_->api()));
  }

  const std::vector<std::string>& urls() const override { return works_->urls(); }

 private:
  HostBase base_;
  std::unique_ptr<SqliteStore> store_;
  std::unique_ptr<Cluster> cluster_;  // Null: there is none.
  std::unique_ptr<HostWorks> works_;
};

}  // namespace

Result<std::unique_ptr<Host>> StartStandaloneHost(const HostConfig& config, const Clock& clock) {
  auto host = std::make_unique<StandaloneHost>(config, clock);
  TRY(host->Start());
  return std::unique_ptr<Host>(std::move(host));
}

}  // namespace detent
