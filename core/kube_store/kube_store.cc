#include "core/kube_store/kube_store.h"

#include <utility>

namespace detent {

KubeStore::KubeStore(KubeClient& client, const KubeStoreOptions& options, Logger& log) {
  for (size_t i = 0; i < caches_.size(); ++i) {
    caches_[i] = std::make_unique<KindCache>(client, kKinds[i], options.watch, log);
  }
  const auto cache_of = [this](Kind kind) -> KindCache& { return CacheOf(kind); };
  writer_ = std::make_shared<KubeWriter>(client, cache_of, options.writer);
}

KubeStore::~KubeStore() {
  writer_->Stop();
  for (const auto& cache : caches_) {
    cache->Stop();
    cache->changes().Close();
  }
}

void KubeStore::Start() {
  for (const auto& cache : caches_) cache->Start();
}

Result<void> KubeStore::Ready() const {
  for (const auto& cache : caches_) {
    if (auto trouble = cache->Trouble()) return *std::move(trouble);
  }
  if (auto trouble = writer_->Trouble()) return *std::move(trouble);
  return {};
}

KindCache& KubeStore::CacheOf(Kind kind) const {
  return *caches_[static_cast<size_t>(kind) - static_cast<size_t>(kKinds[0])];
}

void KubeStore::Submit(Transaction transaction, Done done) {
  writer_->Submit(std::move(transaction), std::move(done));
}

Result<ObjectPtr> KubeStore::Read(const ObjectKey& key) {
  return CacheOf(key.kind).Read({key.ns, key.name});
}

Result<Page> KubeStore::List(const ListQuery& query) {
  return CacheOf(query.kind).List(query);
}

}  // namespace detent
