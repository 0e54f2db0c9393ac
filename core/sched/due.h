// Which slots of a JobConfig are due, and what becomes of each. Pure.
//
// A slot is decided once: it makes a Job, or is skipped with a reason. Either way the cursor
// (status.lastScheduled) moves past it, so that no restart can decide it again.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/api/job_config.h"
#include "core/base/clock.h"
#include "core/cron/schedule.h"

namespace detent {

struct SlotsView {
  const Schedule* schedule = nullptr;  // Borrowed; not null.
  const ScheduleSpec* spec = nullptr;  // Borrowed; not null.
  std::string_view name;               // The JobConfig's, for messages.
  WallTime decided_until{};            // Slots up to and including this instant are decided.
  WallTime now{};
  ConcurrencyPolicy policy = ConcurrencyPolicy::kAllow;
  int64_t active = 0;                      // Jobs of the JobConfig that have not finished.
  int64_t max_concurrency = 1;             // Of Forbid.
  int64_t max_missed = 5;                  // Slots to catch up beside the newest; 0 or more.
  std::chrono::seconds max_downtime{300};  // Older slots are not caught up at all.
};

struct SlotDecision {
  WallTime slot{};
  bool create = false;
  std::string reason;  // Of a slot that makes no Job.
  std::string message;
};

struct SlotsPlan {
  std::vector<SlotDecision> decisions;  // Oldest first; at most max_missed + 2.
  int64_t skipped = 0;                  // Slots that make no Job; one decision may stand for many.
  WallTime decided_until{};             // The cursor after these decisions.
  std::optional<WallTime> next;         // When to look again; nullopt = never.
};

// Requires: view.spec is not disabled.
SlotsPlan PlanSlots(const SlotsView& view);

// The first slot after `t` within the constraints, or nullopt.
std::optional<WallTime> NextSlot(const Schedule& schedule, const ScheduleSpec& spec, WallTime t);

}  // namespace detent
