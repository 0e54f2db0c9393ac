#include "tests/sim/checkers.h"

#include <algorithm>

#include "core/api/codec.h"
#include "core/api/labels.h"
#include "core/base/names.h"
#include "core/sched/outcome.h"

namespace detent {

void Checkers::Breach(const std::string& what) {
  if (breach_.empty()) breach_ = what;
}

void Checkers::Saw(const Change& change) {
  if (change.object->kind == Kind::kJobConfig) {
    const auto spec = DecodeJobConfigSpec(change.object->spec);
    if (spec && spec->policy == ConcurrencyPolicy::kForbid) {
      forbid_max_[change.object->meta.uid] = spec->max_concurrency;
    }
    const auto status = DecodeJobConfigStatus(change.object->status);
    const auto& skipped = status ? status->last_skipped : std::nullopt;
    if (skipped && slots_.contains(change.object->meta.uid + "/" + FormatTime(skipped->slot))) {
      Breach("said to be skipped, and ran: " + FormatTime(skipped->slot));
    }
  } else if (change.object->kind == Kind::kJob) {
    SawJob(change);
  } else {
    SawTask(change);
  }
}

void Checkers::Acknowledged(const Object& object) {
  if (object.kind != Kind::kJob) return;
  const auto seen = jobs_.find(object.meta.uid);
  if (seen == jobs_.end()) Breach("acknowledged before it was stored: " + object.meta.name);
}

void Checkers::SawJob(const Change& change) {
  const Object& job = *change.object;
  const OwnerReference* owner = ControllerOf(job.meta);
  const std::string config_uid = owner ? owner->uid : "";
  if (change.type == ChangeType::kAdded) {
    if (const auto slot = job.meta.annotations.find(labels::kSlot);
        slot != job.meta.annotations.end()) {
      if (!slots_.insert(config_uid + "/" + slot->second).second) {
        Breach("a slot ran twice: " + job.meta.name);
      }
    }
  }
  SeenJob& seen = jobs_[job.meta.uid];
  seen.config_uid = config_uid;
  const auto status = DecodeJobStatus(job.status);
  if (!status) return Breach("a Job's status cannot be read: " + job.meta.name);
  if (seen.finished && !status->finished) Breach("a finished Job began again: " + job.meta.name);
  if (!seen.finished && status->finished) ++jobs_finished_;
  seen.started = status->started.has_value();
  seen.finished = status->finished.has_value() || change.type == ChangeType::kDeleted;
  if (status->phase == JobPhase::kAdmissionError) seen.started = false;
  seen.gone = change.type == ChangeType::kDeleted;
  seen.status = *status;
  CheckStatus(job);
  CheckForbid(job);
}

void Checkers::CheckStatus(const Object& job) {
  const auto status = DecodeJobStatus(job.status);
  const auto spec = DecodeJobSpec(job.spec);
  // What nobody has judged yet may say anything.
  if (!status || !spec || spec->job_template.max_attempts < 0) return;
  for (int64_t index = 0; index < spec->job_template.index_count(); ++index) {
    if (CountedFailures(*status, index) > spec->job_template.max_attempts) {
      Breach("more failed attempts than allowed: " + job.meta.name);
    }
  }
  if (status->phase == JobPhase::kSucceeded &&
      status->succeeded_indexes.count() != spec->job_template.index_count()) {
    Breach("succeeded without all indexes: " + job.meta.name);
  }
  if (status->finished && status->active_tasks > 0) {
    Breach("finished with active tasks: " + job.meta.name);
  }
}

void Checkers::CheckForbid(const Object& job) {
  const OwnerReference* owner = ControllerOf(job.meta);
  const auto max = owner ? forbid_max_.find(owner->uid) : forbid_max_.end();
  if (max == forbid_max_.end()) return;
  const auto active = std::count_if(jobs_.begin(), jobs_.end(), [&](const auto& entry) {
    return entry.second.config_uid == owner->uid && entry.second.started && !entry.second.finished;
  });
  if (active > max->second) Breach("Forbid overlaps: " + job.meta.name);
}

void Checkers::SawTask(const Change& change) {
  const Object& task = *change.object;
  const auto spec = DecodeTaskSpec(task.spec);
  const auto status = DecodeTaskStatus(task.status);
  if (!spec || !status) return Breach("a Task cannot be read: " + task.meta.name);
  const std::string key = TaskKey(spec->job_uid, spec->index, spec->attempt);
  if (change.type == ChangeType::kAdded && outcomes_.contains(key)) {
    Breach("an attempt was created again after its end: " + task.meta.name);
  }
  if (status->state != TaskState::kTerminated) {
    if (outcomes_.contains(key)) Breach("an outcome was forgotten: " + task.meta.name);
    return;
  }
  if (!HasFinalizer(task.meta, labels::kTaskTracking)) CheckCounted(task, *spec);
  const auto [known, is_new] = outcomes_.try_emplace(key, NameOf(status->result));
  if (!is_new && known->second != NameOf(status->result)) {
    Breach("an outcome changed: " + task.meta.name);
  }
}

// A Task is let go only once its Job has counted it, in exactly one way.
void Checkers::CheckCounted(const Object& task, const TaskSpec& spec) {
  const auto job = jobs_.find(spec.job_uid);
  if (job == jobs_.end() || job->second.gone) return;
  const JobStatus& status = job->second.status;
  const auto in = [&](const std::map<int64_t, IndexSet>& attempts) {
    const auto found = attempts.find(spec.attempt);
    return found != attempts.end() && found->second.Contains(spec.index);
  };
  const int ways = int{in(status.failed_attempts)} + int{in(status.uncounted_attempts)};
  if (ways > 1) Breach("counted twice: " + task.meta.name);
  if (ways == 0 && !status.succeeded_indexes.Contains(spec.index)) {
    Breach("let go before its Job counted it: " + task.meta.name);
  }
}

void Checkers::AtRest(const std::map<ObjectKey, ObjectPtr>& objects) {
  for (const auto& [key, object] : objects) {
    if (key.kind == Kind::kJob) {
      const auto status = DecodeJobStatus(object->status);
      if (!status || !status->finished) Breach("never ended: " + ToString(key));
    }
    if (HasFinalizer(object->meta, labels::kTaskTracking)) {
      Breach("still tracked: " + ToString(key));
    }
    if (object->meta.deleted) Breach("never went: " + ToString(key));
  }
}

}  // namespace detent
