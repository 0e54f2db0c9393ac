// The sentences of `detent why` that need no more than what is stored: a host adds what only it
// knows, and the command line says the same of objects in a cluster. Pure; any thread.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/api/job.h"
#include "core/api/job_config.h"
#include "core/api/task.h"
#include "core/base/clock.h"

namespace detent::explanation {

using Lines = std::vector<std::string>;

// ": Reason, message", or what there is of the two.
std::string Because(const std::string& why, const std::string& message);
// "2026-11-21T10:00:00Z (in 5m)".
std::string InTime(WallTime time, WallTime now);

// "job NAME is Running: ...".
std::string OfJob(const std::string& name, const JobStatus& status);
// Whose Job it is.
std::string OfOwner(const std::string& job_config, ConcurrencyPolicy policy, size_t unfinished);

// How the indexes stand of a Job that has started.
struct Progress {
  int64_t succeeded = 0;
  int64_t all = 0;
  int64_t in_hand = 0;
  int64_t not_begun = 0;
};
std::string OfProgress(const Progress& progress);
std::string OfNextAttempt(int64_t index, WallTime time, WallTime now);
std::string OfMoreTasks(size_t count);
// How many of a Job's tasks are shown; the rest are counted.
inline constexpr size_t kTasksShown = 5;
// What failed, and the last error.
void AddFailures(const JobStatus& status, Lines& lines);

// "task NAME (index 0, attempt 1) is Running: ...".
std::string OfTask(const TaskRecord& task);
// The same of a Task that has ended, or of which nothing more than its status is known.
std::string OfStoredTask(const std::string& name, const TaskStatus& status);

// "jobconfig NAME is Ready".
std::string OfConfig(const std::string& name, const JobConfigStatus& status);
// The next slot, or that none is due; the last, and the last that was skipped.
void AddSlots(const JobConfigStatus& status, bool scheduled, WallTime now, Lines& lines);

}  // namespace detent::explanation
