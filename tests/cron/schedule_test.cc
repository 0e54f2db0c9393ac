#include "core/cron/schedule.h"

#include <gtest/gtest.h>

#include "tests/cron/times.h"

namespace detent {
namespace {

using Times = std::vector<std::string>;

TEST(Schedule, StartsStrictlyAfterTheGivenTime) {
  const Schedule every_second = ScheduleOf("* * * * * * *");
  const WallTime whole = At("2024-01-01T00:00:00Z");
  EXPECT_EQ(every_second.NextAfter(whole), whole + std::chrono::seconds(1));
  EXPECT_EQ(every_second.NextAfter(whole + std::chrono::microseconds(1)),
            whole + std::chrono::seconds(1));
  EXPECT_EQ(every_second.NextAfter(whole - std::chrono::microseconds(1)), whole);
}

TEST(Schedule, ReadsLocalTimesInItsZone) {
  EXPECT_EQ(NextText(ScheduleOf("0 9 * * *", "Asia/Singapore"), "2024-01-01T00:00:00Z"),
            "2024-01-01T01:00:00Z");
  EXPECT_EQ(NextText(ScheduleOf("0 9 * * *", "UTC-05:30"), "2024-01-01T00:00:00Z"),
            "2024-01-01T14:30:00Z");
  EXPECT_EQ(NextText(ScheduleOf("0 0 1 1 *", "Pacific/Kiritimati"), "2024-06-01T00:00:00Z"),
            "2024-12-31T10:00:00Z");
}

TEST(Schedule, SkipsTheTimesThatSpringRemoves) {
  EXPECT_EQ(Slots(ScheduleOf("30 2 * * *", "America/New_York"), "2021-03-13T00:00:00Z", 3),
            (Times{"2021-03-13T07:30:00Z", "2021-03-15T06:30:00Z", "2021-03-16T06:30:00Z"}));
  EXPECT_EQ(Slots(ScheduleOf("0 0 * * *", "America/Santiago"), "2021-09-04T00:00:00Z", 2),
            (Times{"2021-09-04T04:00:00Z", "2021-09-06T03:00:00Z"}))
      << "Santiago has no midnight on that day";
  EXPECT_EQ(Slots(ScheduleOf("*/15 2 * * *", "Australia/Lord_Howe"), "2021-10-02T14:00:00Z", 3),
            (Times{"2021-10-02T15:30:00Z", "2021-10-02T15:45:00Z", "2021-10-03T15:00:00Z"}))
      << "only half an hour is missing";
  EXPECT_EQ(Slots(ScheduleOf("0 12 * * *", "Pacific/Apia"), "2011-12-29T00:00:00Z", 2),
            (Times{"2011-12-29T22:00:00Z", "2011-12-30T22:00:00Z"}))
      << "Samoa had no 30 December 2011";
}

TEST(Schedule, FiresTwiceInTheHourThatAutumnRepeats) {
  const Schedule half_past = ScheduleOf("30 1 * * *", "America/New_York");
  EXPECT_EQ(Slots(half_past, "2021-11-06T12:00:00Z", 3),
            (Times{"2021-11-07T05:30:00Z", "2021-11-07T06:30:00Z", "2021-11-08T06:30:00Z"}));
  EXPECT_EQ(NextText(half_past, "2021-11-07T05:45:00Z"), "2021-11-07T06:30:00Z")
      << "asked between the two";
  EXPECT_EQ(Slots(ScheduleOf("45 1 * * *", "Australia/Lord_Howe"), "2021-04-03T00:00:00Z", 2),
            (Times{"2021-04-03T14:45:00Z", "2021-04-03T15:15:00Z"}))
      << "half an hour apart";
  EXPECT_EQ(Slots(ScheduleOf("0 * * * *", "America/New_York"), "2021-11-07T03:30:00Z", 4),
            (Times{"2021-11-07T04:00:00Z", "2021-11-07T05:00:00Z", "2021-11-07T06:00:00Z",
                   "2021-11-07T07:00:00Z"}))
      << "every hour is every hour";
}

TEST(Schedule, FollowsSummerTimeAfter2037) {
  EXPECT_EQ(Slots(ScheduleOf("30 2 * * *", "America/New_York"), "2050-03-12T00:00:00Z", 2),
            (Times{"2050-03-12T07:30:00Z", "2050-03-14T06:30:00Z"}));
  EXPECT_EQ(NextText(ScheduleOf("0 12 1 7 *", "America/New_York"), "2098-07-02T00:00:00Z"),
            "2099-07-01T16:00:00Z");
}

TEST(Schedule, TakesTheEarliestOfSeveralExpressions) {
  const auto schedule = Schedule::Parse({"0 9 * * *", "30 8 * * 1", "0 9 1 * *"}, "UTC");
  ASSERT_TRUE(schedule);
  EXPECT_EQ(Slots(*schedule, "2023-12-31T12:00:00Z", 3),
            (Times{"2024-01-01T08:30:00Z", "2024-01-01T09:00:00Z", "2024-01-02T09:00:00Z"}))
      << "two that meet are one slot";
  const auto ending = Schedule::Parse({"0 0 1 1 * 2000", "0 0 1 1 * 2030"}, "UTC");
  ASSERT_TRUE(ending);
  EXPECT_EQ(NextText(*ending, "2024-01-01T00:00:00Z"), "2030-01-01T00:00:00Z");
}

TEST(Schedule, EndsWithTheCalendarInEveryZone) {
  EXPECT_EQ(NextText(ScheduleOf("0 0 30 2 *", "America/New_York"), "2024-01-01T00:00:00Z"),
            "never");
  EXPECT_EQ(NextText(ScheduleOf("0 23 31 12 *", "America/New_York"), "2099-02-01T00:00:00Z"),
            "2100-01-01T04:00:00Z");
  const Schedule always = ScheduleOf("* * * * *", "Asia/Tokyo");
  EXPECT_EQ(always.NextAfter(WallTime::max()), std::nullopt);
  EXPECT_EQ(always.NextAfter(WallTime::min()), At("1969-12-31T15:00:00Z"));
}

TEST(Schedule, SaysWhichPartIsWrong) {
  EXPECT_EQ(Schedule::Parse({}, "UTC").error().message(), "there is no cron expression");
  EXPECT_EQ(Schedule::Parse({"* * * *"}, "UTC").error().message(),
            "column 8: expected 5 to 7 fields, found 4");
  EXPECT_EQ(Schedule::Parse({"@daily", "* 24 * * *"}, "UTC").error().message(),
            "expression 2: column 3: hour: 24 is not in 0-23");
  EXPECT_EQ(Schedule::Parse({"@daily"}, "Mars").error().code(), Code::kInvalid);
}

}  // namespace
}  // namespace detent
