// The part of the job controller for executors whose own objects are the record (Pods and the
// like): no Task is stored, so a restart has to find out what was begun from the Job alone.
//
// The identity of an attempt is deterministic, and an object keeps the host's finalizer until its
// outcome is durable in the Job. So it is enough to know which attempts may have been begun: those
// at indexes below a reservation that is made durable ahead of use. Each of them is asked about
// after a restart. Source: KEP-2307, whose lists of UIDs are not needed for this reason.

#include <algorithm>
#include <charconv>
#include <utility>

#include "core/base/names.h"
#include "core/control/job_controller.h"
#include "core/sched/outcome.h"
#include "core/sched/reason.h"

namespace detent {
namespace {

// Far more than begin within one status interval, so that reserving rides on writes that are made
// anyway; few enough to ask about after a restart.
constexpr int64_t kReserveAhead = 1024;

struct ParsedKey {
  std::string job_uid;
  AttemptRef ref;
};

std::optional<ParsedKey> ParseTaskKey(const std::string& key) {
  const size_t attempt_at = key.rfind('/');
  const size_t index_at =
      attempt_at == std::string::npos ? attempt_at : key.rfind('/', attempt_at - 1);
  if (index_at == std::string::npos || index_at == 0) return std::nullopt;
  const auto number = [&](size_t from, size_t to, int64_t& out) {
    const auto [end, failed] = std::from_chars(key.data() + from, key.data() + to, out);
    return failed == std::errc() && end == key.data() + to;
  };
  ParsedKey parsed;
  parsed.job_uid = key.substr(0, index_at);
  if (!number(index_at + 1, attempt_at, parsed.ref.index)) return std::nullopt;
  if (!number(attempt_at + 1, key.size(), parsed.ref.attempt)) return std::nullopt;
  return parsed;
}

}  // namespace

bool JobController::MayBeginNew(const JobEntry& job) const {
  const int64_t count = job.spec.job_template.index_count();
  return job.next_index < (job.backend_record ? std::min(count, job.reserved_durable) : count);
}

void JobController::Reserve(JobEntry& job) {
  const int64_t count = job.spec.job_template.index_count();
  int64_t& reserved = job.status.reserved_indexes;
  if (reserved < count && job.next_index + kReserveAhead > reserved) {
    reserved = std::min(count, job.next_index + 2 * kReserveAhead);
    job.dirty = true;
  }
  // Where nothing new can begin without it, it does not wait for a write that is made anyway.
  if (job.next_index >= job.reserved_durable && reserved > job.reserved_durable) job.urgent = true;
}

void JobController::TakeBackFromBackend(JobEntry& job) {
  job.next_index = job.status.reserved_indexes;
  if (!CompileTemplate(job)) return;
  for (int64_t index = 0; index < job.next_index; ++index) {
    if (IsDecided(job.status, index)) continue;
    TaskEntry* task = AddAttempt(job, index).entry;
    if (!task) continue;
    task->status.state = TaskState::kStarting;
    task->stage = TaskStage::kUnsure;
    task->handed_over = true;
    task->was_running = job.status.active_indexes.Contains(index);
    context_.Enqueue(*task);
  }
}

// All that is kept of a task that is not stored: there may be as many as there are pods.
Result<NewTask> JobController::MakeIdentity(const TaskFactory& factory, AttemptRef ref) const {
  NewTask made;
  made.executor_spec = TRY(factory.Render(ref));
  made.object = std::make_shared<Object>();
  made.object->kind = Kind::kTask;
  made.object->spec = {};
  ObjectMeta& meta = made.object->meta;
  meta.name = TaskName(factory.job.name, factory.job.uid, ref.index, ref.attempt);
  meta.ns = factory.job.ns;
  meta.created = context_.now;
  return made;
}

SpecText JobController::SpecOf(const TaskEntry& task) const {
  const bool is_kept = task.spec || !task.job || !task.job->spec_template;
  if (is_kept) return task.spec;
  const TaskFactory factory{task.job->object->meta, task.job->spec, *task.job->spec_template};
  auto rendered = factory.Render({task.index, task.attempt});
  return rendered ? *std::move(rendered) : SpecText();
}

JobController::Stray JobController::Judge(const StrayObject& stray) {
  if (context_.model.FindTaskByKey(stray.task_key)) return Stray::kKeep;
  const auto key = ParseTaskKey(stray.task_key);
  if (!key) return Stray::kKeep;  // The marks are ours and their value is not: for a person to see.
  const auto [index, attempt] = key->ref;
  const JobEntry* job = context_.model.FindJobByUid(key->job_uid);
  if (!job) return Stray::kRemove;
  if (IsRecorded(job->status, index, attempt)) return Stray::kLetGo;
  return job->finish_durable ? Stray::kRemove : Stray::kKeep;
}

}  // namespace detent
