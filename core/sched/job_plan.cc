#include "core/sched/job_plan.h"

#include <algorithm>

#include "core/sched/outcome.h"
#include "core/sched/reason.h"

namespace detent {
namespace {

// A Job without room for all its indexes still holds a few, so that people see what waits and why.
constexpr int64_t kHeldTasks = 20;

void WakeAt(JobPlan& plan, WallTime time) {
  plan.wake = plan.wake ? std::min(*plan.wake, time) : time;
}

bool KillIsDue(const JobView& view, WallTime now) {
  return view.spec->kill_timestamp && *view.spec->kill_timestamp <= now;
}

JobPlan PlanFinished(const JobView& view, WallTime now) {
  JobPlan plan;
  if (view.deleting) {
    if (view.has_finalizer) plan.actions.push_back(DropFinalizer{});
    return plan;
  }
  const std::chrono::seconds ttl =
      view.spec->ttl_seconds_after_finished
          ? std::chrono::seconds(*view.spec->ttl_seconds_after_finished)
          : view.default_ttl;
  const WallTime expiry = *view.status->finished + ttl;
  if (expiry <= now) {
    plan.actions.push_back(DeleteJob{});
  } else {
    WakeAt(plan, expiry);
  }
  return plan;
}

JobPlan PlanQueued(const JobView& view, WallTime now) {
  JobPlan plan;
  if (view.deleting || KillIsDue(view, now)) {
    plan.actions.push_back(FinishJob{JobPhase::kKilled,
                                     view.deleting ? reason::kDeleted : reason::kKillRequested,
                                     "ended before it was started"});
    return plan;
  }
  if (view.spec->kill_timestamp) WakeAt(plan, *view.spec->kill_timestamp);
  if (view.spec->start_after && *view.spec->start_after > now) {
    WakeAt(plan, *view.spec->start_after);
    plan.reason = reason::kNotYetDue;
    plan.message = reason::NotYetDueMessage(*view.spec->start_after);
    return plan;
  }
  if (view.owner_gone) {
    plan.reason = reason::kOwnerGone;
    plan.message = "its JobConfig is gone, and it will be deleted, too";
    return plan;
  }
  const auto policy =
      view.spec->concurrency_policy ? view.spec->concurrency_policy : view.config_policy;
  if (policy == ConcurrencyPolicy::kForbid && view.config_started >= view.config_max) {
    plan.actions.push_back(
        RejectJob{reason::kConcurrency,
                  reason::ForbidMessage(view.job_config, view.config_started, view.config_max)});
    return plan;
  }
  plan.actions.push_back(Admit{});
  return plan;
}

// The Job has its verdict, or must die: end what is active, then finish.
JobPlan PlanWindingUp(const JobView& view, FinishJob finish) {
  JobPlan plan;
  plan.reason = finish.reason;
  plan.message = finish.message;
  if (view.tasks_in_hand > 0) {
    plan.actions.push_back(KillTasks{finish.phase != JobPhase::kKilled   ? reason::kOtherIndexFailed
                                     : finish.reason == reason::kDeleted ? reason::kJobDeleted
                                                                         : reason::kJobKilled});
  } else {
    plan.actions.push_back(std::move(finish));
  }
  return plan;
}

// The end of a Job of which an index failed: says which, after how many attempts, and why.
FinishJob FailureOf(const JobStatus& status) {
  // The first that failed. Its record may have been dropped from a long list; then the least one.
  const auto record =
      std::find_if(status.failed.begin(), status.failed.end(), [&](const TaskRecord& r) {
        return status.failed_indexes.Contains(r.index) &&
               r.attempt == NextAttempt(status, r.index) - 1;
      });
  const int64_t index =
      record != status.failed.end() ? record->index : std::stoll(status.failed_indexes.ToString());
  std::string why;
  if (record != status.failed.end()) {
    why = record->reason;
    if (!record->message.empty()) why += (why.empty() ? "" : ", ") + record->message;
  }
  return {JobPhase::kFailed, reason::kAttemptsUsedUp,
          reason::IndexFailedMessage(index, NextAttempt(status, index) - 1, why)};
}

JobPlan PlanGoing(const JobView& view, WallTime now) {
  JobPlan plan;
  if (view.spec->kill_timestamp) WakeAt(plan, *view.spec->kill_timestamp);
  const int64_t wanted = view.retries_due + view.indexes_not_begun;
  if (view.next_retry && *view.next_retry > now) WakeAt(plan, *view.next_retry);
  if (wanted > 0) {
    int64_t room = view.room;
    if (!view.executor_usable) {
      room = std::min(room, std::max<int64_t>(0, kHeldTasks - view.tasks_in_hand));
    }
    if (room > 0) plan.actions.push_back(BeginAttempts{std::min(wanted, room)});
  } else if (view.tasks_in_hand == 0 && view.next_retry) {
    plan.reason = reason::kRetryBackoff;
    plan.message = "the next attempt begins at " + FormatTime(*view.next_retry);
  }
  return plan;
}

}  // namespace

JobPlan PlanJob(const JobView& view, WallTime now) {
  const JobStatus& status = *view.status;
  if (status.finished) return PlanFinished(view, now);
  if (!status.started) return PlanQueued(view, now);
  // A verdict that is in wins over a kill that comes after it.
  const Verdict verdict = JudgeJob(status, view.spec->job_template);
  if (verdict == Verdict::kSucceeded) {
    return PlanWindingUp(view, FinishJob{JobPhase::kSucceeded, "", ""});
  }
  if (verdict == Verdict::kFailed) return PlanWindingUp(view, FailureOf(status));
  if (view.deleting) {
    return PlanWindingUp(
        view, FinishJob{JobPhase::kKilled, reason::kDeleted, "ended because the Job was deleted"});
  }
  if (KillIsDue(view, now)) {
    return PlanWindingUp(
        view, FinishJob{JobPhase::kKilled, reason::kKillRequested,
                        "ended at spec.killTimestamp, " + FormatTime(*view.spec->kill_timestamp)});
  }
  return PlanGoing(view, now);
}

JobPhase DerivePhase(const JobView& view, WallTime now) {
  const JobStatus& status = *view.status;
  if (status.finished) return status.phase;
  const bool killing = view.deleting || KillIsDue(view, now);
  if (!status.started) return killing ? JobPhase::kKilling : JobPhase::kQueued;
  if (JudgeJob(status, view.spec->job_template) != Verdict::kOngoing) return JobPhase::kTerminating;
  if (killing) return JobPhase::kKilling;
  if (status.running_tasks > 0) return JobPhase::kRunning;
  if (status.created_tasks == 0) return JobPhase::kStarting;
  const bool retried = !status.failed_attempts.empty() || !status.uncounted_attempts.empty();
  if (status.active_tasks > 0) return retried ? JobPhase::kRetrying : JobPhase::kPending;
  if (view.next_retry) return JobPhase::kRetryBackoff;
  // Between two attempts, or between the last end and its record.
  return retried ? JobPhase::kRetrying : JobPhase::kRunning;
}

}  // namespace detent
