// The rule by which a zone's clocks change every year: a POSIX TZ string such as
// "EST5EDT,M3.2.0,M11.1.0" (POSIX.1-2024, section 8.3; RFC 8536, section 3.3.1 widens the hours).
//
// Internal to core/cron: zone.h uses it past the changes that a zone's file lists one by one. An
// immutable value; any thread.

#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

namespace detent {

// A stretch of time, begin included and end not, during which clocks are `offset` from UTC.
struct ClockPeriod {
  std::chrono::sys_seconds begin;
  std::chrono::sys_seconds end;
  std::chrono::seconds offset;
};

class ZoneRule {
 public:
  // nullopt if `text` is no such rule, or one without changes ("UTC0").
  static std::optional<ZoneRule> Parse(std::string_view text);

  // The period around `time`; never longer than about a year.
  ClockPeriod PeriodAt(std::chrono::sys_seconds time) const;

 private:
  friend class ZoneRuleParser;

  // One day of the year and a local time on it.
  struct Change {
    enum class Form { kWeekday, kYearDay, kYearDayNoLeap };

    // The moment in `year`, as shown by clocks that are `offset` from UTC until then.
    std::chrono::sys_seconds In(std::chrono::year year, std::chrono::seconds offset) const;

    Form form = Form::kWeekday;
    unsigned month = 1;    // kWeekday: 1-12,
    unsigned week = 1;     // 1-5, where 5 is the last,
    unsigned weekday = 0;  // 0-6 from Sunday.
    int day = 0;  // Otherwise: days after 1 January; kYearDayNoLeap never counts 29 February.
    std::chrono::seconds time = std::chrono::hours(2);
  };

  std::chrono::seconds standard_{0};
  std::chrono::seconds summer_{0};
  Change to_summer_;
  Change to_standard_;
};

}  // namespace detent
