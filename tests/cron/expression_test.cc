#include "core/cron/expression.h"

#include <gtest/gtest.h>

#include "tests/cron/times.h"

namespace detent {
namespace {

struct NextCase {
  const char* expression;
  const char* after;
  const char* next;
  const char* because;
};

void Check(const std::vector<NextCase>& cases) {
  for (const NextCase& c : cases) {
    EXPECT_EQ(NextText(ScheduleOf(c.expression), c.after), c.next)
        << c.expression << " after " << c.after << ": " << c.because;
  }
}

TEST(CronExpression, FindsTheNextTimeOfPlainFields) {
  Check({
      {"* * * * *", "2024-01-01T00:00:00Z", "2024-01-01T00:01:00Z", "strictly after"},
      {"* * * * *", "2024-01-01T00:00:59Z", "2024-01-01T00:01:00Z", "the second is 0"},
      {"30 * * * *", "2024-01-01T00:30:00Z", "2024-01-01T01:30:00Z", "next hour"},
      {"59 23 31 12 *", "2024-12-31T23:59:00Z", "2025-12-31T23:59:00Z", "next year"},
      {"0 0 1 * *", "2024-12-01T00:00:00Z", "2025-01-01T00:00:00Z", "over New Year"},
      {"5,10-12 8-18/5 * * *", "2024-01-01T08:10:00Z", "2024-01-01T08:11:00Z", "a range"},
      {"5,10-12 8-18/5 * * *", "2024-01-01T08:12:00Z", "2024-01-01T13:05:00Z", "a step"},
      {"50/4 * * * *", "2024-01-01T00:54:00Z", "2024-01-01T00:58:00Z", "a/n runs to the end"},
      {"/20 * * * *", "2024-01-01T00:00:00Z", "2024-01-01T00:20:00Z", "/n is */n"},
      {"** ?? * * ?", "2024-01-01T00:00:00Z", "2024-01-01T00:01:00Z", "all are wildcards"},
      {"007 08 * * *", "2024-01-01T00:00:00Z", "2024-01-01T08:07:00Z", "leading zeros"},
      {"0 0 1 1 * 2030", "2024-01-01T00:00:00Z", "2030-01-01T00:00:00Z", "six: a year"},
      {"15 0 0 1 1 * 2030-2040/5", "2030-06-01T00:00:00Z", "2035-01-01T00:00:15Z", "seven"},
      {"*/20 * * * * * *", "2024-01-01T00:00:41Z", "2024-01-01T00:01:00Z", "seconds"},
      {"\t0 0\n1  1 * ", "2024-01-01T00:00:00Z", "2025-01-01T00:00:00Z", "any white space"},
  });
}

TEST(CronExpression, KnowsNamesInAnyCaseShortAndLong) {
  Check({
      {"0 0 1 JAN *", "2024-02-01T00:00:00Z", "2025-01-01T00:00:00Z", "short"},
      {"0 0 1 September *", "2024-02-01T00:00:00Z", "2024-09-01T00:00:00Z", "long"},
      {"0 0 1 apr-jul/3 *", "2024-04-02T00:00:00Z", "2024-07-01T00:00:00Z", "ranges of names"},
      {"0 0 * * MoN", "2024-01-01T00:00:00Z", "2024-01-08T00:00:00Z", "weekday"},
      {"0 0 * * thursday,2", "2024-01-01T00:00:00Z", "2024-01-02T00:00:00Z", "mixed list"},
  });
}

TEST(CronExpression, HasSundayAtBothEndsOfTheWeek) {
  // 2024-01-06 is a Saturday.
  Check({
      {"0 0 * * 5-7", "2024-01-06T00:00:00Z", "2024-01-07T00:00:00Z", "7 in a range"},
      {"0 0 * * 1-7", "2024-01-06T00:00:00Z", "2024-01-07T00:00:00Z", "the whole week"},
      {"0 0 * * sat-sun", "2024-01-06T00:00:00Z", "2024-01-07T00:00:00Z", "names"},
      {"0 0 * * sun-mon", "2024-01-06T00:00:00Z", "2024-01-07T00:00:00Z", "Sunday as the first"},
      {"0 0 * * 0", "2024-01-06T00:00:00Z", "2024-01-07T00:00:00Z", "0"},
      {"0 0 * * 7", "2024-01-06T00:00:00Z", "2024-01-07T00:00:00Z", "7"},
      {"0 0 * * 01", "2024-01-06T00:00:00Z", "2024-01-08T00:00:00Z", "01 is Monday"},
      {"0 0 * * 05", "2024-01-06T00:00:00Z", "2024-01-12T00:00:00Z", "05 is Friday"},
      {"0 0 * * 7/2", "2024-01-07T00:00:00Z", "2024-01-14T00:00:00Z", "a step from the end"},
  });
  EXPECT_EQ(Cron("0 0 * * 0-7"), Cron("0 0 * * 0-6"));
}

TEST(CronExpression, JoinsTheTwoDayFieldsIfBothAreRestricted) {
  Check({
      {"0 0 13 * 5", "2024-01-01T00:00:00Z", "2024-01-05T00:00:00Z", "a Friday"},
      {"0 0 13 * 5", "2024-01-12T00:00:00Z", "2024-01-13T00:00:00Z", "or the 13th"},
      {"0 0 */10 * 1", "2024-01-01T00:00:00Z", "2024-01-08T00:00:00Z", "*/n restricts"},
      {"0 0 * * 1", "2024-01-01T00:00:00Z", "2024-01-08T00:00:00Z", "* does not"},
      {"0 0 13 * ?", "2024-01-01T00:00:00Z", "2024-01-13T00:00:00Z", "nor does ?"},
      {"0 0 5,* * 1", "2024-01-01T00:00:00Z", "2024-01-08T00:00:00Z", "* in a list is all days"},
      {"0 0 L * 5#2", "2024-01-12T00:00:00Z", "2024-01-31T00:00:00Z", "special days, too"},
  });
}

TEST(CronExpression, FindsTheLastDaysOfAMonth) {
  Check({
      {"0 0 L * *", "2024-02-01T00:00:00Z", "2024-02-29T00:00:00Z", "leap year"},
      {"0 0 L * *", "2023-02-01T00:00:00Z", "2023-02-28T00:00:00Z", "common year"},
      {"0 0 LW * *", "2024-06-01T00:00:00Z", "2024-06-28T00:00:00Z", "30 June is a Sunday"},
      {"0 0 LW * *", "2024-08-01T00:00:00Z", "2024-08-30T00:00:00Z", "31 August is a Saturday"},
      {"0 0 lw * *", "2024-07-01T00:00:00Z", "2024-07-31T00:00:00Z", "a Wednesday itself"},
      {"0 0 15,L * *", "2024-02-15T00:00:00Z", "2024-02-29T00:00:00Z", "in a list"},
      {"0 0 * * 5L", "2024-01-01T00:00:00Z", "2024-01-26T00:00:00Z", "last Friday"},
      {"0 0 * * friL", "2024-02-01T00:00:00Z", "2024-02-23T00:00:00Z", "by name"},
      {"0 0 * * 7L", "2024-03-01T00:00:00Z", "2024-03-31T00:00:00Z", "last Sunday, the 31st"},
  });
}

TEST(CronExpression, FindsNearestAndNthWeekdays) {
  Check({
      {"0 0 15W * *", "2024-06-01T00:00:00Z", "2024-06-14T00:00:00Z", "Saturday moves back"},
      {"0 0 15w * *", "2024-09-01T00:00:00Z", "2024-09-16T00:00:00Z", "Sunday moves on"},
      {"0 0 15W * *", "2024-05-01T00:00:00Z", "2024-05-15T00:00:00Z", "a Wednesday stays"},
      {"0 0 1W * *", "2024-06-01T00:00:00Z", "2024-06-03T00:00:00Z", "not into May"},
      {"0 0 30W * *", "2024-06-01T00:00:00Z", "2024-06-28T00:00:00Z", "not into July"},
      {"0 0 31W * *", "2024-06-01T00:00:00Z", "2024-07-31T00:00:00Z", "June has no 31st"},
      {"0 0 1W,20W * *", "2024-06-03T00:00:00Z", "2024-06-20T00:00:00Z", "in a list"},
      {"0 0 * * 5#2", "2024-01-01T00:00:00Z", "2024-01-12T00:00:00Z", "second Friday"},
      {"0 0 * * mon#1", "2024-01-01T00:00:00Z", "2024-02-05T00:00:00Z", "first Monday, by name"},
      {"0 0 * * 4#5", "2024-01-01T00:00:00Z", "2024-02-29T00:00:00Z", "January has four Thursdays"},
      {"0 0 * * 7#1", "2024-01-01T00:00:00Z", "2024-01-07T00:00:00Z", "7 is Sunday"},
      {"0 0 * * 1#1,3#3", "2024-01-01T00:00:00Z", "2024-01-17T00:00:00Z", "in a list"},
  });
}

TEST(CronExpression, KnowsLeapYearsAndTheEndOfTheCalendar) {
  Check({
      {"0 0 29 2 *", "2024-02-29T00:00:00Z", "2028-02-29T00:00:00Z", "the next leap year"},
      {"0 0 29 2 *", "2096-02-29T00:00:00Z", "never", "2100 is none, and the end"},
      {"0 0 31 2 *", "2024-01-01T00:00:00Z", "never", "no such date"},
      {"0 0 30 2,4 *", "2024-01-01T00:00:00Z", "2024-04-30T00:00:00Z", "the other month"},
      {"* * * * *", "2099-12-31T23:58:30Z", "2099-12-31T23:59:00Z", "the last minute"},
      {"* * * * *", "2099-12-31T23:59:00Z", "never", "past the last minute"},
      {"* * * * *", "1950-01-01T00:00:00Z", "1970-01-01T00:00:00Z", "the first minute"},
      {"0 0 1 1 * 1971", "2024-01-01T00:00:00Z", "never", "in the past"},
  });
}

TEST(CronExpression, ReadsAliases) {
  EXPECT_EQ(Cron("@yearly"), Cron("0 0 1 1 *"));
  EXPECT_EQ(Cron("@annually"), Cron("@Yearly"));
  EXPECT_EQ(Cron("@monthly"), Cron("0 0 1 * *"));
  EXPECT_EQ(Cron("@weekly"), Cron("0 0 * * 0"));
  EXPECT_EQ(Cron(" @daily "), Cron("0 0 * * *"));
  EXPECT_EQ(Cron("@midnight"), Cron("@daily"));
  EXPECT_EQ(Cron("@hourly"), Cron("0 * * * *"));
}

TEST(CronExpression, HashesToTheSameTimesAsFuriko) {
  const char* const expressions[] = {"H * * * *", "H H * * *",    "H H H * *",
                                     "H H * * H", "H/15 * * * *", "H H/5 * * * * *"};
  const std::pair<const char*, std::vector<const char*>> rows[] = {
      {"default/jobconfig-sample",
       {"01T00:20:00", "01T01:20:00", "02T01:20:00", "06T01:20:00", "01T00:05:00", "01T00:00:14"}},
      {"default/hash-cron-expression",
       {"01T00:30:00", "01T08:30:00", "26T08:30:00", "03T08:30:00", "01T00:15:00", "01T00:00:25"}},
      {"default/a",
       {"01T00:09:00", "01T20:09:00", "05T20:09:00", "03T20:09:00", "01T00:09:00", "01T00:04:27"}},
      {"team-a/nightly",
       {"01T00:52:00", "01T19:52:00", "26T19:52:00", "02T19:52:00", "01T00:07:00", "01T00:02:18"}},
  };
  for (const auto& [id, times] : rows) {
    for (size_t i = 0; i < times.size(); ++i) {
      const Schedule schedule({Cron(expressions[i], {.hash_id = id, .hash_fields = true})}, Zone());
      EXPECT_EQ(NextText(schedule, "2024-01-01T00:00:00Z"),
                std::string("2024-01-") + times[i] + "Z")
          << id << ": " << expressions[i];
    }
  }
}

TEST(CronExpression, KeepsHashedValuesWithinTheirRange) {
  const char* const forms[] = {"H(5-9) * * * *",   "H(10-20)/3 * * * *", "0 0 H/3 * *",
                               "0 0 1 H/3 *",      "0 0 1 1 * H/5",      "0 0 H/28 * *",
                               "0 0 1 H(2-3)/2 *", "0 H,3 * * *",        "0 0 H(29-31) * *"};
  for (int i = 0; i < 300; ++i) {
    const std::string id = "ns/name-" + std::to_string(i);
    for (const char* form : forms) Cron(form, {.hash_id = id, .hash_fields = i % 2 == 0});
    const CronExpression minute = Cron("H(5-9) * * * *", {.hash_id = id});
    const auto first = minute.NextCivil(CivilSecond{});
    ASSERT_TRUE(first);
    const auto value = first->time_since_epoch() / std::chrono::minutes(1);
    EXPECT_TRUE(value >= 5 && value <= 9) << value;
    const CronExpression day = Cron("0 0 H * *", {.hash_id = id});
    EXPECT_LT(day.NextCivil(CivilSecond(std::chrono::seconds(-1)))->time_since_epoch(),
              std::chrono::days(28));
  }
}

TEST(CronExpression, HashesTheSecondOnlyIfAskedTo) {
  const CronParseOptions hashed{.hash_id = "ns/a", .hash_seconds_by_default = true};
  EXPECT_EQ(Cron("0 0 * * *", hashed), Cron("H 0 0 * * * *", hashed));
  EXPECT_EQ(Cron("5 0 0 * * * *", hashed), Cron("5 0 0 * * * *"));
  EXPECT_EQ(Cron("@daily", hashed), Cron("@daily"));
  EXPECT_EQ(Cron("0 0 * * *", {.hash_seconds_by_default = true}), Cron("0 0 * * *"));
}

}  // namespace
}  // namespace detent
