#include "core/base/clock.h"

#include <gtest/gtest.h>

namespace detent {
namespace {

struct TimeCase {
  const char* text;
  const char* micros;  // Empty if the text must be refused.
  const char* because;
};
const TimeCase kTimes[] = {
    {"2026-11-21T10:00:00Z", "2026-11-21T10:00:00.000000Z", "UTC"},
    {"2026-11-21t10:00:00z", "2026-11-21T10:00:00.000000Z", "letters may be small"},
    {"2026-11-21T10:00:00+08:00", "2026-11-21T02:00:00.000000Z", "east is earlier"},
    {"2026-11-21T10:00:00-03:30", "2026-11-21T13:30:00.000000Z", "west is later"},
    {"2026-01-01T00:30:00+01:00", "2025-12-31T23:30:00.000000Z", "the year may change"},
    {"2024-02-29T00:00:00Z", "2024-02-29T00:00:00.000000Z", "a leap year"},
    {"2023-02-29T00:00:00Z", "", "no leap year"},
    {"2000-02-29T00:00:00Z", "2000-02-29T00:00:00.000000Z", "divisible by 400"},
    {"2100-02-29T00:00:00Z", "", "divisible by 100 only"},
    {"2026-11-21T10:00:00.5Z", "2026-11-21T10:00:00.500000Z", "one digit of fraction"},
    {"2026-11-21T10:00:00.123456789Z", "2026-11-21T10:00:00.123456Z", "nanoseconds are cut"},
    {"2026-11-21T10:00:00.1234567890Z", "", "ten digits are too many"},
    {"2026-11-21T10:00:00.Z", "", "a point needs digits"},
    {"1969-12-31T23:59:59.999999Z", "1969-12-31T23:59:59.999999Z", "before the epoch"},
    {"0001-01-01T00:00:00Z", "0001-01-01T00:00:00.000000Z", "Go's zero time"},
    {"9999-12-31T23:59:59Z", "9999-12-31T23:59:59.000000Z", "the last year of four digits"},
    {"2016-12-31T23:59:60Z", "2017-01-01T00:00:00.000000Z", "a leap second is the next day's"},
    {"2016-12-31T18:59:60-05:00", "2017-01-01T00:00:00.000000Z", "the same one in New York"},
    {"2016-12-31T22:59:60Z", "", "leap seconds end a UTC day"},
    {"2026-11-21T24:00:00Z", "", "hours end at 23"},
    {"2026-11-21T10:60:00Z", "", "minutes end at 59"},
    {"2026-13-01T10:00:00Z", "", "months end at 12"},
    {"2026-00-01T10:00:00Z", "", "months begin at 1"},
    {"2026-11-31T10:00:00Z", "", "November has 30 days"},
    {"2026-11-21T10:00:00", "", "the zone is required"},
    {"2026-11-21T10:00:00+0800", "", "the offset has a colon"},
    {"2026-11-21T10:00:00+24:00", "", "offsets end at 23:59"},
    {"2026-11-21 10:00:00Z", "", "a space is no T"},
    {" 2026-11-21T10:00:00Z", "", "nothing may stand before"},
    {"2026-11-21T10:00:00Z ", "", "nor behind"},
    {"2026-1-21T10:00:00Z", "", "all digits must be there"},
    {"-026-11-21T10:00:00Z", "", "no signs"},
    {"", "", "no time at all"},
};

TEST(Clock, ReadsTimesOfRfc3339) {
  for (const TimeCase& c : kTimes) {
    const auto time = ParseTime(c.text);
    EXPECT_EQ(time ? FormatMicroTime(*time) : "", c.micros) << c.text << ": " << c.because;
  }
}

TEST(Clock, RefusesEveryBeginningOfATime) {
  const std::string text = "2026-11-21T10:00:00.25+08:00";
  ASSERT_TRUE(ParseTime(text));
  for (size_t length = 0; length < text.size(); ++length) {
    EXPECT_FALSE(ParseTime(text.substr(0, length))) << text.substr(0, length);
  }
}

TEST(Clock, WritesWholeSecondsDownwards) {
  EXPECT_EQ(FormatTime(FromUnixSeconds(0)), "1970-01-01T00:00:00Z");
  EXPECT_EQ(FormatTime(FromUnixSeconds(1795255200)), "2026-11-21T10:00:00Z");
  EXPECT_EQ(FormatTime(WallTime(std::chrono::microseconds(-1))), "1969-12-31T23:59:59Z");
  EXPECT_EQ(UnixSeconds(WallTime(std::chrono::microseconds(-1))), -1);
  EXPECT_EQ(UnixSeconds(WallTime(std::chrono::microseconds(1'999'999))), 1);
}

TEST(Clock, ReadsBackWhatItWrites) {
  for (int64_t micros = -5'000'000'000'000'000; micros < 5'000'000'000'000'000;
       micros += 12'345'678'901'234) {
    const WallTime time{std::chrono::microseconds(micros)};
    EXPECT_EQ(ParseTime(FormatMicroTime(time)), time);
  }
}

TEST(Clock, ShowsAgesAsKubectlDoes) {
  const std::pair<int64_t, const char*> cases[] = {
      {-2, "<invalid>"},
      {-1, "0s"},
      {0, "0s"},
      {119, "119s"},
      {120, "2m"},
      {200, "3m20s"},
      {599, "9m59s"},
      {600, "10m"},
      {179 * 60 + 59, "179m"},
      {180 * 60, "3h"},
      {5 * 3600 + 60, "5h1m"},
      {8 * 3600, "8h"},
      {47 * 3600, "47h"},
      {48 * 3600, "2d"},
      {49 * 3600, "2d1h"},
      {8 * 86400, "8d"},
      {12 * 86400, "12d"},
      {730 * 86400, "2y"},
      {731 * 86400, "2y1d"},
      {2920 * 86400, "8y"},
  };
  for (const auto& [seconds, text] : cases) {
    EXPECT_EQ(FormatAge(std::chrono::seconds(seconds)), text) << seconds;
  }
}

TEST(Clock, OfTheSystemRunsForward) {
  const SystemClock clock;
  const MonoTime before = clock.Mono();
  EXPECT_LE(before, clock.Mono());
  EXPECT_GT(clock.Now(), *ParseTime("2020-01-01T00:00:00Z"));
}

}  // namespace
}  // namespace detent
