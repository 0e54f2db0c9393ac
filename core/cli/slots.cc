#include "core/cli/slots.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "core/cron/schedule.h"

namespace detent {

Result<NextSlots> SlotsAfter(const ScheduleSpec& spec, std::string_view hash_id, WallTime from,
                             size_t count) {
  const CronParseOptions options{.hash_id = hash_id, .hash_fields = true};
  const Schedule schedule = TRY(Schedule::Parse(spec.expressions, spec.timezone, options));
  NextSlots next;
  next.zone = schedule.zone();
  // The bounds are inclusive, and NextAfter is not.
  if (spec.not_before) from = std::max(from, *spec.not_before - std::chrono::microseconds(1));
  while (next.slots.size() < count) {
    const auto slot = schedule.NextAfter(from);
    if (!slot || (spec.not_after && *slot > *spec.not_after)) break;
    next.slots.push_back(*slot);
    from = *slot;
  }
  return next;
}

std::string FormatLocal(WallTime time, const Zone& zone) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(time);
  const std::chrono::seconds offset = zone.PeriodAt(seconds).offset;
  std::string text = FormatTime(time + offset);
  text.pop_back();  // The Z.
  const long minutes = offset.count() / 60;
  char zone_text[16];
  std::snprintf(zone_text, sizeof zone_text, "%c%02ld:%02ld", minutes < 0 ? '-' : '+',
                std::labs(minutes) / 60 % 100, std::labs(minutes) % 60);
  return text + zone_text;
}

}  // namespace detent
