// Random schedules against an oracle that knows nothing of bit sets: it steps through time second
// by second or day by day, and evaluates the same random fields from their parts.

#include <gtest/gtest.h>

#include <set>

#include "core/base/random.h"
#include "tests/cron/times.h"

namespace detent {
namespace {

using std::chrono::days;
using std::chrono::minutes;
using std::chrono::seconds;
using std::chrono::year_month_day;

// One field: its text and the values that it means.
struct RandomField {
  std::string text;
  std::set<int> values;
};

int Between(Random& random, int low, int high) {
  return low + static_cast<int>(random.Below(static_cast<uint64_t>(high - low + 1)));
}

void AddItem(Random& random, int low, int high, RandomField& field) {
  int first = Between(random, low, high);
  int last = first;
  int step = 1;
  std::string text = std::to_string(first);
  switch (random.Below(4)) {
    case 0:
      last = Between(random, first, high);
      text += "-" + std::to_string(last);
      break;
    case 1:
      last = high;
      step = Between(random, 1, high);
      text += "/" + std::to_string(step);
      break;
    case 2:
      first = low;
      last = high;
      step = Between(random, 1, high);
      text = "*/" + std::to_string(step);
      break;
    default:
      break;
  }
  for (int value = first; value <= last; value += step) field.values.insert(value);
  field.text += (field.text.empty() ? "" : ",") + text;
}

// `any` in ten fields are a `*`, which leaves `values` empty.
RandomField MakeField(Random& random, int low, int high, uint64_t any) {
  RandomField field;
  if (random.Below(10) < any) return {"*", {}};
  const int items = Between(random, 1, 3);
  for (int i = 0; i < items; ++i) AddItem(random, low, high, field);
  return field;
}

struct RandomCron {
  RandomField second, minute, hour, day, month, weekday;

  explicit RandomCron(Random& random)
      : second(MakeField(random, 0, 59, 5)),
        minute(MakeField(random, 0, 59, 5)),
        hour(MakeField(random, 0, 23, 5)),
        day(MakeField(random, 1, 31, 6)),
        month(MakeField(random, 1, 12, 7)),
        weekday(MakeField(random, 0, 6, 6)) {}

  std::string Text() const {
    return second.text + " " + minute.text + " " + hour.text + " " + day.text + " " + month.text +
           " " + weekday.text + " *";
  }

  static bool Has(const RandomField& field, int64_t value) {
    return field.values.empty() || field.values.count(static_cast<int>(value)) != 0;
  }

  bool HasDay(std::chrono::sys_days date) const {
    const year_month_day ymd(date);
    if (!Has(month, static_cast<unsigned>(ymd.month()))) return false;
    const bool day_fits = Has(day, static_cast<unsigned>(ymd.day()));
    const bool weekday_fits = Has(weekday, std::chrono::weekday(date).c_encoding());
    if (day.values.empty() || weekday.values.empty()) return day_fits && weekday_fits;
    return day_fits || weekday_fits;
  }

  // Steps on until all fields match, by the coarsest step that cannot jump over a match.
  std::optional<WallTime> NextAfter(WallTime after, WallTime until) const {
    auto time = std::chrono::floor<seconds>(after) + seconds(1);
    while (time <= until) {
      const auto date = std::chrono::floor<days>(time);
      const std::chrono::hh_mm_ss clock(time - date);
      if (!HasDay(date)) {
        time = date + days(1);
      } else if (!Has(hour, clock.hours().count()) || !Has(minute, clock.minutes().count())) {
        time = std::chrono::floor<minutes>(time) + minutes(1);
      } else if (!Has(second, clock.seconds().count())) {
        time += seconds(1);
      } else {
        return WallTime(time);
      }
    }
    return std::nullopt;
  }
};

TEST(CronOracle, AgreesOnTwoThousandRandomExpressions) {
  SeededRandom random(20240229);
  const WallTime begin = At("2023-01-01T00:00:00Z");
  for (int i = 0; i < 2000; ++i) {
    const RandomCron cron(random);
    const Schedule schedule = ScheduleOf(cron.Text());
    WallTime time = begin + seconds(random.Below(3 * 366 * 86'400)) +
                    std::chrono::microseconds(random.Below(2));
    const WallTime until = time + days(800);
    for (int k = 0; k < 5; ++k) {
      const auto wanted = cron.NextAfter(time, until);
      const auto found = schedule.NextAfter(time);
      if (!wanted) {
        ASSERT_TRUE(!found || *found > until) << cron.Text() << " after " << FormatTime(time);
        break;
      }
      ASSERT_TRUE(found) << cron.Text() << " after " << FormatTime(time);
      ASSERT_EQ(FormatTime(*found), FormatTime(*wanted))
          << cron.Text() << " after " << FormatTime(time);
      time = *found;
    }
  }
}

// In a zone a slot is a moment whose local time matches: checked minute by minute over both
// changes.
TEST(CronOracle, AgreesAroundChangesOfTheClocks) {
  const char* const zones[] = {"America/New_York", "Australia/Lord_Howe", "America/Santiago"};
  const std::pair<const char*, int> weeks[] = {{"2021-03-12T00:00:00Z", 4},
                                               {"2021-04-02T00:00:00Z", 3},
                                               {"2021-09-03T00:00:00Z", 4},
                                               {"2021-10-01T00:00:00Z", 3},
                                               {"2021-11-05T00:00:00Z", 4}};
  SeededRandom random(7);
  for (int i = 0; i < 60; ++i) {
    const std::string text =
        MakeField(random, 0, 59, 3).text + " " + MakeField(random, 0, 23, 5).text + " * * *";
    const CronExpression expression = Cron(text);
    const auto& [begin, length] = weeks[i % 5];
    const Schedule schedule = ScheduleOf(text, zones[i % 3]);
    WallTime slot = At(begin);
    for (WallTime time = slot + minutes(1); time < At(begin) + days(length); time += minutes(1)) {
      const auto moment = std::chrono::floor<seconds>(time);
      const CivilSecond local(moment.time_since_epoch() + schedule.zone().PeriodAt(moment).offset);
      if (!expression.Matches(local)) continue;
      const auto next = schedule.NextAfter(slot);
      ASSERT_TRUE(next);
      ASSERT_EQ(FormatTime(*next), FormatTime(time)) << text << " in " << zones[i % 3];
      slot = time;
    }
  }
}

}  // namespace
}  // namespace detent
