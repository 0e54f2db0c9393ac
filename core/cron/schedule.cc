#include "core/cron/schedule.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace detent {
namespace {

using std::chrono::seconds;
using std::chrono::sys_seconds;

constexpr std::chrono::hours kFarthest(48);

CivilSecond LocalTime(sys_seconds time, seconds offset) {
  return CivilSecond(time.time_since_epoch() + offset);
}

// The first time of `expression` strictly after `time` in `zone`, whose period at `time` is
// `period`. Periods are walked in order. The next local time that matches is sought once, and again
// only when a change of the clocks goes back behind where that search began (local times repeat),
// or jumps past what it found (local times are missing).
std::optional<sys_seconds> NextIn(const CronExpression& expression, sys_seconds time,
                                  const Zone& zone, ClockPeriod period) {
  CivilSecond sought_after = LocalTime(time, period.offset);
  std::optional<CivilSecond> local = expression.NextCivil(sought_after);
  while (true) {
    if (local) {
      const sys_seconds moment(local->time_since_epoch() - period.offset);
      if (moment < period.end) return moment;
    }
    if (period.end == sys_seconds::max()) return std::nullopt;
    const sys_seconds change = period.end;
    period = zone.PeriodAt(change);
    const CivilSecond before = LocalTime(change, period.offset) - seconds(1);
    if (before >= sought_after && !local) return std::nullopt;
    if (before < sought_after || before >= *local) {
      sought_after = before;
      local = expression.NextCivil(before);
    }
  }
}

}  // namespace

Schedule::Schedule(std::vector<CronExpression> expressions, Zone zone)
    : first_(expressions.front()),
      others_(expressions.begin() + 1, expressions.end()),
      zone_(zone) {}

Result<Schedule> Schedule::Parse(const std::vector<std::string>& expressions, std::string_view zone,
                                 const CronParseOptions& options) {
  if (expressions.empty()) return Error(Code::kInvalid, "there is no cron expression");
  std::vector<CronExpression> parsed;
  parsed.reserve(expressions.size());
  for (size_t i = 0; i < expressions.size(); ++i) {
    auto expression = CronExpression::Parse(expressions[i], options);
    if (!expression) {
      if (expressions.size() == 1) return std::move(expression).error();
      return std::move(expression).error().While("expression " + std::to_string(i + 1));
    }
    parsed.push_back(*expression);
  }
  auto found = Zone::Find(zone);
  if (!found) return std::move(found).error();
  return Schedule(std::move(parsed), *found);
}

std::optional<WallTime> Schedule::NextAfter(WallTime time) const {
  // Local times outside of the language's years are no slots, and no zone has been as much as two
  // days away from UTC; so beyond these bounds there is nothing to look at.
  using std::chrono::sys_days;
  using std::chrono::year;
  constexpr sys_seconds kFirst = sys_days(year(CronExpression::kFirstYear) / 1 / 1) - kFarthest;
  constexpr sys_seconds kLast = sys_days(year(CronExpression::kLastYear + 1) / 1 / 1) + kFarthest;
  if (time > kLast) return std::nullopt;
  const sys_seconds after = std::max(std::chrono::floor<seconds>(time), kFirst);
  const ClockPeriod period = zone_.PeriodAt(after);
  std::optional<sys_seconds> next = NextIn(first_, after, zone_, period);
  for (const CronExpression& expression : others_) {
    const std::optional<sys_seconds> other = NextIn(expression, after, zone_, period);
    if (other && (!next || *other < *next)) next = other;
  }
  if (!next) return std::nullopt;
  return WallTime(*next);
}

}  // namespace detent
