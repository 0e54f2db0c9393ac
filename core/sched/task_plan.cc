#include "core/sched/task_plan.h"

#include <algorithm>

namespace detent {
namespace {

TaskPlan Do(TaskAction action) {
  return {action, std::nullopt};
}

TaskPlan WaitUntil(std::optional<WallTime> wake) {
  return {TaskAction::kNothing, wake};
}

TaskPlan PlanStart(const TaskView& view, WallTime now) {
  if (view.kill_wanted) return Do(TaskAction::kEndUnstarted);
  if (!view.executor_usable) return WaitUntil(std::nullopt);
  if (view.not_before && *view.not_before > now) return WaitUntil(view.not_before);
  return Do(TaskAction::kStart);
}

TaskPlan PlanRecover(const TaskView& view, WallTime now) {
  if (!view.executor_usable || view.asked) return WaitUntil(std::nullopt);
  if (view.not_before && *view.not_before > now) return WaitUntil(view.not_before);
  return Do(TaskAction::kRecover);
}

TaskPlan PlanKill(const TaskView& view, WallTime now) {
  if (view.not_before && *view.not_before > now) return WaitUntil(view.not_before);
  if (!view.kill_sent_at || (view.kill_immediate && !view.immediate_sent)) {
    return Do(TaskAction::kKill);
  }
  if (view.force_sent || view.force_forbidden) return WaitUntil(std::nullopt);
  const WallTime force_at = *view.kill_sent_at + view.force_delete_timeout;
  return force_at <= now ? Do(TaskAction::kForceDelete) : WaitUntil(force_at);
}

// Handed over and not ended.
TaskPlan PlanLive(const TaskView& view, WallTime now) {
  if (!view.executor_usable) return WaitUntil(std::nullopt);
  if (view.kill_wanted) return PlanKill(view, now);
  if (view.running_at || !view.offered_at || view.pending_timeout.count() == 0) {
    return WaitUntil(std::nullopt);
  }
  const WallTime late = *view.offered_at + view.pending_timeout;
  return late <= now ? Do(TaskAction::kTimeOutPending) : WaitUntil(late);
}

}  // namespace

const char* NameOf(TaskStage stage) {
  switch (stage) {
    case TaskStage::kStoring:
      return "storing";
    case TaskStage::kHeld:
      return "held";
    case TaskStage::kIntended:
      return "intended";
    case TaskStage::kUnsure:
      return "unsure";
    case TaskStage::kOffered:
      return "offered";
    case TaskStage::kGoing:
      return "going";
    case TaskStage::kEnded:
      return "ended";
    case TaskStage::kRecorded:
      return "recorded";
    case TaskStage::kReleased:
      return "released";
    case TaskStage::kGone:
      return "gone";
  }
  return "";
}

TaskPlan PlanTask(const TaskView& view, WallTime now) {
  switch (view.stage) {
    case TaskStage::kStoring:
    case TaskStage::kGone:
      return WaitUntil(std::nullopt);
    case TaskStage::kHeld:
      if (view.write_in_flight) return WaitUntil(std::nullopt);
      if (view.kill_wanted) return Do(TaskAction::kEndUnstarted);
      return view.executor_usable ? Do(TaskAction::kStoreIntent) : WaitUntil(std::nullopt);
    case TaskStage::kIntended:
      return PlanStart(view, now);
    case TaskStage::kUnsure:
      return PlanRecover(view, now);
    case TaskStage::kOffered:
    case TaskStage::kGoing:
      return PlanLive(view, now);
    case TaskStage::kEnded:
      if (view.write_in_flight || view.outcome_stored) return WaitUntil(std::nullopt);
      return Do(TaskAction::kStoreOutcome);
    case TaskStage::kRecorded:
      // After a restart the executor must hear of the task before it can let go of it.
      if (!view.introduced || view.asked) return PlanRecover(view, now);
      return view.executor_usable || view.never_handed_over ? Do(TaskAction::kRelease)
                                                            : WaitUntil(std::nullopt);
    case TaskStage::kReleased:
      if (view.removed) return Do(TaskAction::kForget);
      return view.write_in_flight ? WaitUntil(std::nullopt) : Do(TaskAction::kDropTracking);
  }
  return WaitUntil(std::nullopt);
}

}  // namespace detent
