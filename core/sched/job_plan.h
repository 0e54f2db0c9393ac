// What one Job needs now: the rules of admission, fan-out, attempts, kill, completion and expiry.
// Pure: from a view and `now` to actions; the job controller carries them out.
//
//   phase        stored as                        leaves it by
//   -----------  -------------------------------  ------------------------------------------------
//   queued       no startTime                     Admit, RejectJob, FinishJob (killed while queued)
//   going        startTime, no finishTime         BeginAttempts ... until the verdict is in
//   winding up   verdict or kill, tasks active    KillTasks, then nothing is active
//   finished     finishTime                       DeleteJob after its time to live
//
// Invariants: startTime and finishTime are set once; no attempt begins after the verdict, a kill or
// a deletion; finishTime is set only when no task is active.

#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/api/job.h"
#include "core/base/clock.h"

namespace detent {

// What the planner may know. Everything is borrowed for the call.
struct JobView {
  const JobSpec* spec = nullptr;
  const JobStatus* status = nullptr;  // Newest, also where it is not stored yet.
  bool deleting = false;              // metadata.deletionTimestamp is set.
  bool has_finalizer = false;         // Ours, kDeleteDependents.
  int64_t tasks_in_hand = 0;          // Attempts begun whose end is not recorded durably.
  int64_t indexes_not_begun = 0;
  std::optional<WallTime> next_retry;  // The earliest, of indexes in backoff.
  int64_t retries_due = 0;
  // Of the JobConfig, where the Job has one.
  std::string_view job_config;
  bool owner_gone = false;  // It has one that does not exist any more.
  std::optional<ConcurrencyPolicy> config_policy;
  int64_t config_started = 0;  // Its other Jobs that are started and not finished.
  int64_t config_max = 1;
  // Of the executor.
  int64_t room = 0;  // Attempts it can take more; 0 = it is full.
  bool executor_usable = true;
  std::chrono::seconds default_ttl{3600};
};

struct Admit {};    // Set startTime.
struct RejectJob {  // Ends as AdmissionError.
  std::string reason, message;
};
struct BeginAttempts {  // Retries that are due first, then new indexes.
  int64_t most = 0;
};
struct KillTasks {  // Every task in hand.
  std::string reason;
};
struct FinishJob {
  JobPhase phase = JobPhase::kSucceeded;
  std::string reason, message;
};
struct DeleteJob {};      // Its time to live is over.
struct DropFinalizer {};  // Nothing is left behind: let it go.

using JobAction =
    std::variant<Admit, RejectJob, BeginAttempts, KillTasks, FinishJob, DeleteJob, DropFinalizer>;

struct JobPlan {
  std::vector<JobAction> actions;
  std::optional<WallTime> wake;  // Look again then, at the latest.
  // Why nothing more happens now, for the status; empty where work is going on.
  std::string reason, message;
};

JobPlan PlanJob(const JobView& view, WallTime now);

// The phase that follows from a view; status shown to users is derived, never stored twice.
JobPhase DerivePhase(const JobView& view, WallTime now);

}  // namespace detent
