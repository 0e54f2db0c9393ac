// The store in its plainest form: a map. It is the reference that the other stores are held
// against, and what unit tests and the simulator run the host on.
//
// Nothing survives the object, but for what TakeState hands over to a next one: that is how a
// simulator lets a host die and start again on the same data.

#pragma once

#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "core/store/store.h"

namespace detent {

class MemoryStore final : public Store {
 public:
  enum class Mode {
    kAutomatic,  // Submit applies and acknowledges, on the thread that called it first.
    kPumped,     // Submit only queues; Pump applies one transaction on its caller's thread.
  };

  enum class Unit {
    kTransaction,
    kWrite,  // As Kubernetes does it: not atomic(), and new objects get UIDs of their own.
  };

  struct State {
    std::map<ObjectKey, ObjectPtr> objects;
    int64_t version = 0;
  };

  explicit MemoryStore(Mode mode = Mode::kAutomatic) : MemoryStore(mode, State()) {}
  MemoryStore(Mode mode, State state, Unit unit = Unit::kTransaction);

  // Applies and acknowledges what is still queued, as a store that closes in good order does. A
  // simulated crash calls DropQueued before.
  ~MemoryStore() override;
  MemoryStore(const MemoryStore&) = delete;
  MemoryStore& operator=(const MemoryStore&) = delete;

  // In kAutomatic, a `done` that submits again is answered after it has returned.
  void Submit(Transaction transaction, Done done) override;
  Result<ObjectPtr> Read(const ObjectKey& key) override;
  Result<Page> List(const ListQuery& query) override;
  bool atomic() const override { return unit_ == Unit::kTransaction; }
  ChangeLog& changes(Kind) override { return changes_; }

  enum class Acknowledge {
    kYes,
    kNo,  // Commits, but `done` is never called: the host died in between.
  };

  // Applies the oldest queued transaction, of kWrite its next write; false if there is none. One
  // thread at a time.
  bool Pump(Acknowledge acknowledge = Acknowledge::kYes);

  // Forgets what is queued, without calling anybody: the host died before the commits.
  void DropQueued();

  // Transactions that wait to be applied.
  size_t queued() const;

  // Once `after` more went through, `count` transactions are refused with kUnavailable, as by a
  // full disk.
  void FailNext(size_t count, size_t after = 0);

  // The next `count` reads and lists answer kUnavailable.
  void FailReads(size_t count);

  // A copy of what is committed. Cheap: objects are shared.
  State TakeState() const;

 private:
  struct Queued {
    Transaction writes;
    Done done;
    size_t written = 0;  // Of kWrite.
    Committed committed;
  };

  bool PumpWrite(Acknowledge acknowledge);
  Result<Committed> Apply(Transaction& writes);
  Result<Committed> ApplyLocked(Transaction& writes, std::vector<Change>& changes);

  const Mode mode_;
  const Unit unit_;
  ChangeLog changes_;

  mutable std::mutex mutex_;
  State state_;  // Guarded by mutex_, as all below.
  std::deque<Queued> queued_;
  size_t failures_ = 0;
  size_t failures_after_ = 0;
  size_t read_failures_ = 0;
  bool draining_ = false;  // kAutomatic: some thread is applying, and takes what comes.
};

}  // namespace detent
