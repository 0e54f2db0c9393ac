// One cron expression, compiled to bit sets: which local times of the calendar it means.
//
// It knows nothing of zones (see schedule.h) and keeps no cache: a plain value of 64 bytes, of
// which a host may hold a million, to be read from any number of threads.
//
// The language is Furiko's (github.com/furiko-io/cronexpr), with its slips put right:
//
//   fields   5: minute hour day-of-month month day-of-week; the second is 0, any year
//            6: the same and a year; 7: a second in front, a year at the end
//   ranges   second, minute 0-59; hour 0-23; day-of-month 1-31; month 1-12 or jan-dec;
//            day-of-week 0-7 or sun-sat (0 and 7 are both Sunday); year 1970-2099
//   items    *  ?  a  a-b  a/n  a-b/n  */n  /n, joined by commas; names in any case, short or long
//   days     day-of-month: L (last), LW (last weekday), 15W (weekday nearest to the 15th, in the
//   same
//            month); day-of-week: 5L (last Friday), 5#2 (second Friday). If both day fields are
//            restricted, a day needs to satisfy only one of them. `*/2` restricts, `*` does not
//   hash     H, H/n, H(a-b), H(a-b)/n: a value that depends on the hash id alone. For the day of
//   the
//            month H is one of 1-28, so that it exists in every month
//   aliases  @yearly @annually @monthly @weekly @daily @midnight @hourly

#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

#include "core/base/result.h"

namespace detent {

// A time as a clock on the wall shows it, without a zone.
using CivilSecond = std::chrono::local_seconds;

struct CronParseOptions {
  // What H is derived from, "namespace/name" of the JobConfig. Empty: H is refused. Whether an
  // expression is valid never depends on the id, only on whether there is one.
  std::string_view hash_id = {};
  // Derive each field's H from "<hash id>:<field>", so that `H H * * *` is not on a diagonal.
  bool hash_fields = false;
  // With 5 or 6 fields the second is H rather than 0. Without a hash id it has no effect.
  bool hash_seconds_by_default = false;
};

class CronExpression {
 public:
  static constexpr int kFirstYear = 1970;
  static constexpr int kLastYear = 2099;

  // Code::kInvalid: "column 5: hour: 24 is not in 0-23"; columns count bytes of `text` from 1.
  static Result<CronExpression> Parse(std::string_view text, const CronParseOptions& options = {});

  // The first matching time strictly after `after`, or nullopt if there is none before 2100. Its
  // cost depends on how many months it has to look at, never on how many seconds pass.
  std::optional<CivilSecond> NextCivil(CivilSecond after) const;

  // True if that very second matches.
  bool Matches(CivilSecond time) const;

  bool operator==(const CronExpression&) const = default;

 private:
  friend class CronParser;

  CronExpression() = default;

  bool HasYear(int year) const;
  // The days of one month that match, as bits 1-31.
  uint32_t DaysOf(int year, unsigned month) const;
  // The first matching time of day at or after `second_of_day`, in seconds; -1 if there is none.
  int TimeFrom(int second_of_day) const;
  // The first matching day after year-month-day.
  std::optional<std::chrono::local_days> DayAfter(std::chrono::year_month_day date) const;

  uint64_t seconds_ = 0;             // Bits 0-59.
  uint64_t minutes_ = 0;             // Bits 0-59.
  uint64_t nth_weekdays_ = 0;        // Bit weekday * 6 + n; n is 1-5, or 0 for the last of a month.
  std::array<uint64_t, 3> years_{};  // Bit year - 1970.
  uint32_t hours_ = 0;               // Bits 0-23.
  uint32_t days_ = 0;                // Bits 1-31.
  uint32_t near_days_ = 0;           // Bits 1-31: the nearest weekday to each.
  uint16_t months_ = 0;              // Bits 1-12.
  uint8_t weekdays_ = 0;             // Bits 0-6, from Sunday.
  bool last_day_ : 1 = false;
  bool last_weekday_ : 1 = false;
  bool any_day_ : 1 = false;      // The day of the month is not restricted.
  bool any_weekday_ : 1 = false;  // The day of the week is not restricted.
};

static_assert(sizeof(CronExpression) <= 64);

}  // namespace detent
