// Carries out transactions with a Kubernetes API server: each write by its requests, one after the
// other, and acknowledged once the watch shows it, so that what follows reads it, too.
//
// Transactions that have no object in common go side by side. All of its work is on the client's
// thread.

#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/kube/client.h"
#include "core/kube_store/kind_cache.h"
#include "core/kube_store/write_steps.h"
#include "core/store/store.h"

namespace detent {

struct KubeWriterOptions {
  std::string field_manager = "detent";
  std::chrono::milliseconds request_timeout{30'000};
  // After a conflict, how long the watch is waited for that shows with what.
  std::chrono::milliseconds conflict_wait{2'000};
};

class KubeWriter : public std::enable_shared_from_this<KubeWriter> {
 public:
  using CacheOf = std::function<KindCache&(Kind)>;

  // `client` is borrowed, and the caches are, until Stop returned.
  KubeWriter(KubeClient& client, CacheOf cache_of, KubeWriterOptions options);

  // Any thread.
  void Submit(Transaction transaction, Store::Done done);
  // Refuses what is not done yet, whose effect is open, and all that comes. Any thread but the
  // client's.
  void Stop();
  // Why what is written is not kept as it is sent; nullopt: it is, or nothing was written yet.
  std::optional<Error> Trouble() const;

 private:
  struct Work {
    uint64_t id = 0;
    Transaction writes;
    Store::Done done;
    std::vector<ObjectKey> keys;
    Committed committed;
    bool runs = false;
    size_t at = 0;  // The write in hand,
    std::vector<WriteStep> steps;
    size_t step = 0;          // and its request;
    ObjectPtr stored;         // what that replaces,
    int64_t version = 0;      // in this version (0: whatever there is).
    uint64_t end_waiter = 0;  // Of its deletion.
    ObjectPtr last;           // The last state of what was deleted.
    bool asked = false;       // The server has answered the deletion.
  };
  using WorkPtr = std::shared_ptr<Work>;

  void Admit();
  void RunIfFree(WorkPtr work);
  void BeginWrite(const WorkPtr& work);
  void NextStep(const WorkPtr& work);
  void Answered(const WorkPtr& work, KubeReply&& reply);
  bool IsKept(const WorkPtr& work, const Object& answered);
  void Refused(const WorkPtr& work, KubeReply&& reply);
  void NameTaken(const WorkPtr& work);
  void FoundInItsPlace(const WorkPtr& work, KubeReply&& reply);
  void AwaitEnd(const WorkPtr& work);
  void EndIfGone(const WorkPtr& work);
  void Written(const WorkPtr& work, const ObjectPtr& object);
  void WriteShown(const WorkPtr& work, const ObjectPtr& object);
  void End(const WorkPtr& work, Result<Committed> result);
  const Write& WriteOf(const Work& work) const { return work.writes[work.at]; }
  KindCache& CacheFor(const Work& work) const { return cache_of_(WriteOf(work).object->kind); }
  void Send(const WorkPtr& work, KubeRequest request,
            void (KubeWriter::*then)(const WorkPtr&, KubeReply&&));

  KubeClient& client_;
  const CacheOf cache_of_;
  const KubeWriterOptions options_;

  mutable std::mutex mutex_;
  std::deque<WorkPtr> arrived_;  // Guarded by mutex_, as the next two.
  bool stopped_ = false;
  std::map<Kind, Error> not_kept_;

  // The client's thread; after Stop nobody's.
  std::map<uint64_t, WorkPtr> works_;
  std::map<ObjectKey, std::deque<uint64_t>> queues_;  // Who has the object, and who waits for it.
  uint64_t next_id_ = 1;
};

}  // namespace detent
