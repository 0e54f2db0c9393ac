// The store whose data are the objects of a Kubernetes API: etcd keeps them, everybody may change
// them with kubectl, and hosts follow each other on them.
//
// Reads answer what a watch of each kind has told, so they cost the server nothing, and every write
// is acknowledged once the watch shows it. It is not atomic() (store.h). Who may write is not its
// concern: that the host still leads is asked by the client before each request. `done` and the
// listeners of changes are called on the client's thread.

#pragma once

#include <array>
#include <memory>

#include "core/base/log.h"
#include "core/kube/client.h"
#include "core/kube_store/kind_cache.h"
#include "core/kube_store/kube_writer.h"
#include "core/store/store.h"

namespace detent {

struct KubeStoreOptions {
  KubeStoreOptions() { watch.backoff_most = std::chrono::seconds(2); }
  WatchOptions watch;
  KubeWriterOptions writer;
};

class KubeStore final : public Store {
 public:
  // `client` and `log` are borrowed.
  KubeStore(KubeClient& client, const KubeStoreOptions& options, Logger& log);
  // Refuses what is not done yet. Not from the client's thread.
  ~KubeStore() override;
  KubeStore(const KubeStore&) = delete;
  KubeStore& operator=(const KubeStore&) = delete;

  // Begins to read. What is there first is told to no listener of changes(); those are set before.
  void Start();
  // Why it does not show what is stored (now, or yet): kUnavailable, or kForbidden, with the
  // server's words, which name verb and resource. Reads and lists answer the last that was known.
  // Or why it cannot store: the kinds of the cluster are of a version that leaves fields out.
  Result<void> Ready() const;

  void Submit(Transaction transaction, Done done) override;
  bool atomic() const override { return false; }
  Result<ObjectPtr> Read(const ObjectKey& key) override;
  Result<Page> List(const ListQuery& query) override;
  ChangeLog& changes(Kind kind) override { return CacheOf(kind).changes(); }

 private:
  KindCache& CacheOf(Kind kind) const;

  std::array<std::unique_ptr<KindCache>, std::size(kKinds)> caches_;
  std::shared_ptr<KubeWriter> writer_;
};

}  // namespace detent
