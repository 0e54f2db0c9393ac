#include "core/control/job_controller.h"

#include <algorithm>
#include <utility>

#include "core/api/codec.h"
#include "core/api/labels.h"
#include "core/base/limits.h"
#include "core/base/names.h"
#include "core/control/task_factory.h"
#include "core/sched/outcome.h"
#include "core/sched/reason.h"

namespace detent {
namespace {

// Attempts begun in one go: small enough that the first are on their way while the rest are made.
constexpr int64_t kBatch = 256;

int64_t StartedJobs(const ConfigEntry& config) {
  return std::count_if(config.unfinished.begin(), config.unfinished.end(),
                       [](const auto& entry) { return entry.second->status.started.has_value(); });
}

bool Uncounted(const JobStatus& status, int64_t index, int64_t attempt) {
  const auto found = status.uncounted_attempts.find(attempt);
  return found != status.uncounted_attempts.end() && found->second.Contains(index);
}

template <typename... Fs>
struct Overloaded : Fs... {
  using Fs::operator()...;
};
template <typename... Fs>
Overloaded(Fs...) -> Overloaded<Fs...>;

}  // namespace

void EnterRunning(TaskEntry& task) {
  if (!task.counted_running && task.job) ++task.job->running;
  task.counted_running = true;
}

void LeaveRunning(TaskEntry& task) {
  if (task.counted_running && task.job) --task.job->running;
  task.counted_running = false;
}

TaskRecord RecordOf(const TaskEntry& task) {
  TaskRecord record;
  record.name = task.object->meta.name;
  record.index = task.index;
  record.attempt = task.attempt;
  record.state = task.status.state;
  record.result = task.status.result;
  record.reason = task.status.reason;
  record.message = task.status.message;
  record.exit_code = task.status.exit_code;
  record.created = task.object->meta.created;
  record.running = task.status.running;
  record.finished = task.status.finished;
  return record;
}

void JobController::Seen(const ObjectPtr& object) {
  JobEntry* job = context_.model.FindJob(object->key());
  if (!job) {
    Add(object);
    return;
  }
  if (object->meta.resource_version <= job->version()) return;
  if (job->write_in_flight || job->wish) {
    job->seen = object;
    return;
  }
  job->object = object;
  TakeNewer(*job);
}

JobEntry& JobController::Add(const ObjectPtr& object) {
  JobEntry& added = context_.model.AddJob(object);
  added.seen_at = context_.now;
  Read(added);
  LinkConfig(added);
  context_.Enqueue(added);
  return added;
}

void JobController::Gone(const ObjectPtr& object) {
  JobEntry* job = context_.model.FindJob(object->key());
  if (!job) return;
  if (job->seen && job->seen->meta.uid == object->meta.uid) job->seen = nullptr;
  if (job->object->meta.uid != object->meta.uid) return;
  // Whoever took the Job away by force leaves tasks behind: they are ended all the same.
  for (const auto& [index, task] : job->tasks) {
    task->kill_wanted = true;
    task->kill_reason = reason::kDeleted;
    task->spec = SpecOf(*task);  // Whatever is still asked about it, the Job cannot tell any more.
  }
  for (const auto* list : {&job->to_record, &job->recording}) {
    for (TaskEntry* task : *list) task->stage = TaskStage::kRecorded;
  }
  for (const auto& [index, task] : job->tasks) context_.Enqueue(*task);
  for (const auto* list : {&job->to_record, &job->recording}) {
    for (TaskEntry* task : *list) context_.Enqueue(*task);
  }
  if (job->config) context_.Enqueue(*job->config);
  context_.Drop(*job);
}

void JobController::Read(JobEntry& job) {
  auto status = DecodeJobStatus(job.object->status);
  if (status) job.status = std::move(*status);
  job.start_durable = job.status.started.has_value();
  job.finish_durable = job.status.finished.has_value();
  auto spec = DecodeJobSpec(job.object->spec);
  if (!spec) {
    job.status.reason = reason::kInvalidSpec;
    job.status.message = spec.error().message();
    return;
  }
  job.spec = std::move(*spec);
  job.next_index = 0;
  job.backend_record = job.status.reserved_indexes > 0;
  job.reserved_durable = job.status.reserved_indexes;
}

// Somebody else changed the object: its metadata and spec are theirs, its status stays ours.
void JobController::TakeNewer(JobEntry& job) {
  auto spec = DecodeJobSpec(job.object->spec);
  if (spec) job.spec = std::move(*spec);
  job.dirty = job.dirty || !job.status.finished;
  context_.Enqueue(job);
}

JobView JobController::View(const JobEntry& job) const {
  JobView view;
  view.spec = &job.spec;
  view.status = &job.status;
  view.deleting = job.object->meta.deleted.has_value();
  view.has_finalizer = HasFinalizer(job.object->meta, labels::kDeleteDependents);
  view.tasks_in_hand = static_cast<int64_t>(job.tasks.size());
  view.indexes_not_begun = job.spec.job_template.index_count() - job.next_index;
  if (!job.retries.empty()) {
    view.next_retry = job.retries.begin()->first;
    for (const auto& [when, index] : job.retries) {
      // More than one batch at a time is of no interest.
      if (when > context_.now || view.retries_due > kBatch) break;
      ++view.retries_due;
    }
  }
  if (job.config) {
    view.job_config = job.config->object->meta.name;
    view.config_policy = job.config->policy;
    view.config_max = job.config->max_concurrency;
    // Only admission asks, so that a Job that is going does not pay for its siblings.
    if (!job.status.started) view.config_started = StartedJobs(*job.config);
  } else if (!job.status.started) {
    const OwnerReference* owner = ControllerOf(job.object->meta);
    view.owner_gone = owner && owner->api_version == kGroupVersion && owner->kind == "JobConfig";
  }
  const std::string& kind = job.spec.job_template.task_template.kind;
  view.room = context_.RoomFor(kind);
  view.executor_usable = context_.executors.Find(kind) != nullptr;
  view.default_ttl = context_.options.default_ttl;
  return view;
}

void JobController::Reconcile(JobEntry& job) {
  if (job.retry_write_at && *job.retry_write_at > context_.mono) {
    context_.work.ticks.SetNoLater(job.ref, *job.retry_write_at);
    return;
  }
  if (IsRaw(job) && !Adopt(job)) return;
  if (context_.options.raw_objects && !job.config) LinkConfig(job);
  if (job.status.reason == reason::kInvalidSpec && !job.status.finished &&
      job.spec.job_template.task_template.kind.empty()) {
    return;
  }
  Gathered gathered;
  JobPlan plan = PlanJob(View(job), context_.now);
  const bool admits =
      !plan.actions.empty() && std::holds_alternative<struct Admit>(plan.actions[0]);
  Apply(job, plan, gathered);
  if (admits && job.status.started) {
    // The start and the first attempts are one transaction: one fsync less before the work begins.
    plan = PlanJob(View(job), context_.now);
    Apply(job, plan, gathered);
  }
  if (plan.wake) context_.work.wall.Set(job.ref, *plan.wake);
  UpdatePhase(job, plan);
  QueueForRoom(job);
  if (StatusIsDue(job)) {
    SubmitWithStatus(job, std::move(gathered));
  } else if (!gathered.creates.empty()) {
    SubmitCreates(job, std::move(gathered));
  }
}

void JobController::Apply(JobEntry& job, JobPlan& plan, Gathered& gathered) {
  for (JobAction& action : plan.actions) {
    std::visit(Overloaded{
                   [&](struct Admit&) { Admit(job); },
                   [&](RejectJob& reject) {
                     Finish(job, {JobPhase::kAdmissionError, reject.reason, reject.message});
                   },
                   [&](BeginAttempts& begin) { Begin(job, begin.most, gathered); },
                   [&](KillTasks& kill) { KillAll(job, kill.reason); },
                   [&](FinishJob& finish) { Finish(job, finish); },
                   [&](DeleteJob&) { Delete(job); },
                   [&](DropFinalizer&) { Delete(job); },
               },
               action);
  }
}

void JobController::Admit(JobEntry& job) {
  if (!CompileTemplate(job)) return;
  job.status.started = context_.now;
  job.status.indexes = job.spec.job_template.index_count();
  job.backend_record = context_.executors.BackendIsRecord(job.spec.job_template.task_template.kind);
  if (job.backend_record) Reserve(job);
  job.dirty = job.urgent = true;
  if (job.config) context_.Enqueue(*job.config);
}

// False: it cannot be read, and the Job has failed with that.
bool JobController::CompileTemplate(JobEntry& job) {
  if (job.spec_template) return true;
  auto compiled = SpecTemplate::Compile(job.spec.job_template.task_template.spec);
  if (!compiled) {
    Finish(job, {JobPhase::kFailed, reason::kInvalidSpec, compiled.error().message()});
    return false;
  }
  job.spec_template = std::make_unique<SpecTemplate>(std::move(*compiled));
  return true;
}

void JobController::Begin(JobEntry& job, int64_t most, Gathered& gathered) {
  // While the start is being made durable in another transaction, no attempt may outrun it.
  const bool alone = job.backend_record || !context_.store.atomic();
  if (!job.start_durable && (job.write_in_flight || alone)) return;
  if (!CompileTemplate(job)) return;
  const auto retry_is_due = [&] {
    return !job.retries.empty() && job.retries.begin()->first <= context_.now;
  };
  for (int64_t left = std::min(most, kBatch); left > 0; --left) {
    if (retry_is_due()) {
      const int64_t index = job.retries.begin()->second;
      job.retries.erase(job.retries.begin());
      BeginIndex(job, index, gathered);
    } else if (MayBeginNew(job)) {
      BeginIndex(job, job.next_index++, gathered);
    }
  }
  if (job.backend_record) Reserve(job);
  if (most > kBatch && (retry_is_due() || MayBeginNew(job))) context_.Enqueue(job);
}

void JobController::BeginIndex(JobEntry& job, int64_t index, Gathered& gathered) {
  NewAttempt made = AddAttempt(job, index);
  if (!made.entry) return;
  TaskEntry& task = *made.entry;
  if (job.backend_record) {
    task.stage = TaskStage::kHeld;  // Nothing of it is stored: it goes on at once.
    context_.Enqueue(task);
    return;
  }
  task.write_in_flight = true;
  task.writing = TaskWrite::kCreate;
  gathered.creates.push_back({WriteOp::kCreate, std::move(made.object), 0, nullptr});
  gathered.task_ids.push_back(task.ref.id);
}

JobController::NewAttempt JobController::AddAttempt(JobEntry& job, int64_t index) {
  const AttemptRef ref{index, NextAttempt(job.status, index)};
  const std::string& kind = job.spec.job_template.task_template.kind;
  const bool held = job.backend_record || context_.executors.Find(kind) == nullptr;
  const TaskState state = held ? TaskState::kHeld : TaskState::kStarting;
  const TaskFactory factory{job.object->meta, job.spec, *job.spec_template};
  auto made =
      job.backend_record ? MakeIdentity(factory, ref) : factory.Make(ref, state, context_.now);
  if (!made) {
    EndUnfillable(job, ref, made.error());
    return {};
  }
  std::string key = TaskKey(job.object->meta.uid, index, ref.attempt);
  TaskEntry& task = job.backend_record
                        ? context_.model.AddBackendTask(made->object, kind, std::move(key))
                        : context_.model.AddTask(made->object, kind, std::move(key));
  task.job = &job;
  task.job_name = job.object->meta.name;
  task.index = index;
  task.attempt = ref.attempt;
  task.status.state = state;
  if (!job.backend_record) task.spec = std::move(made->executor_spec);
  job.tasks[index] = &task;
  job.dirty = true;
  return {&task, std::move(made->object)};
}

void JobController::EndUnfillable(JobEntry& job, AttemptRef ref, const Error& error) {
  TaskRecord record;
  record.name = TaskName(job.object->meta.name, job.object->meta.uid, ref.index, ref.attempt);
  record.index = ref.index;
  record.attempt = ref.attempt;
  record.state = TaskState::kTerminated;
  record.result = TaskResult::kFailed;
  record.reason = reason::kInvalidSpec;
  record.message = error.message();
  record.created = context_.now;
  record.finished = context_.now;
  RecordOutcome(job.status, job.spec.job_template,
                {ref.index, ref.attempt, OutcomeKind::kFailedForGood});
  KeepRecord(job.status, std::move(record));
  job.dirty = true;
  context_.Enqueue(job);
}

void JobController::KillAll(JobEntry& job, const std::string& why) {
  for (const auto& [index, task] : job.tasks) {
    if (task->kill_wanted) continue;
    task->kill_wanted = true;
    task->kill_reason = why;
    context_.Enqueue(*task);
  }
}

void JobController::Finish(JobEntry& job, const FinishJob& finish) {
  job.status.phase = finish.phase;
  job.status.reason = finish.reason;
  job.status.message = finish.message;
  job.status.finished = context_.now;
  job.dirty = job.urgent = true;
  job.retries.clear();
  context_.Enqueue(job);
}

// Deletes a finished Job, or lets one go that is being deleted. What we keep of a finished Job is
// slim, so the whole object is read back first.
void JobController::Delete(JobEntry& job) {
  if (job.write_in_flight || job.dirty) return;
  const auto stored = context_.store.Read(job.object->key());
  if (!stored) {
    // Gone already, and the change that says so is on its way; or the store cannot say.
    if (stored.error().code() != Code::kNotFound) {
      job.retry_write_at = context_.mono + context_.options.store_retry;
      context_.work.ticks.SetNoLater(job.ref, *job.retry_write_at);
    }
    return;
  }
  job.object = *stored;
  job.write_in_flight = true;
  context_.Submit({DeletionOf(*stored, context_.now, labels::kDeleteDependents)},
                  [this, id = job.ref.id](auto result) { StatusDone(id, result); });
}

void JobController::QueueForRoom(const JobEntry& job) {
  const std::string& kind = job.spec.job_template.task_template.kind;
  const JobView view = View(job);
  const bool wants = job.status.started && !job.status.finished && !view.deleting &&
                     view.indexes_not_begun + view.retries_due > 0;
  if (wants && view.room <= 0) context_.model.WaitForRoom(kind, job.ref);
  context_.OfferRoom(kind);
}

void JobController::UpdatePhase(JobEntry& job, const JobPlan& plan) {
  if (job.status.finished) return;
  const JobView view = View(job);
  if (std::exchange(job.status.active_tasks, view.tasks_in_hand) != view.tasks_in_hand ||
      std::exchange(job.status.running_tasks, job.running) != job.running) {
    job.dirty = true;  // People watch a Job by these.
  }
  std::string why = plan.reason;
  std::string message = plan.message;
  const std::string& kind = job.spec.job_template.task_template.kind;
  if (job.status.started && !view.executor_usable) {
    why = reason::kExecutorUnavailable;
    message = reason::ExecutorUnavailableMessage(kind, context_.executors.WhyNot(kind).second);
  } else if (job.status.started && why.empty() && view.room <= 0 &&
             view.indexes_not_begun + view.retries_due > 0) {
    why = reason::kTaskLimit;
    message = reason::TaskLimitMessage(kind, context_.LimitOf(kind));
  } else if (const TaskEntry* task = FirstHeldUp(job); task && why.empty()) {
    why = task->held_up->reason;
    message = task->held_up->message;
  }
  const JobPhase phase = DerivePhase(view, context_.now);
  if (phase != job.status.phase || why != job.status.reason || message != job.status.message) {
    job.dirty = true;
  }
  job.status.phase = phase;
  job.status.reason = std::move(why);
  job.status.message = std::move(message);
}

void JobController::TaskEnded(TaskEntry& task) {
  if (std::exchange(task.told_job, true)) return;
  JobEntry* job = task.job;
  if (!job) {
    task.stage = TaskStage::kRecorded;
    context_.Enqueue(task);
    return;
  }
  const auto live = job->tasks.find(task.index);
  if (live != job->tasks.end() && live->second == &task) job->tasks.erase(live);
  LeaveRunning(task);
  const Outcome outcome{task.index, task.attempt, JudgeTask(task.status)};
  const bool is_new = RecordOutcome(job->status, job->spec.job_template, outcome);
  KeepRecord(job->status, RecordOf(task));
  // Where no Task is stored the Job alone knows of this end: it must be durable before the next
  // attempt begins, or after a crash nobody would look for what that one left outside.
  if (is_new && !task.backend_record) RetryAfter(*job, task);
  job->to_record.push_back(&task);
  job->dirty = true;
  context_.Enqueue(*job);
}

// The index of an attempt that has ended waits for its next, if there is to be one.
void JobController::RetryAfter(JobEntry& job, const TaskEntry& ended) {
  if (job.status.finished || IsDecided(job.status, ended.index)) return;
  // Where it ended is another clock, which may be ahead of ours.
  const WallTime end = std::min(ended.status.finished.value_or(context_.now), context_.now);
  const bool at_once = JudgeTask(ended.status) == OutcomeKind::kUncounted;
  const std::chrono::seconds delay(job.spec.job_template.retry_delay_seconds);
  job.retries.insert({at_once ? context_.now : end + delay, ended.index});
}

// When the next attempt at an index is due, from what the status says of the last.
WallTime JobController::RetryTime(const JobEntry& job, int64_t index) const {
  const auto record =
      std::find_if(job.status.failed.rbegin(), job.status.failed.rend(),
                   [&](const TaskRecord& r) { return r.index == index && r.finished; });
  // An attempt that did not count is repeated at once, as it would have been without the restart.
  const bool waits =
      record != job.status.failed.rend() && !Uncounted(job.status, index, record->attempt);
  const std::chrono::seconds delay(job.spec.job_template.retry_delay_seconds);
  return waits ? std::min(*record->finished, context_.now) + delay : context_.now;
}

void JobController::TakeBack(TaskEntry& task) {
  JobEntry* job = task.job;
  if (task.stage == TaskStage::kEnded) {
    TaskEnded(task);
  } else {
    job->tasks[task.index] = &task;
    if (!job->status.finished) return;
    task.kill_wanted = true;
    task.kill_reason = reason::kOtherIndexFailed;
  }
}

void JobController::FinishTakingBack(JobEntry& job) {
  if (job.status.finished || !job.status.started) return;
  if (job.backend_record) return TakeBackFromBackend(job);
  int64_t begun = job.tasks.empty() ? 0 : job.tasks.rbegin()->first + 1;
  begun = std::max({begun, job.status.succeeded_indexes.last() + 1});
  for (const auto* attempts : {&job.status.failed_attempts, &job.status.uncounted_attempts}) {
    for (const auto& [attempt, indexes] : *attempts) begun = std::max(begun, indexes.last() + 1);
  }
  job.next_index = begun;
  // Of an index whose attempts all ended before their Job knew, only the newest says what is next;
  // and that next attempt may be in hand, or have ended, already.
  std::map<int64_t, WallTime> waiting;
  for (const auto& [when, index] : job.retries) {
    if (job.tasks.contains(index) || IsDecided(job.status, index)) continue;
    waiting[index] = when;
  }
  job.retries.clear();
  for (const auto& [index, when] : waiting) job.retries.insert({when, index});
  for (int64_t index = 0; index < begun; ++index) {
    if (job.tasks.contains(index) || IsDecided(job.status, index) || waiting.contains(index)) {
      continue;
    }
    job.retries.insert({RetryTime(job, index), index});
  }
}

}  // namespace detent
