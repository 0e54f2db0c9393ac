// The next slots of a schedule, and how they are shown. Pure.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/api/job_config.h"
#include "core/base/clock.h"
#include "core/base/result.h"
#include "core/cron/zone.h"

namespace detent {

struct NextSlots {
  std::vector<WallTime> slots;  // At most as many as asked for; all before 2100.
  Zone zone;
};

// The first `count` slots after `from`, as a host finds them. `hash_id` is what H depends on: the
// JobConfig's "namespace/name", or "-" on a host with hashNames: false; without one H is refused.
// kInvalid: the schedule cannot be read.
Result<NextSlots> SlotsAfter(const ScheduleSpec& schedule, std::string_view hash_id, WallTime from,
                             size_t count);

// "2026-11-21T18:00:00+08:00".
std::string FormatLocal(WallTime time, const Zone& zone);

}  // namespace detent
