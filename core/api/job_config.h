// JobConfig: what to run, and when. Values.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/api/job_template.h"
#include "core/api/object.h"
#include "core/base/clock.h"

namespace detent {

struct ScheduleSpec {
  std::vector<std::string> expressions;  // At least one: cron.expression or cron.expressions.
  std::string timezone;                  // Empty: the host's default.
  bool disabled = false;
  std::optional<WallTime> not_before;    // Inclusive.
  std::optional<WallTime> not_after;     // Inclusive.
  std::optional<WallTime> last_updated;  // Slots before it are not caught up.
  bool operator==(const ScheduleSpec&) const = default;
};

struct JobConfigSpec {
  ConcurrencyPolicy policy = ConcurrencyPolicy::kAllow;
  int64_t max_concurrency = 1;  // Of Forbid; at least 1.
  std::optional<ScheduleSpec> schedule;
  StringMap template_labels;  // template.metadata, copied to each Job.
  StringMap template_annotations;
  std::string template_spec;  // JSON text of template.spec, which becomes a Job's spec.template.
  bool operator==(const JobConfigSpec&) const = default;
};

// The newest slot that was due and made no Job, and why.
struct SkippedSlot {
  WallTime slot{};
  std::string reason;  // CamelCase.
  std::string message;
  bool operator==(const SkippedSlot&) const = default;
};

struct JobReference {
  std::string name;
  std::string uid;
  std::string phase;
  WallTime created{};
  bool operator==(const JobReference&) const = default;
};

struct JobConfigStatus {
  std::string state;  // Ready, ReadyEnabled, ReadyDisabled, JobQueued, Executing.
  int64_t active = 0;
  int64_t queued = 0;
  std::vector<JobReference> active_jobs;   // The oldest limits::kStatusTaskRecords.
  std::optional<WallTime> last_scheduled;  // The newest slot that was decided, run or skipped.
  std::optional<WallTime> last_executed;   // When a Job last started.
  std::optional<WallTime> next_scheduled;
  int64_t skipped = 0;  // Slots skipped so far.
  std::optional<SkippedSlot> last_skipped;
  bool operator==(const JobConfigStatus&) const = default;
};

}  // namespace detent
