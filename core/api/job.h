// Job: one run. Its status is compact: nothing in it grows with the number of indexes but interval
// strings. Values.

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/api/index_set.h"
#include "core/api/job_template.h"
#include "core/api/object.h"
#include "core/api/task.h"
#include "core/base/clock.h"

namespace detent {

enum class JobType : uint8_t { kAdhoc, kScheduled };

const char* NameOf(JobType type);

struct JobSpec {
  JobType type = JobType::kAdhoc;
  std::optional<ConcurrencyPolicy> concurrency_policy;  // startPolicy; absent: the JobConfig's.
  std::optional<WallTime> start_after;                  // startPolicy.
  JobTemplate job_template;                             // JSON: template.
  StringMap substitutions;  // Full variable name to value; wins over all others.
  std::optional<WallTime> kill_timestamp;
  std::optional<int64_t> ttl_seconds_after_finished;  // Absent: the host's default.
  bool operator==(const JobSpec&) const = default;
};

// Derived from counters and times, never decided on its own (core/sched/job_status.h).
enum class JobPhase : uint8_t {
  kQueued,
  kStarting,
  kPending,
  kRunning,
  kRetryBackoff,
  kRetrying,
  kTerminating,
  kKilling,
  kSucceeded,
  kFailed,
  kKilled,
  kAdmissionError
};

const char* NameOf(JobPhase phase);
std::optional<JobPhase> JobPhaseFromName(std::string_view name);
bool IsFinished(JobPhase phase);

// One attempt in a Job's status: a full record is kept of a bounded number of them.
struct TaskRecord {
  std::string name;
  int64_t index = 0;
  int64_t attempt = 1;
  TaskState state = TaskState::kStarting;
  TaskResult result = TaskResult::kNone;
  std::string reason;
  std::string message;
  std::optional<int64_t> exit_code;
  WallTime created{};
  std::optional<WallTime> running;
  std::optional<WallTime> finished;
  bool operator==(const TaskRecord&) const = default;
};

struct JobStatus {
  JobPhase phase = JobPhase::kQueued;
  std::string reason;   // Why it is where it is: "Forbid", "RetryBackoff", "ExecutorUnavailable".
  std::string message;  // The same for a person.
  std::optional<WallTime> started;  // JSON: startTime. Admitted; absent = queued.
  std::optional<WallTime> finished;
  int64_t indexes = 0;
  int64_t created_tasks = 0;  // Attempts begun.
  int64_t active_tasks = 0;   // Begun and not ended.
  int64_t running_tasks = 0;  // Of these, seen running.
  IndexSet succeeded_indexes;
  IndexSet failed_indexes;  // Out of attempts, or not to be tried again.
  // By attempt number: the indexes whose attempt failed, and those whose attempt ended without
  // counting against maxAttempts (lost with its executor, and harmless to repeat).
  std::map<int64_t, IndexSet> failed_attempts;
  std::map<int64_t, IndexSet> uncounted_attempts;
  // Where the executor's own objects are the record, so that no Tasks are stored: no attempt at an
  // index from here on was ever begun, and of those before, these had an object when last looked.
  int64_t reserved_indexes = 0;  // 0: its Tasks are stored.
  IndexSet active_indexes;
  std::vector<TaskRecord> active;  // Each list: the newest limits::kStatusTaskRecords.
  std::vector<TaskRecord> failed;
  std::vector<TaskRecord> succeeded;
  bool operator==(const JobStatus&) const = default;
};

}  // namespace detent
