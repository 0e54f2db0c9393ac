// The writing half of the task controller: what of a task is made durable, and what was read back.

#include <utility>

#include "core/api/codec.h"
#include "core/api/labels.h"
#include "core/base/names.h"
#include "core/control/task_controller.h"
#include "core/sched/outcome.h"
#include "core/sched/reason.h"

namespace detent {

void TaskController::WriteStatus(TaskEntry& task, TaskWrite purpose) {
  auto object = CopyOf(task);
  object->status = EncodeTaskStatus(task.status);
  task.write_in_flight = true;
  task.writing = purpose;
  task.progress_dirty = false;
  for (auto& ack : task.acks) task.acks_in_flight.push_back(std::move(ack));
  task.acks.clear();
  context_.Submit(
      {UpdateOf(std::move(object), task.object)},
      [this, id = task.ref.id, purpose](auto result) { WriteDone(id, purpose, result); });
}

void TaskController::ProgressSoon(TaskEntry& task) {
  if (task.backend_record) {
    task.progress_dirty = false;  // Its Job shows it.
    return;
  }
  // Most tasks end before their progress is worth a write of its own.
  if (!task.progress_due) {
    task.progress_due = context_.mono + context_.options.progress_delay;
    context_.work.ticks.SetNoLater(task.ref, *task.progress_due);
  } else if (*task.progress_due <= context_.mono) {
    task.progress_due.reset();
    WriteStatus(task, TaskWrite::kProgress);
  }
}

void TaskController::WriteDone(uint64_t id, TaskWrite purpose, Result<Committed>& result) {
  TaskEntry* task = context_.model.Task(id);
  if (!task) return;
  task->writing = TaskWrite::kNone;
  if (!result) {
    for (auto& ack : task->acks_in_flight) task->acks.push_back(std::move(ack));
    task->acks_in_flight.clear();
    if (purpose == TaskWrite::kIntent) task->status.state = TaskState::kHeld;
    if (Catchup(context_, *task, result.error()) == AfterRefusal::kGone) {
      Gone(task->object);
    } else {
      TakeWishes(*task);
    }
    return;
  }
  for (auto& ack : task->acks_in_flight) ack(true);
  task->acks_in_flight.clear();
  if (Accept(*task, result->objects.front())) TakeWishes(*task);
  Written(*task, purpose);
}

void TaskController::Written(TaskEntry& task, TaskWrite purpose) {
  context_.Enqueue(task);
  switch (purpose) {
    case TaskWrite::kIntent:
      if (task.stage == TaskStage::kHeld) task.stage = TaskStage::kIntended;
      break;
    case TaskWrite::kOutcome:
      task.outcome_stored = true;
      jobs_.TaskEnded(task);
      return;
    case TaskWrite::kDrop:
      task.stage = TaskStage::kGone;
      context_.Drop(task);
      return;
    case TaskWrite::kNone:
    case TaskWrite::kCreate:
    case TaskWrite::kProgress:
      break;
  }
  if (!task.acks.empty() && task.stage < TaskStage::kEnded) WriteStatus(task, TaskWrite::kProgress);
}

void TaskController::Seen(const ObjectPtr& object) {
  TaskEntry* task = context_.model.FindTask(object->key());
  if (!task) return SeenUnknown(object);
  if (object->meta.resource_version <= task->version()) return;
  if (task->write_in_flight) {
    task->seen = object;
    return;
  }
  task->object = object;
  TakeWishes(*task);
}

// Where hosts follow each other on one store, a creation of an earlier one may arrive late. It is
// found when its attempt begins here; one whose attempt is over is let go.
void TaskController::SeenUnknown(const ObjectPtr& object) {
  if (context_.store.atomic() || !HasFinalizer(object->meta, labels::kTaskTracking)) return;
  const auto spec = DecodeTaskSpec(object->spec);
  if (!spec) return;
  const JobEntry* job = context_.model.FindJobByUid(spec->job_uid);
  const bool is_over =
      !job || job->finish_durable || IsRecorded(job->status, spec->index, spec->attempt);
  if (!is_over) return;
  context_.Submit({DeletionOf(object, context_.now, labels::kTaskTracking)}, [](auto) {});
}

// Somebody may have asked for the end of it.
void TaskController::TakeWishes(TaskEntry& task) {
  context_.Enqueue(task);
  if (task.kill_wanted || task.stage >= TaskStage::kEnded) return;
  if (task.object->meta.deleted) {
    task.kill_wanted = true;
    task.kill_reason = reason::kDeleted;
    return;
  }
  const auto spec = DecodeTaskSpec(task.object->spec);
  if (!spec || !spec->kill_timestamp) return;
  if (*spec->kill_timestamp <= context_.now) {
    task.kill_wanted = true;
    task.kill_reason = reason::kKillRequested;
  } else {
    context_.work.wall.SetNoLater(task.ref, *spec->kill_timestamp);
  }
}

// The object is gone although our finalizer was on it: somebody took the finalizer off. What runs
// is ended and recorded all the same; only the record in the Task is lost.
void TaskController::Gone(const ObjectPtr& object) {
  TaskEntry* task = context_.model.FindTask(object->key());
  if (!task) {
    const auto spec = DecodeTaskSpec(object->spec);
    if (!spec) return;
    if (Executor* executor = context_.executors.Find(spec->kind)) {
      executor->Discard(TaskKey(spec->job_uid, spec->index, spec->attempt));
    }
    return;
  }
  if (task->object->meta.uid != object->meta.uid) return;
  task->write_in_flight = false;
  task->writing = TaskWrite::kNone;
  if (task->stage < TaskStage::kEnded) {
    if (Executor* executor = context_.executors.Find(task->kind); executor && task->handed_over) {
      executor->Kill({task->ref.id, true, std::chrono::milliseconds(0), reason::kDeleted});
    }
    End(*task, TaskResult::kKilled, reason::kDeleted, "the Task was removed by force");
  }
  if (!task->outcome_stored) {
    task->outcome_stored = true;
    jobs_.TaskEnded(*task);
  }
  if (task->stage >= TaskStage::kReleased) {
    // Nobody can ask for its output any more.
    if (Executor* executor = context_.executors.Find(task->kind)) executor->Discard(task->key);
    context_.Drop(*task);
    return;
  }
  task->removed = true;
  context_.Enqueue(*task);
}

bool TaskController::TakeBack(const ObjectPtr& object) {
  const auto spec = DecodeTaskSpec(object->spec);
  auto status = DecodeTaskStatus(object->status);
  if (!spec || !status) {
    context_.log.Error("a Task cannot be read", {{"task", ToString(object->key())}});
    return false;
  }
  TaskEntry& task = context_.model.AddTask(object, spec->kind,
                                           TaskKey(spec->job_uid, spec->index, spec->attempt));
  task.spec = MakeSpecText(spec->executor_spec);
  task.index = spec->index;
  task.attempt = spec->attempt;
  task.status = std::move(*status);
  task.job_name = spec->job_name;
  task.handed_over = task.status.state != TaskState::kHeld;
  task.was_running = task.status.running.has_value();
  task.outcome_stored = task.status.state == TaskState::kTerminated;
  task.stage = task.outcome_stored                     ? TaskStage::kEnded
               : task.status.state == TaskState::kHeld ? TaskStage::kHeld
                                                       : TaskStage::kUnsure;
  JobEntry* job = context_.model.FindJob({Kind::kJob, task.object->meta.ns, task.job_name});
  if (job && job->object->meta.uid == spec->job_uid) {
    task.job = job;
    if (task.status.state == TaskState::kRunning) EnterRunning(task);
    jobs_.TakeBack(task);
  } else if (task.stage == TaskStage::kEnded) {
    task.stage = TaskStage::kRecorded;
  } else {
    task.kill_wanted = true;
    task.kill_reason = reason::kDeleted;
  }
  TakeWishes(task);
  return true;
}

}  // namespace detent
