#include "core/sched/outcome.h"

#include <algorithm>

#include "core/base/limits.h"
#include "core/sched/reason.h"

namespace detent {

OutcomeKind JudgeTask(const TaskStatus& status) {
  switch (status.result) {
    case TaskResult::kSucceeded:
      return OutcomeKind::kSucceeded;
    case TaskResult::kLost:
      // Whether a lost attempt took effect is not known, so only a harmless one may be repeated.
      return status.rerun_safe ? OutcomeKind::kUncounted : OutcomeKind::kFailedForGood;
    case TaskResult::kKilled:
      if (reason::IsEndOfJob(status.reason)) return OutcomeKind::kEndedByJob;
      break;
    case TaskResult::kFailed:
    case TaskResult::kNone:
      break;
  }
  return status.never_retry ? OutcomeKind::kFailedForGood : OutcomeKind::kFailed;
}

bool IsRecorded(const JobStatus& status, int64_t index, int64_t attempt) {
  const auto has = [&](const std::map<int64_t, IndexSet>& sets) {
    const auto found = sets.find(attempt);
    return found != sets.end() && found->second.Contains(index);
  };
  return has(status.failed_attempts) || has(status.uncounted_attempts) ||
         (status.succeeded_indexes.Contains(index) && attempt >= NextAttempt(status, index));
}

bool RecordOutcome(JobStatus& status, const JobTemplate& job_template, const Outcome& outcome) {
  if (IsRecorded(status, outcome.index, outcome.attempt)) return false;
  switch (outcome.kind) {
    case OutcomeKind::kSucceeded:
      return status.succeeded_indexes.Insert(outcome.index);
    case OutcomeKind::kUncounted:
      return status.uncounted_attempts[outcome.attempt].Insert(outcome.index);
    case OutcomeKind::kEndedByJob:
      return status.failed_attempts[outcome.attempt].Insert(outcome.index);
    case OutcomeKind::kFailed:
    case OutcomeKind::kFailedForGood:
      break;
  }
  status.failed_attempts[outcome.attempt].Insert(outcome.index);
  if (outcome.kind == OutcomeKind::kFailedForGood ||
      CountedFailures(status, outcome.index) >= job_template.max_attempts) {
    status.failed_indexes.Insert(outcome.index);
  }
  return true;
}

int64_t CountedFailures(const JobStatus& status, int64_t index) {
  return std::count_if(status.failed_attempts.begin(), status.failed_attempts.end(),
                       [&](const auto& entry) { return entry.second.Contains(index); });
}

int64_t NextAttempt(const JobStatus& status, int64_t index) {
  const auto uncounted =
      std::count_if(status.uncounted_attempts.begin(), status.uncounted_attempts.end(),
                    [&](const auto& entry) { return entry.second.Contains(index); });
  return 1 + CountedFailures(status, index) + uncounted;
}

bool IsDecided(const JobStatus& status, int64_t index) {
  return status.succeeded_indexes.Contains(index) || status.failed_indexes.Contains(index);
}

void KeepRecord(JobStatus& status, TaskRecord record) {
  std::erase_if(status.active, [&](const TaskRecord& r) { return r.name == record.name; });
  // The list is bounded: what only followed from a failure must not push its cause out.
  if (reason::IsEndOfJob(record.reason)) return;
  auto& list = record.state != TaskState::kTerminated    ? status.active
               : record.result == TaskResult::kSucceeded ? status.succeeded
                                                         : status.failed;
  const auto same = std::find_if(list.begin(), list.end(),
                                 [&](const TaskRecord& r) { return r.name == record.name; });
  if (same != list.end()) {
    *same = std::move(record);
    return;
  }
  list.push_back(std::move(record));
  if (list.size() > limits::kStatusTaskRecords) list.erase(list.begin());
}

Verdict JudgeJob(const JobStatus& status, const JobTemplate& job_template) {
  if (!status.failed_indexes.empty()) return Verdict::kFailed;
  if (status.succeeded_indexes.count() >= job_template.index_count()) return Verdict::kSucceeded;
  return Verdict::kOngoing;
}

}  // namespace detent
