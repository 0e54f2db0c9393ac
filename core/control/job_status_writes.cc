// The writing half of the job controller: when a Job's status is stored, and what follows from it.

#include <algorithm>
#include <utility>

#include "core/api/codec.h"
#include "core/api/labels.h"
#include "core/base/limits.h"
#include "core/control/job_controller.h"
#include "core/sched/outcome.h"
#include "core/sched/reason.h"
#include "core/store/write_rules.h"

namespace detent {
namespace {

// Every attempt that was begun has ended in exactly one way, or is in hand.
int64_t CreatedTasks(const JobEntry& job) {
  int64_t count = static_cast<int64_t>(job.tasks.size()) + job.status.succeeded_indexes.count();
  for (const auto& [attempt, indexes] : job.status.failed_attempts) count += indexes.count();
  for (const auto& [attempt, indexes] : job.status.uncounted_attempts) count += indexes.count();
  return count;
}

}  // namespace

bool JobController::StatusIsDue(JobEntry& job) {
  if (!job.dirty || job.write_in_flight) return false;
  if (job.urgent || int64_t(job.to_record.size()) >= limits::kOutcomesPerStatusWrite) return true;
  if (!job.written_at) return true;
  const MonoTime due = *job.written_at + context_.options.status_interval;
  if (due <= context_.mono) return true;
  context_.work.ticks.SetNoLater(job.ref, due);
  return false;
}

std::shared_ptr<Object> JobController::StatusObject(JobEntry& job) {
  job.status.active.clear();
  for (const auto& [index, task] : job.tasks) {
    if (job.status.active.size() >= limits::kStatusTaskRecords) break;
    job.status.active.push_back(RecordOf(*task));
  }
  job.status.active_tasks = static_cast<int64_t>(job.tasks.size());
  job.status.active_indexes = {};
  for (const auto& [index, task] : job.tasks) {
    // What was seen once stays so while it is being looked for.
    const bool seen = task->stage == TaskStage::kGoing ||
                      (task->stage == TaskStage::kUnsure && task->was_running);
    if (task->backend_record && seen) job.status.active_indexes.Insert(index);
  }
  job.status.created_tasks = CreatedTasks(job);
  auto object = CopyOf(job);
  if (job.status.finished) {
    job.status.running_tasks = 0;
    RemoveFinalizer(object->meta, labels::kDeleteDependents);
  }
  object->status = EncodeJobStatus(job.status);
  return object;
}

// Of the attempts in hand that their executor would not take when it last answered; null: none.
const TaskEntry* JobController::FirstHeldUp(JobEntry& job) {
  while (!job.held_up.empty()) {
    const auto task = job.tasks.find(*job.held_up.begin());
    const bool says_why =
        task != job.tasks.end() && task->second->held_up && !task->second->held_up->reason.empty();
    if (says_why) return task->second;
    job.held_up.erase(job.held_up.begin());
  }
  return nullptr;
}

void JobController::SubmitWithStatus(JobEntry& job, Gathered gathered) {
  if (!context_.store.atomic()) SubmitCreates(job, std::exchange(gathered, {}));
  Transaction transaction;
  if (job.wish) {
    transaction.push_back({WriteOp::kCreate, StatusObject(job), 0, nullptr});
  } else {
    transaction.push_back(UpdateOf(StatusObject(job), job.object));
  }
  for (Write& create : gathered.creates) transaction.push_back(std::move(create));
  job.write_in_flight = true;
  job.writing_start = job.status.started.has_value();
  job.writing_finish = job.status.finished.has_value();
  job.writing_reserved = job.status.reserved_indexes;
  job.dirty = job.urgent = false;
  job.written_at = context_.mono;
  job.recording.insert(job.recording.end(), job.to_record.begin(), job.to_record.end());
  job.to_record.clear();
  context_.Submit(std::move(transaction), [this, id = job.ref.id,
                                           ids = std::move(gathered.task_ids)](auto result) {
    const JobEntry* written = context_.model.Job(id);
    if (!result && written && written->wish) return CreateAlone(id, ids);
    // The Job's own object is the first; the others are its new tasks.
    Result<Committed> tasks = result;
    if (tasks) tasks->objects.erase(tasks->objects.begin());
    const bool name_taken = !result && result.error().code() == Code::kAlreadyExists;
    CreatesDone(id, ids, tasks);
    if (name_taken) {
      // The status was not at fault: it is written again, without the creations.
      JobEntry* entry = context_.model.Job(id);
      if (!entry) return;
      entry->write_in_flight = false;
      entry->dirty = entry->urgent = true;
      return context_.Enqueue(*entry);
    }
    StatusDone(id, result);
  });
}

void JobController::SubmitCreates(JobEntry& job, Gathered gathered) {
  if (context_.store.atomic()) {
    return SubmitCreation(job, std::move(gathered.creates), std::move(gathered.task_ids));
  }
  // One by one, so that each has an answer of its own.
  for (size_t i = 0; i < gathered.task_ids.size(); ++i) {
    Transaction one;
    one.push_back(std::move(gathered.creates[i]));
    SubmitCreation(job, std::move(one), {gathered.task_ids[i]});
  }
}

void JobController::SubmitCreation(JobEntry& job, Transaction creates,
                                   std::vector<uint64_t> task_ids) {
  context_.Submit(std::move(creates), [this, id = job.ref.id, ids = std::move(task_ids)](
                                          auto result) { CreatesDone(id, ids, result); });
}

void JobController::StatusDone(uint64_t id, Result<Committed>& result) {
  JobEntry* job = context_.model.Job(id);
  if (!job) return;
  if (!result) {
    job->to_record.insert(job->to_record.begin(), job->recording.begin(), job->recording.end());
    job->recording.clear();
    job->dirty = job->urgent = true;
    if (Catchup(context_, *job, result.error()) == AfterRefusal::kGone) {
      Gone(job->object);
    } else {
      TakeNewer(*job);
    }
    return;
  }
  const bool newer = Accept(*job, result->objects.front());
  NoteDurable(*job);
  for (TaskEntry* task : job->recording) {
    if (task->backend_record) RetryAfter(*job, *task);
    task->stage = TaskStage::kRecorded;
    task->job = nullptr;
    context_.Enqueue(*task);
  }
  job->recording.clear();
  if (newer) TakeNewer(*job);
  if (job->writing_finish && job->config) {
    // Only now: while its end is not durable, it still stands in the way of a sibling under Forbid.
    job->config->unfinished.erase({job->object->meta.created, job});
    context_.Enqueue(*job->config);
    job->config = nullptr;  // It may go while the finished Job lives on.
  }
  if (job->status.finished && !job->dirty) Shrink(*job);
  context_.Enqueue(*job);
}

// What was decided while the write was in flight is not durable yet.
void JobController::NoteDurable(JobEntry& job) {
  if (job.writing_start && !std::exchange(job.start_durable, true)) {
    context_.metrics.jobs_started.Add();
  }
  job.reserved_durable = std::max(job.reserved_durable, job.writing_reserved);
  if (job.writing_finish && !std::exchange(job.finish_durable, true)) {
    context_.metrics.jobs_finished.Add();
  }
  if (const auto wish = std::move(job.wish)) {
    std::exchange(wish->done, nullptr)(Committed{{job.object}});
  }
}

void JobController::CreatesDone(uint64_t job_id, const std::vector<uint64_t>& ids,
                                Result<Committed>& result) {
  for (size_t i = 0; i < ids.size(); ++i) {
    TaskEntry* task = context_.model.Task(ids[i]);
    if (!task) continue;
    if (!result) {
      CreateRefused(*task, result.error());
      continue;
    }
    Accept(*task, result->objects[i]);
    task->writing = TaskWrite::kNone;
    task->stage = task->status.state == TaskState::kHeld ? TaskStage::kHeld : TaskStage::kIntended;
    context_.Enqueue(*task);
  }
  if (JobEntry* job = context_.model.Job(job_id)) context_.Enqueue(*job);
}

// The whole transaction is refused, be it for one name only. So each attempt is undone and planned
// anew, but the one whose name is taken: that one can never be created.
void JobController::CreateRefused(TaskEntry& task, const Error& error) {
  if (error.code() == Code::kAlreadyExists) {
    const auto stored = context_.store.Read(task.object->key());
    if (stored && !IsSameCreation(**stored, *task.object)) {
      EndWithNameTaken(task);
      return;
    }
  } else if (error.code() != Code::kConflict && error.code() != Code::kNotFound) {
    context_.log.Error("store refused new tasks", {{"error", error.message()}});
    if (task.job) {
      task.job->retry_write_at = context_.mono + context_.options.store_retry;
      context_.work.ticks.SetNoLater(task.job->ref, *task.job->retry_write_at);
    }
  }
  PutBack(task);
}

void JobController::EndWithNameTaken(TaskEntry& task) {
  task.status.state = TaskState::kTerminated;
  task.status.result = TaskResult::kFailed;
  task.status.reason = reason::kNameTaken;
  task.status.message = "the name " + task.object->meta.name + " belongs to another Task";
  task.status.never_retry = true;
  task.status.finished = context_.now;
  if (task.job) {
    const Outcome outcome{task.index, task.attempt, OutcomeKind::kFailedForGood};
    RecordOutcome(task.job->status, task.job->spec.job_template, outcome);
    KeepRecord(task.job->status, RecordOf(task));
    task.job->dirty = true;
    context_.Enqueue(*task.job);
  }
  // It was never stored and no executor heard of it: nothing has to be let go.
  context_.Drop(task);
}

// It goes out of hand, and is begun again when its time has come.
void JobController::PutBack(TaskEntry& task) {
  JobEntry* job = task.job;
  Executor* executor = context_.executors.Find(task.kind);
  if (executor && task.introduced) executor->Release(task.ref.id);  // It never ran.
  if (job && !job->status.finished) {
    job->retries.insert({RetryTime(*job, task.index), task.index});
    context_.Enqueue(*job);
  }
  context_.Drop(task);
}

// A finished Job is kept for its time to live only: what its work needed can go.
void JobController::Shrink(JobEntry& job) {
  job.spec_template.reset();
  job.spec.job_template.task_template.spec = {};
  job.status.active = {};
  job.status.failed = {};
  job.status.succeeded = {};
  auto slim = std::make_shared<Object>(*job.object);
  slim->spec = {};
  slim->status = {};
  if (!job.object->meta.deleted) job.object = std::move(slim);
}

}  // namespace detent
