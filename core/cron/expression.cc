#include "core/cron/expression.h"

#include <bit>

namespace detent {
namespace {

using std::chrono::days;
using std::chrono::local_days;
using std::chrono::seconds;
using std::chrono::weekday;
using std::chrono::year;
using std::chrono::year_month_day;

constexpr int kSecondsPerHour = 3600;

// The least bit at or above `from`, or -1. Requires: 0 <= from < 64.
int NextBit(uint64_t bits, int from) {
  const uint64_t rest = bits >> from;
  return rest == 0 ? -1 : from + std::countr_zero(rest);
}

unsigned DaysIn(int y, unsigned m) {
  if (m == 2) return year(y).is_leap() ? 29 : 28;
  return m == 4 || m == 6 || m == 9 || m == 11 ? 30 : 31;
}

local_days FirstOf(int y, unsigned m) {
  return local_days(year_month_day(year(y), std::chrono::month(m), std::chrono::day(1)));
}

// Moves a day that falls on a weekend to the nearest weekday of the same month. `first` is the
// weekday of the 1st, from Sunday; `last` is the month's last day.
unsigned NearestWeekday(unsigned day, unsigned first, unsigned last) {
  const unsigned weekday = (first + day - 1) % 7;
  if (weekday == 6) return day > 1 ? day - 1 : day + 2;
  if (weekday == 0) return day < last ? day + 1 : day - 2;
  return day;
}

// The days of a month that are one weekday: every seventh bit. `first` and `last` as above.
uint32_t EveryWeek(unsigned weekday, unsigned first, uint32_t month_days) {
  constexpr uint32_t kEverySeventh = 1U << 1 | 1U << 8 | 1U << 15 | 1U << 22 | 1U << 29;
  return kEverySeventh << (weekday + 7 - first) % 7 & month_days;
}

}  // namespace

bool CronExpression::HasYear(int y) const {
  if (y < kFirstYear || y > kLastYear) return false;
  const auto bit = static_cast<unsigned>(y - kFirstYear);
  return (years_[bit / 64] >> bit % 64 & 1) != 0;
}

uint32_t CronExpression::DaysOf(int y, unsigned m) const {
  if (!HasYear(y) || (months_ >> m & 1) == 0) return 0;
  const unsigned last = DaysIn(y, m);
  const uint32_t month_days = (uint32_t{2} << last) - 2;
  if (any_day_ && any_weekday_) return month_days;

  uint32_t found = any_day_ ? 0 : days_ & month_days;
  const bool only_numbers = any_weekday_ && near_days_ == 0 && !last_weekday_;
  if (only_numbers) return last_day_ ? found | 1U << last : found;

  const unsigned first = weekday(FirstOf(y, m)).c_encoding();
  if (last_day_) found |= 1U << last;
  if (last_weekday_) found |= 1U << NearestWeekday(last, first, last);
  for (uint32_t rest = near_days_ & month_days; rest != 0; rest &= rest - 1) {
    found |= 1U << NearestWeekday(static_cast<unsigned>(std::countr_zero(rest)), first, last);
  }
  if (any_weekday_) return found;

  for (uint32_t rest = weekdays_; rest != 0; rest &= rest - 1) {
    found |= EveryWeek(static_cast<unsigned>(std::countr_zero(rest)), first, month_days);
  }
  for (uint64_t rest = nth_weekdays_; rest != 0; rest &= rest - 1) {
    const auto bit = static_cast<unsigned>(std::countr_zero(rest));
    uint32_t week = EveryWeek(bit / 6, first, month_days);
    if (bit % 6 == 0) {
      found |= std::bit_floor(week);
      continue;
    }
    for (unsigned n = 1; n < bit % 6; ++n) week &= week - 1;
    found |= week & (0 - week);
  }
  return found;
}

int CronExpression::TimeFrom(int second_of_day) const {
  int hour = second_of_day / kSecondsPerHour;
  const int minute = second_of_day / 60 % 60;
  const int first_second = std::countr_zero(seconds_);
  const int first_minute = std::countr_zero(minutes_);
  if ((hours_ >> hour & 1) != 0) {
    if ((minutes_ >> minute & 1) != 0) {
      const int second = NextBit(seconds_, second_of_day % 60);
      if (second >= 0) return hour * kSecondsPerHour + minute * 60 + second;
    }
    const int later = NextBit(minutes_, minute + 1);
    if (later >= 0) return hour * kSecondsPerHour + later * 60 + first_second;
  }
  hour = NextBit(hours_, hour + 1);
  return hour < 0 ? -1 : hour * kSecondsPerHour + first_minute * 60 + first_second;
}

std::optional<local_days> CronExpression::DayAfter(year_month_day date) const {
  int y = static_cast<int>(date.year());
  auto m = static_cast<unsigned>(date.month());
  // The month at hand counts only from the next day on.
  uint32_t found = DaysOf(y, m) & ~((uint32_t{2} << static_cast<unsigned>(date.day())) - 1);
  while (found == 0) {
    int next = NextBit(months_, static_cast<int>(m) + 1);
    if (next < 0) {
      next = std::countr_zero(months_);
      do {
        if (++y > kLastYear) return std::nullopt;
      } while (!HasYear(y));
    }
    m = static_cast<unsigned>(next);
    found = DaysOf(y, m);
  }
  return FirstOf(y, m) + days(std::countr_zero(found) - 1);
}

std::optional<CivilSecond> CronExpression::NextCivil(CivilSecond after) const {
  const CivilSecond begin = FirstOf(kFirstYear, 1);
  const CivilSecond end = FirstOf(kLastYear + 1, 1);
  if (after >= end - seconds(1)) return std::nullopt;
  const CivilSecond from = after < begin ? begin : after + seconds(1);

  const local_days today = std::chrono::floor<days>(from);
  const year_month_day date(today);
  const uint32_t matching =
      DaysOf(static_cast<int>(date.year()), static_cast<unsigned>(date.month()));
  if ((matching >> static_cast<unsigned>(date.day()) & 1) != 0) {
    const int time = TimeFrom(static_cast<int>((from - today).count()));
    if (time >= 0) return today + seconds(time);
  }
  const std::optional<local_days> day = DayAfter(date);
  if (!day) return std::nullopt;
  return *day + seconds(TimeFrom(0));
}

bool CronExpression::Matches(CivilSecond time) const {
  const std::optional<CivilSecond> next = NextCivil(time - seconds(1));
  return next && *next == time;
}

}  // namespace detent
