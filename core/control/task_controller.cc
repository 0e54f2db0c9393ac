#include "core/control/task_controller.h"

#include <algorithm>
#include <utility>

#include "core/api/codec.h"
#include "core/api/labels.h"
#include "core/base/limits.h"
#include "core/base/names.h"
#include "core/sched/reason.h"

namespace detent {
namespace {

// How soon an executor that said "later" is asked again, at the least.
constexpr std::chrono::milliseconds kAskAgain{100};

bool IsOver(const TaskEntry& task) {
  return task.stage >= TaskStage::kEnded;
}

}  // namespace

TaskView TaskController::View(const TaskEntry& task) const {
  TaskView view;
  view.stage = task.stage;
  view.state = task.status.state;
  view.write_in_flight =
      task.write_in_flight || (task.retry_write_at && *task.retry_write_at > context_.mono);
  view.outcome_stored = task.outcome_stored;
  view.executor_usable = context_.executors.Find(task.kind) != nullptr;
  view.introduced = task.introduced || !task.handed_over;
  view.asked = task.asked;
  view.never_handed_over = !task.handed_over;
  view.removed = task.removed;
  view.not_before = task.not_before;
  view.offered_at = task.offered_at;
  view.running_at = task.status.running;
  view.kill_wanted = task.kill_wanted;
  view.kill_immediate = task.kill_immediate;
  view.kill_sent_at = task.kill_sent_at;
  view.immediate_sent = task.immediate_sent;
  view.force_sent = task.force_sent;
  view.force_delete_timeout = context_.options.force_delete_timeout;
  view.pending_timeout = context_.options.default_pending_timeout;
  if (task.job) {
    const JobTemplate& job = task.job->spec.job_template;
    view.force_forbidden = job.forbid_task_force_deletion;
    if (job.task_pending_timeout_seconds) {
      view.pending_timeout = std::chrono::seconds(*job.task_pending_timeout_seconds);
    }
  }
  return view;
}

void TaskController::Reconcile(TaskEntry& task) {
  const EntityRef ref = task.ref;
  for (;;) {
    // An action may have been the last: the entry is gone then.
    TaskEntry* entry = context_.model.Task(ref.id);
    if (!entry) return;
    const TaskPlan plan = PlanTask(View(*entry), context_.now);
    if (plan.action == TaskAction::kNothing) {
      if (plan.wake) context_.work.wall.Set(ref, *plan.wake);
      if (entry->progress_dirty && !entry->write_in_flight && !IsOver(*entry)) ProgressSoon(*entry);
      return;
    }
    Do(*entry, plan.action);
  }
}

void TaskController::Do(TaskEntry& task, TaskAction action) {
  switch (action) {
    case TaskAction::kNothing:
      return;
    case TaskAction::kStoreIntent:
      return StoreIntent(task);
    case TaskAction::kStart:
      return Start(task);
    case TaskAction::kRecover:
      return Recover(task);
    case TaskAction::kKill:
      return Kill(task);
    case TaskAction::kForceDelete:
      task.force_sent = true;
      context_.executors.Find(task.kind)->ForceDelete(task.ref.id);
      return;
    case TaskAction::kEndUnstarted:
      return End(task, TaskResult::kKilled, task.kill_reason, "ended before it was started");
    case TaskAction::kTimeOutPending:
      task.kill_wanted = true;
      task.kill_reason = reason::kPendingTimeout;
      return;
    case TaskAction::kStoreOutcome:
      if (!task.backend_record) return WriteStatus(task, TaskWrite::kOutcome);
      task.outcome_stored = true;  // It is durable with its Job's status.
      return jobs_.TaskEnded(task);
    case TaskAction::kRelease:
      return Release(task);
    case TaskAction::kDropTracking:
      return DropTracking(task);
    case TaskAction::kForget:
      if (Executor* executor = context_.executors.Find(task.kind); executor && task.removed) {
        executor->Discard(task.key);
      }
      return context_.Drop(task);
  }
}

TaskOrder TaskController::OrderOf(const TaskEntry& task) const {
  TaskOrder order;
  order.id = task.ref.id;
  order.key = task.key;
  order.name = task.object->meta.name;
  order.ns = task.object->meta.ns;
  order.job_name = task.job_name;
  order.attempt = task.attempt;
  order.spec = jobs_.SpecOf(task);
  order.handle = task.status.handle;
  order.handle_version = task.status.handle_version;
  order.last_state = task.status.state;
  return order;
}

void TaskController::StoreIntent(TaskEntry& task) {
  task.status.state = TaskState::kStarting;
  task.status.reason.clear();
  task.status.message.clear();
  if (task.backend_record) {
    task.stage = TaskStage::kIntended;  // That it may be begun is durable in its Job.
    return;
  }
  WriteStatus(task, TaskWrite::kIntent);
}

void TaskController::Start(TaskEntry& task) {
  task.stage = TaskStage::kOffered;
  task.offered_at = context_.now;
  task.introduced = task.handed_over = true;
  if (!task.status.started) task.status.started = context_.now;
  context_.metrics.tasks_started.Add();
  context_.executors.Find(task.kind)->Start(OrderOf(task));
}

void TaskController::Recover(TaskEntry& task) {
  task.asked = true;
  task.introduced = true;
  context_.executors.Find(task.kind)->Recover(OrderOf(task));
}

void TaskController::Kill(TaskEntry& task) {
  KillOrder order;
  order.id = task.ref.id;
  order.immediate = task.kill_immediate;
  order.reason = task.kill_reason;
  task.kill_sent_at = context_.now;
  task.immediate_sent = task.kill_immediate;
  LeaveRunning(task);
  task.status.state = TaskState::kKilling;
  task.status.reason = task.kill_reason;
  task.progress_dirty = true;
  context_.executors.Find(task.kind)->Kill(std::move(order));
}

void TaskController::Release(TaskEntry& task) {
  if (Executor* executor = context_.executors.Find(task.kind); executor && task.handed_over) {
    executor->Release(task.ref.id);
  }
  task.stage = TaskStage::kReleased;
}

void TaskController::DropTracking(TaskEntry& task) {
  if (task.backend_record) {
    task.stage = TaskStage::kGone;
    return context_.Drop(task);
  }
  auto object = CopyOf(task);
  RemoveFinalizer(object->meta, labels::kTaskTracking);
  task.write_in_flight = true;
  task.writing = TaskWrite::kDrop;
  context_.Submit(
      {UpdateOf(std::move(object), task.object)},
      [this, id = task.ref.id](auto result) { WriteDone(id, TaskWrite::kDrop, result); });
}

void TaskController::End(TaskEntry& task, TaskResult result, const std::string& why,
                         const std::string& message) {
  if (IsOver(task)) return;
  task.status.state = TaskState::kTerminated;
  task.status.result = result;
  task.status.reason = why;
  task.status.message = message;
  if (!task.status.finished) task.status.finished = context_.now;
  Ended(task);
}

// Its status says how it ended.
void TaskController::Ended(TaskEntry& task) {
  task.stage = TaskStage::kEnded;
  LeaveRunning(task);
  task.spec = {};
  if (task.status.message.size() > limits::kTaskMessageBytes) {
    task.status.message.resize(limits::kTaskMessageBytes);
  }
  if (task.kill_wanted && task.status.result == TaskResult::kSucceeded) {
    task.status.reason = reason::kFinishedBeforeKill;
  } else if (task.kill_wanted && task.status.result == TaskResult::kKilled) {
    task.status.reason = task.kill_reason;
  }
  for (auto& ack : task.acks) ack(false);
  task.acks.clear();
  const bool good = task.status.result == TaskResult::kSucceeded;
  (good ? context_.metrics.tasks_succeeded : context_.metrics.tasks_failed).Add();
  context_.Enqueue(task);
}

void TaskController::On(TaskNews& news) {
  TaskEntry* task = context_.model.Task(news.id);
  if (!task || IsOver(*task)) return;
  TaskStatus& status = task->status;
  // A backend's object is older than what a host knows of it that has been restarted.
  const auto& since = news.status.started;
  if (task->backend_record && since && *since < task->object->meta.created) {
    auto object = CopyOf(*task);
    object->meta.created = *since;
    task->object = std::move(object);
  }
  // What we asked for, and when, is ours to say; the rest is the executor's.
  news.status.started = news.status.started ? news.status.started : status.started;
  news.status.handle = std::move(status.handle);
  news.status.handle_version = status.handle_version;
  if (!news.status.running) news.status.running = status.running;
  if (news.status.state == TaskState::kTerminated) {
    status = std::move(news.status);
    if (!status.finished) status.finished = context_.now;
    Ended(*task);
    return;
  }
  if (task->kill_sent_at) news.status.state = TaskState::kKilling;
  if (news.status.state == TaskState::kRunning) {
    if (!news.status.running) news.status.running = context_.now;
    EnterRunning(*task);
  }
  if (task->stage == TaskStage::kOffered) {
    task->stage = TaskStage::kGoing;
    GoesOn(*task);
  }
  const bool same = status == news.status;
  status = std::move(news.status);
  if (same) return;
  task->progress_dirty = true;
  context_.Enqueue(*task);
  if (task->job) context_.Enqueue(*task->job);
}

// Its Job says so for as long as no other answer comes.
void TaskController::HeldUp(TaskEntry& task, const std::string& why, const std::string& message) {
  task.held_up = std::make_unique<Objection>(Objection{why, message});
  if (!task.job) return;
  task.job->held_up.insert(task.index);
  context_.Enqueue(*task.job);
}

void TaskController::GoesOn(TaskEntry& task) {
  if (!task.held_up) return;
  task.held_up.reset();
  if (task.job) context_.Enqueue(*task.job);
}

void TaskController::On(StartAnswer& answer) {
  TaskEntry* task = context_.model.Task(answer.id);
  if (!task || task->stage != TaskStage::kOffered) return;
  if (answer.accepted) {
    task->stage = TaskStage::kGoing;
    GoesOn(*task);
  } else if (answer.retry) {
    task->stage = TaskStage::kIntended;
    task->not_before = context_.now + std::max(answer.retry_after, kAskAgain);
    HeldUp(*task, answer.reason, answer.message);
  } else {
    task->status.never_retry = true;
    End(*task, TaskResult::kFailed, answer.reason, answer.message);
  }
  context_.Enqueue(*task);
}

void TaskController::On(RecoverAnswer& answer) {
  TaskEntry* task = context_.model.Task(answer.id);
  if (!task) return;
  task->asked = false;
  context_.Enqueue(*task);
  if (answer.recovery == Recovery::kRetryLater || answer.recovery == Recovery::kIncompatible) {
    // Nothing may be concluded from "I cannot tell": the task keeps its state.
    const bool later = answer.recovery == Recovery::kRetryLater;
    const auto pause = later ? std::max(answer.retry_after, kAskAgain)
                             : std::chrono::milliseconds(std::chrono::minutes(10));
    task->not_before = context_.now + pause;
    task->held_up = std::make_unique<Objection>(
        Objection{later ? answer.reason : reason::kStateUnreadable, answer.message});
    task->introduced = false;
    return;
  }
  GoesOn(*task);
  task->not_before.reset();
  if (task->stage != TaskStage::kUnsure) return;  // It ended, and was only to be let go.
  switch (answer.recovery) {
    case Recovery::kAdopted:
      context_.metrics.tasks_adopted.Add();
      task->stage = TaskStage::kGoing;
      if (!task->offered_at) task->offered_at = context_.now;
      return;
    case Recovery::kNotFound:
      if (task->was_running) return Lost(*task, answer);
      if (task->backend_record) return jobs_.PutBack(*task);
      task->stage = TaskStage::kIntended;
      return;
    default:
      return Lost(*task, answer);
  }
}

void TaskController::Lost(TaskEntry& task, const RecoverAnswer& answer) {
  const bool vanished = answer.recovery != Recovery::kLost;
  task.status.rerun_safe = answer.recovery == Recovery::kLost && answer.rerun_safe;
  std::string message = answer.message;
  if (message.empty()) message = "what became of it is not known";
  std::string why = vanished                ? reason::kVanished
                    : answer.reason.empty() ? std::string(reason::kLost)
                                            : answer.reason;
  // An object that somebody took away by force is a failure of the attempt, as it is with Jobs of
  // Kubernetes: another one may follow.
  const bool failed = vanished && task.backend_record;
  End(task, failed ? TaskResult::kFailed : TaskResult::kLost, why, message);
}

void TaskController::On(CheckpointRequest& request) {
  TaskEntry* task = context_.model.Task(request.id);
  // Without a Task there is nothing to keep it in, and the backend's object says all.
  if (!task || IsOver(*task) || task->backend_record) {
    request.ack(false);
    return;
  }
  task->status.handle = std::move(request.handle);
  task->status.handle_version = request.handle_version;
  task->acks.push_back(std::move(request.ack));
  if (!task->write_in_flight) WriteStatus(*task, TaskWrite::kProgress);
}

void TaskController::On(KillAnswer& answer) {
  TaskEntry* task = context_.model.Task(answer.id);
  if (!task || IsOver(*task)) return;
  if (answer.accepted) return GoesOn(*task);
  HeldUp(*task, answer.reason, answer.message);
  task->kill_sent_at.reset();
  task->not_before = context_.now + kAskAgain;
  context_.work.wall.Set(task->ref, *task->not_before);
}

void TaskController::On(ExecutorChange& change) {
  for (const auto& [id, task] : context_.model.tasks()) {
    if (task->kind != change.kind) continue;
    if (change.usable) {
      // Another instance answers from now on, and it has not heard of any task.
      task->introduced = task->asked = false;
      task->kill_sent_at.reset();
      task->immediate_sent = task->force_sent = false;
      if (task->stage == TaskStage::kOffered || task->stage == TaskStage::kGoing) {
        const bool seen = task->backend_record && task->stage == TaskStage::kGoing;
        task->was_running = seen || task->status.running.has_value();
        task->stage = TaskStage::kUnsure;
      }
    }
    context_.Enqueue(*task);
  }
  for (const auto& [id, job] : context_.model.jobs()) {
    if (job->spec.job_template.task_template.kind == change.kind) context_.Enqueue(*job);
  }
}

void TaskController::On(StrayObject& stray) {
  const JobController::Stray verdict = jobs_.Judge(stray);
  if (verdict == JobController::Stray::kKeep) return;
  Executor* executor = context_.executors.Find(stray.kind);
  if (!executor) return;  // It will be told again when there is one.
  context_.log.Info("an object is let go of that no task belongs to", {{"task", stray.task_key}});
  executor->LetGo(stray.task_key, verdict == JobController::Stray::kRemove);
}

}  // namespace detent
