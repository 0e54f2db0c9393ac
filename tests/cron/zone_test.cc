#include "core/cron/zone.h"

#include <gtest/gtest.h>

#include "tests/cron/times.h"

namespace detent {
namespace {

using std::chrono::sys_seconds;

Zone ZoneOf(std::string_view name) {
  auto zone = Zone::Find(name);
  EXPECT_TRUE(zone) << zone.error().message();
  return zone ? *zone : Zone();
}

std::string Text(sys_seconds time) {
  return FormatTime(WallTime(time));
}

sys_seconds Moment(std::string_view text) {
  return std::chrono::floor<std::chrono::seconds>(At(text));
}

CivilSecond Local(std::string_view text) {
  return CivilSecond(Moment(std::string(text) + "Z").time_since_epoch());
}

TEST(Zone, ReadsOffsetsInEveryForm) {
  const std::pair<const char*, const char*> rows[] = {
      {"", "UTC"},
      {"Local", "UTC"},
      {"UTC", "UTC"},
      {"GMT", "UTC"},
      {"UTC+8", "UTC+08:00"},
      {"UTC-08", "UTC-08:00"},
      {"GMT+5:30", "UTC+05:30"},
      {"GMT-09:30", "UTC-09:30"},
      {"UTC+0545", "UTC+05:45"},
      {"UTC-0", "UTC"},
      {"Asia/Singapore", "Asia/Singapore"},
      {"Etc/GMT+5", "Etc/GMT+5"},
  };
  for (const auto& [name, shown] : rows) EXPECT_EQ(ZoneOf(name).name(), shown) << name;
  EXPECT_EQ(ZoneOf("UTC-9:30").PeriodAt(sys_seconds{}).offset, -std::chrono::minutes(570));
  EXPECT_EQ(ZoneOf("UTC+0530"), ZoneOf("GMT+5:30"));
  EXPECT_EQ(ZoneOf("Asia/Tokyo"), ZoneOf("Asia/Tokyo"));
}

TEST(Zone, NamesTheNearestZoneForAnUnknownOne) {
  const std::pair<const char*, const char*> rows[] = {
      {"Asia/Singapor", "unknown time zone 'Asia/Singapor' (did you mean 'Asia/Singapore'?)"},
      {"america/new_york",
       "unknown time zone 'america/new_york' (did you mean 'America/New_York'?)"},
      {"utc", "unknown time zone 'utc' (did you mean 'UTC'?)"},
      {"../../../etc/passwd", "unknown time zone '../../../etc/passwd'"},
      {"Nowhere/In_Particular_At_All", "unknown time zone 'Nowhere/In_Particular_At_All'"},
  };
  for (const auto& [name, message] : rows) {
    const auto zone = Zone::Find(name);
    ASSERT_FALSE(zone) << name;
    EXPECT_EQ(zone.error().code(), Code::kInvalid);
    EXPECT_EQ(zone.error().message(), message);
  }
}

TEST(Zone, RefusesOffsetsThatAreNone) {
  for (const char* name : {"UTC+", "UTC+24", "UTC+5:60", "UTC+5:3", "UTC+123", "GMT-x", "UTC+:30",
                           "UTC+12345", "UTC+05:30:00"}) {
    const auto zone = Zone::Find(name);
    ASSERT_FALSE(zone) << name;
    EXPECT_NE(zone.error().message().find("no valid offset"), std::string::npos) << name;
  }
}

TEST(Zone, TellsUniqueSkippedAndRepeatedTimes) {
  struct Row {
    const char* zone;
    const char* local;
    Zone::Fit fit;
    const char* first;
    const char* last;
  };
  using enum Zone::Fit;
  const Row rows[] = {
      {"UTC", "2021-03-14T02:30:00", kUnique, "2021-03-14T02:30:00Z", "2021-03-14T02:30:00Z"},
      {"America/New_York", "2021-03-14T01:59:59", kUnique, "2021-03-14T06:59:59Z",
       "2021-03-14T06:59:59Z"},
      {"America/New_York", "2021-03-14T02:30:00", kSkipped, "2021-03-14T07:00:00Z",
       "2021-03-14T07:00:00Z"},
      {"America/New_York", "2021-11-07T01:30:00", kRepeated, "2021-11-07T05:30:00Z",
       "2021-11-07T06:30:00Z"},
      {"Australia/Lord_Howe", "2021-10-03T02:15:00", kSkipped, "2021-10-02T15:30:00Z",
       "2021-10-02T15:30:00Z"},
      {"Australia/Lord_Howe", "2021-04-04T01:45:00", kRepeated, "2021-04-03T14:45:00Z",
       "2021-04-03T15:15:00Z"},
      {"Pacific/Apia", "2011-12-30T12:00:00", kSkipped, "2011-12-30T10:00:00Z",
       "2011-12-30T10:00:00Z"},
  };
  for (const Row& row : rows) {
    const Zone::Moments moments = ZoneOf(row.zone).ToAbsolute(Local(row.local));
    EXPECT_EQ(moments.fit, row.fit) << row.zone << " " << row.local;
    EXPECT_EQ(Text(moments.first), row.first) << row.zone << " " << row.local;
    EXPECT_EQ(Text(moments.last), row.last) << row.zone << " " << row.local;
  }
}

// A zone's file lists its changes up to 2037 at most.
TEST(Zone, FollowsTheYearlyRuleBeyondTheListedChanges) {
  struct Row {
    const char* zone;
    const char* time;
    int minutes;
    const char* end;
  };
  const Row rows[] = {
      {"America/New_York", "2050-07-01T00:00:00Z", -240, "2050-11-06T06:00:00Z"},
      {"America/New_York", "2050-12-31T00:00:00Z", -300, "2051-03-12T07:00:00Z"},
      {"Australia/Lord_Howe", "2098-01-01T00:00:00Z", 660, "2098-04-05T15:00:00Z"},
      {"Australia/Lord_Howe", "2098-07-01T00:00:00Z", 630, "2098-10-04T15:30:00Z"},
      {"Europe/Dublin", "2060-07-01T00:00:00Z", 60, "2060-10-31T01:00:00Z"},
  };
  for (const Row& row : rows) {
    const ClockPeriod period = ZoneOf(row.zone).PeriodAt(Moment(row.time));
    EXPECT_EQ(period.offset, std::chrono::minutes(row.minutes)) << row.zone << " " << row.time;
    EXPECT_EQ(Text(period.end), row.end) << row.zone << " " << row.time;
    EXPECT_LE(period.begin, Moment(row.time));
  }
}

TEST(ZoneRule, ReadsEveryFormOfDay) {
  EXPECT_TRUE(ZoneRule::Parse("EST5EDT,M3.2.0,M11.1.0"));
  EXPECT_TRUE(ZoneRule::Parse("<-02>2<-01>,M3.5.0/-1,M10.5.0/0"));
  EXPECT_TRUE(ZoneRule::Parse("XXX3EDT4,0/0,J365/23"));
  for (const char* text : {"", "UTC0", "EST5EDT", "EST5EDT,M13.2.0,M11.1.0", "EST5EDT,M3.2.0",
                           "EST5EDT,M3.2.0,M11.1.0,", "<EST5EDT,M3.2.0,M11.1.0", "5,0,1"}) {
    EXPECT_FALSE(ZoneRule::Parse(text)) << text;
  }
  const auto leap = ZoneRule::Parse("AAA0BBB,J60/0,59/0");
  ASSERT_TRUE(leap);
  EXPECT_EQ(Text(leap->PeriodAt(Moment("2027-02-28T23:00:00Z")).end), "2027-03-01T00:00:00Z")
      << "J60 is 1 March in every year";
  EXPECT_EQ(Text(leap->PeriodAt(Moment("2028-02-28T12:00:00Z")).end), "2028-02-28T23:00:00Z")
      << "59 is 29 February in a leap year";
}

}  // namespace
}  // namespace detent
