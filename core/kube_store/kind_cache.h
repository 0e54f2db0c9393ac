// All objects of one of our kinds, as a watch of the API server tells of them, and the log of their
// changes.
//
// The watch's calls and the awaiting of them belong to the client's thread; reads are for any.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "core/base/log.h"
#include "core/kube/watch.h"
#include "core/store/store.h"

namespace detent {

class KindCache final : public WatchSink {
 public:
  using Name = std::pair<std::string, std::string>;  // Namespace and name.

  // `client` and `log` are borrowed.
  KindCache(KubeClient& client, Kind kind, const WatchOptions& options, Logger& log);
  ~KindCache() override { Stop(); }

  void Start() { watch_.Start(); }
  void Stop() { watch_.Stop(); }

  // Why it does not show what is stored: it has not been told all yet, or the watch has failed.
  std::optional<Error> Trouble() const;

  Result<ObjectPtr> Read(const Name& name) const;
  Page List(const ListQuery& query) const;
  ChangeLog& changes() { return changes_; }

  // Calls `then` once the cache shows that object's `version`, or what came after it; at once where
  // it does. The client's thread.
  void Await(const Name& name, int64_t version, std::function<void()> then);
  // Calls `then` with the last state of the object, once it is gone, unless Forget comes first.
  // The answer names it. The client's thread.
  uint64_t AwaitEnd(const ObjectPtr& object, std::function<void(ObjectPtr last)> then);
  void Forget(uint64_t id);

  void OnUpsert(const WatchedObjectPtr& object) override;
  void OnDelete(const WatchedObjectPtr& object) override;
  void OnSynced() override;
  void OnFailed(const KubeReply& reply) override;

 private:
  struct Waiter {
    int64_t version = 0;
    std::string uid;  // Of AwaitEnd; else empty.
    uint64_t id = 0;
    std::function<void(ObjectPtr)> then;
  };

  ObjectPtr Decode(const WatchedObject& object) const;
  bool Shows(const Name& name, int64_t version) const;
  void Tell(std::vector<Change> changes);
  void WakeFor(const Name& name, const ObjectPtr& gone);
  void WakeAll();

  const Kind kind_;
  Logger& log_;
  ChangeLog changes_{0};

  mutable std::mutex mutex_;
  std::map<Name, ObjectPtr> objects_;  // Guarded by mutex_, as all to the blank line.
  bool synced_ = false;                // Once: from then on the listener hears of changes.
  std::optional<Error> failure_;

  // The client's thread only.
  int64_t newest_ = 0;     // Of all versions that were told.
  bool relisting_ = true;  // What was told last was out of order, as a new list is.
  std::multimap<Name, Waiter> waiters_;
  uint64_t next_waiter_ = 1;

  KubeWatch watch_;  // The last: it calls into all the rest.
};

}  // namespace detent
