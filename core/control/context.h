// What every controller works with: the model, the doors outward, and the instant of this pass.
//
// Time stands still within one pass. The loop's thread only.

#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "core/api/admission.h"
#include "core/base/log.h"
#include "core/base/metrics.h"
#include "core/control/message.h"
#include "core/control/model.h"
#include "core/control/work.h"
#include "core/plugin/executor.h"
#include "core/store/store.h"

namespace detent {

struct ControlOptions {
  std::string default_timezone = "UTC";
  bool hash_names = true;  // cron.hashNames: H differs by JobConfig.
  int64_t max_missed_schedules = 5;
  std::chrono::seconds max_downtime{300};
  std::chrono::seconds default_ttl{3600};
  std::chrono::seconds default_pending_timeout{900};
  std::chrono::seconds force_delete_timeout{900};
  int64_t tasks_per_executor = 20'000;                         // In hand at a time, of one kind,
  std::map<std::string, int64_t, std::less<>> tasks_per_kind;  // unless it has a limit of its own.
  std::chrono::milliseconds status_interval{1000};  // Between two status writes of one object.
  std::chrono::milliseconds progress_delay{200};    // Before a task's progress is worth a write.
  std::chrono::milliseconds store_retry{1000};      // After the store said it cannot.
  // As in a cluster: objects may be stored that no admission of the host has seen, and somebody
  // else collects the dependents of what is deleted.
  bool raw_objects = false;
  bool collect_dependents = true;
};

struct ControlMetrics {
  explicit ControlMetrics(Metrics& metrics);
  Counter& slots_created;
  Counter& slots_skipped;
  Counter& jobs_started;
  Counter& jobs_finished;
  Counter& tasks_started;
  Counter& tasks_succeeded;
  Counter& tasks_failed;
  Counter& tasks_adopted;
  Counter& writes;
  Counter& write_conflicts;
  Histogram& slot_lateness;
};

struct Context {
  // Borrowed; they outlive the loop.
  Store& store;
  ExecutorDirectory& executors;
  Inbox& inbox;
  Logger& log;
  const ControlOptions& options;
  const SpecValidator* validator;  // Null: specs of executors are not checked.

  Model model;
  Work work;
  ControlMetrics metrics;

  // Of this pass.
  WallTime now{};
  MonoTime mono{};

  void Enqueue(const StoredEntry& entry) { work.Enqueue(entry.ref); }

  // Attempts that an executor kind can take more.
  int64_t RoomFor(const std::string& kind) const { return LimitOf(kind) - model.TaskCount(kind); }
  int64_t LimitOf(const std::string& kind) const {
    const auto own = options.tasks_per_kind.find(kind);
    return own == options.tasks_per_kind.end() ? options.tasks_per_executor : own->second;
  }
  // One Job that waits for room is looked at again. It passes room that it does not use on.
  void OfferRoom(const std::string& kind);

  // Takes a task out of hand, which makes room for another.
  void Drop(TaskEntry& task);
  // Takes a Job out of the model. Room that it was offered is passed on.
  void Drop(JobEntry& job);

  // Hands a transaction to the store; `then` runs on the loop's thread once it is durable or
  // refused. Callbacks outlive entries: they look them up by id.
  void Submit(Transaction transaction, std::function<void(Result<Committed>)> then);
};

// What a refused write of an entry's object asks for.
enum class AfterRefusal : uint8_t {
  kAgain,  // The entry's object is the newest now (or the store needs a pause): reconcile it again.
  kGone,   // The object does not exist any more.
};

// Brings `entry` up to date after a refusal: takes the newer object that was seen, or reads it.
AfterRefusal Catchup(Context& context, StoredEntry& entry, const Error& error);

// Takes what a commit made of the entry's object, and what was seen since, if that is newer.
// True if somebody else's newer state was taken.
bool Accept(StoredEntry& entry, const ObjectPtr& committed);

// A copy of the entry's object to change and write.
std::shared_ptr<Object> CopyOf(const StoredEntry& entry);

// The write that stores `object` in the place of `previous`: an update, or the deletion that an
// object asks for which is being deleted and has no finalizer left.
Write UpdateOf(std::shared_ptr<Object> object, ObjectPtr previous);

// The write that deletes it as the API does: at once, or marked where finalizers hold it, other
// than `let_go`.
Write DeletionOf(const ObjectPtr& object, WallTime now, const char* let_go = nullptr);

}  // namespace detent
