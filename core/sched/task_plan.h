// What one task in hand needs now. Pure: from a view and `now` to one action; the task controller
// carries it out.
//
//   stage      is                                            next                 driven by
//   ---------  --------------------------------------------  -------------------  ---------------
//   storing    its intent is being made durable              held, intended       the store
//   held       not handed over: the executor is unusable     intended             StoreIntent
//   intended   the intent to start is durable                offered              Start
//   unsure     read back after a restart, or its executor    offered, going,      Recover
//              was replaced                                  ended
//   offered    start was called, no answer yet               going, ended,        the executor
//                                                            intended (try again)
//   going      the executor has it                           ended                the executor
//   ended      how it ended is known                         recorded             StoreOutcome
//   recorded   its end is durable in the Task and the Job    released             Release
//   released   the executor let go                           gone                 DropTracking
//   gone       nothing is left in hand                       -                    -
//
// Invariants
//   1. Start is called only when the intent is durable.
//   2. The outcome is set once, on entering ended, and never changes.
//   3. Release is called only when the outcome is durable in the Task and in its Job.
//   4. The tracking finalizer is on the Task in every stage but gone.

#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "core/api/task.h"
#include "core/base/clock.h"

namespace detent {

enum class TaskStage : uint8_t {
  kStoring,
  kHeld,
  kIntended,
  kUnsure,
  kOffered,
  kGoing,
  kEnded,
  kRecorded,
  kReleased,
  kGone
};

const char* NameOf(TaskStage stage);

struct TaskView {
  TaskStage stage = TaskStage::kHeld;
  TaskState state = TaskState::kHeld;
  bool write_in_flight = false;
  bool outcome_stored = false;  // In the Task object.
  bool executor_usable = false;
  bool asked = false;      // Recover was called and is not answered.
  bool introduced = true;  // The executor of this run knows it, or need not.
  bool never_handed_over = false;
  bool removed = false;                // The Task object is gone.
  std::optional<WallTime> not_before;  // Start or Recover again only then.
  std::optional<WallTime> offered_at;  // When the executor was given it.
  std::optional<WallTime> running_at;
  bool kill_wanted = false;
  bool kill_immediate = false;
  std::optional<WallTime> kill_sent_at;  // To the executor.
  bool immediate_sent = false;
  bool force_sent = false;
  bool force_forbidden = false;
  std::chrono::seconds pending_timeout{900};       // 0 = never.
  std::chrono::seconds force_delete_timeout{900};  // From the kill on.
};

enum class TaskAction : uint8_t {
  kNothing,
  kStoreIntent,  // Make "is going to be started" durable.
  kStart,
  kRecover,
  kKill,
  kForceDelete,
  kEndUnstarted,    // It is to be killed and was never handed over: it has ended.
  kTimeOutPending,  // It did not run in time: kill it, with that reason.
  kStoreOutcome,
  kRelease,  // And then DropTracking at once: both are safe to repeat.
  kDropTracking,
  kForget,  // The object is gone and the executor let go: nothing is left to do.
};

struct TaskPlan {
  TaskAction action = TaskAction::kNothing;
  std::optional<WallTime> wake;
};

TaskPlan PlanTask(const TaskView& view, WallTime now);

}  // namespace detent
