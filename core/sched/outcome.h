// What the end of an attempt means for its index and its Job. Pure.
//
// Recording is idempotent by (index, attempt): an outcome recorded twice is the same outcome, which
// is what makes tracking exact over crashes.

#pragma once

#include <cstdint>
#include <string>

#include "core/api/job.h"

namespace detent {

enum class OutcomeKind : uint8_t {
  kSucceeded,
  kFailed,         // Counts against maxAttempts.
  kFailedForGood,  // No other attempt can help: the index has failed.
  kUncounted,      // Ended through no fault of its own and harmless to repeat: does not count.
  kEndedByJob,     // Ended because its Job came to an end: says nothing about its index.
};

struct Outcome {
  int64_t index = 0;
  int64_t attempt = 1;
  OutcomeKind kind = OutcomeKind::kFailed;
};

// What a terminated task's status means. Requires: status.state == kTerminated.
OutcomeKind JudgeTask(const TaskStatus& status);

// True if `status` knows an end of this attempt already.
bool IsRecorded(const JobStatus& status, int64_t index, int64_t attempt);

// Puts an outcome into the status; false if it was there already.
bool RecordOutcome(JobStatus& status, const JobTemplate& job_template, const Outcome& outcome);

// Attempts of the index that count against maxAttempts, and the number of its next attempt.
int64_t CountedFailures(const JobStatus& status, int64_t index);
int64_t NextAttempt(const JobStatus& status, int64_t index);

// True if nothing more is to be tried for the index.
bool IsDecided(const JobStatus& status, int64_t index);

// Keeps the record in one of the status' bounded lists, newest last, and takes it out of `active`.
void KeepRecord(JobStatus& status, TaskRecord record);

enum class Verdict : uint8_t { kOngoing, kSucceeded, kFailed };

// AllSuccessful: every index succeeded, or one has failed.
Verdict JudgeJob(const JobStatus& status, const JobTemplate& job_template);

}  // namespace detent
