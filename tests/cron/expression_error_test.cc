#include <gtest/gtest.h>

#include "core/cron/expression.h"
#include "tests/cron/times.h"

namespace detent {
namespace {

struct ErrorCase {
  const char* expression;
  const char* message;
};

void Check(const std::vector<ErrorCase>& cases, const CronParseOptions& options = {}) {
  for (const ErrorCase& c : cases) {
    EXPECT_EQ(CronError(c.expression, options), c.message) << "'" << c.expression << "'";
  }
}

TEST(CronErrors, NameTheFieldAndWhatItMayHold) {
  Check({
      {"60 * * * *", "column 1: minute: 60 is not in 0-59"},
      {"* 24 * * *", "column 3: hour: 24 is not in 0-23"},
      {"*  1,024 * * *", "column 6: hour: 024 is not in 0-23"},
      {"* * 0 * *", "column 5: day-of-month: 0 is not in 1-31"},
      {"* * * 13 *", "column 7: month: 13 is not in 1-12 or jan-dec"},
      {"* * * foo *", "column 7: month: 'foo' is not in 1-12 or jan-dec"},
      {"* * * * 8", "column 9: day-of-week: 8 is not in 0-7 or sun-sat"},
      {"* * * * * 2100", "column 11: year: 2100 is not in 1970-2099"},
      {"61 * * * * * *", "column 1: second: 61 is not in 0-59"},
      {"99999999999999999999 * * * *", "column 1: minute: 99999999999999999999 is not in 0-59"},
      {"mon * * * *", "column 1: minute: 'mon' is not in 0-59"},
      {"* L * * *", "column 3: hour: 'L' is not in 0-23"},
  });
}

TEST(CronErrors, CountTheFields) {
  Check({
      {"", "column 1: expected 5 to 7 fields, found 0"},
      {"* * *", "column 6: expected 5 to 7 fields, found 3"},
      {"0 0 * * * * * junk", "column 15: expected 5 to 7 fields, found 8"},
  });
}

TEST(CronErrors, ExplainRangesAndIntervals) {
  Check({
      {"* 20-5 * * *", "column 6: hour: the range ends at 5, before its beginning 20"},
      {"* * * * fri-mon", "column 13: day-of-week: the range ends at 1, before its beginning 5"},
      {"* * * nov-feb *", "column 11: month: the range ends at 2, before its beginning 11"},
      {"* * * * 5-0", "column 11: day-of-week: the range ends at 0, before its beginning 5"},
      {"*/60 * * * *", "column 3: minute: the interval 60 is not in 1-59"},
      {"*/0 * * * *", "column 3: minute: the interval 0 is not in 1-59"},
      {"5/ * * * *", "column 3: minute: expected an interval in 1-59"},
      {"5-70/2 * * * *", "column 3: minute: 70 is not in 0-59"},
      {"?/2 * * * *", "column 2: minute: unexpected '/'"},
  });
}

TEST(CronErrors, PointAtWhatIsOutOfPlace) {
  Check({
      {"1,,2 * * * *", "column 3: minute: expected a value, in 0-59"},
      {"1, * * * *", "column 3: minute: expected a value, in 0-59"},
      {"1- * * * *", "column 3: minute: expected a value, in 0-59"},
      {"1-2-3 * * * *", "column 4: minute: unexpected '-'"},
      {"-5 * * * *", "column 1: minute: unexpected '-'"},
      {"1x * * * *", "column 2: minute: unexpected 'x'"},
      {"*5 * * * *", "column 2: minute: unexpected '5'"},
      {"\x80 * * * *", "column 1: minute: unexpected byte 0x80"},
      {"* * L-3 * *", "column 6: day-of-month: unexpected '-'"},
      {"* * 15WW * *", "column 8: day-of-month: unexpected 'W'"},
      {"* 5W * * *", "column 4: hour: unexpected 'W'"},
      {"* * * * L",
       "column 9: day-of-week: L needs a weekday in front of it, as in 5L for the last "
       "Friday"},
      {"* * * * 5#6", "column 11: day-of-week: after # comes which one of the month, in 1-5"},
      {"* * * * 5#", "column 11: day-of-week: after # comes which one of the month, in 1-5"},
  });
}

TEST(CronErrors, KnowTheAliases) {
  const std::string list =
      "; there are @yearly, @annually, @monthly, @weekly, @daily, @midnight, @hourly";
  Check({
      {"@hourli", ("column 1: unknown alias '@hourli' (did you mean '@hourly'?)" + list).c_str()},
      {"@every 5m", ("column 1: unknown alias '@every'" + list).c_str()},
      {"0 @daily", "column 3: an alias stands alone, without other fields"},
      {"@daily 0", "column 8: an alias stands alone, without other fields"},
  });
}

TEST(CronErrors, RefuseAHashThatCouldNotWorkForEveryName) {
  const CronParseOptions hashed{.hash_id = "ns/name"};
  Check(
      {
          {"H(6-5) * * * *", "column 5: minute: the range ends at 5, before its beginning 6"},
          {"* H(20-2) * * *", "column 8: hour: the range ends at 2, before its beginning 20"},
          {"H(0-3)/5 * * * *", "column 8: minute: the interval 5 is not in 1-4"},
          {"* * H/29 * *", "column 7: day-of-month: the interval 29 is not in 1-28"},
          {"H(5) * * * *", "column 4: minute: expected '-', as in H(a-b)"},
          {"H(5-6 * * * *", "column 6: minute: expected ')', as in H(a-b)"},
          {"H(5-60) * * * *", "column 5: minute: 60 is not in 0-59"},
          {"H5 * * * *", "column 2: minute: unexpected '5'"},
          {"H-5 * * * *", "column 2: minute: unexpected '-'"},
          {"HH * * * *", "column 1: minute: 'HH' is not in 0-59"},
      },
      hashed);
  Check({{"0 H * * *", "column 3: hour: H cannot be used here: hashing is turned off"}});
}

}  // namespace
}  // namespace detent
