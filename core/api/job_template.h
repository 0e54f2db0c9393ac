// How a Job does its work: the part that a JobConfig and a Job share. Values.

#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/api/object.h"

namespace detent {

// The one field of `taskTemplate`: which executor, and what only its plugin understands.
struct TaskTemplate {
  std::string kind;  // "exec", "http": the field's name.
  std::string spec;  // JSON text as it came in, `${...}` not yet filled in.
  bool operator==(const TaskTemplate&) const = default;
};

struct Parallelism {
  int64_t with_count = 1;  // 1 to limits::kIndexesPerJob.
  bool operator==(const Parallelism&) const = default;
};

struct JobTemplate {
  TaskTemplate task_template;
  std::optional<Parallelism> parallelism;  // Absent: one index.
  int64_t max_attempts = 1;                // For each index, 1 to limits::kAttemptsPerIndex.
  int64_t retry_delay_seconds = 0;         // From the end of the failed attempt.
  std::optional<int64_t> task_pending_timeout_seconds;  // 0 = never; absent = the host's default.
  bool forbid_task_force_deletion = false;

  int64_t index_count() const { return parallelism ? parallelism->with_count : 1; }
  bool operator==(const JobTemplate&) const = default;
};

enum class ConcurrencyPolicy : uint8_t { kAllow, kForbid };

const char* NameOf(ConcurrencyPolicy policy);

}  // namespace detent
