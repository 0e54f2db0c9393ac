#include "core/base/alarms.h"

#include <gtest/gtest.h>

#include <vector>

#include "core/base/clock.h"

namespace detent {
namespace {

constexpr int kConfig = 1, kJob = 2, kTask = 3;

WallTime At(int64_t second) {
  return FromUnixSeconds(second);
}

std::vector<int> AllDue(Alarms<int, WallTime>& alarms, int64_t now) {
  std::vector<int> due;
  while (const auto ref = alarms.PopDue(At(now))) due.push_back(*ref);
  return due;
}

TEST(Alarms, GoOffInTheOrderOfTheirTimes) {
  Alarms<int, WallTime> alarms;
  alarms.Set(kTask, At(10));
  alarms.Set(kJob, At(30));
  alarms.Set(kConfig, At(20));
  EXPECT_EQ(alarms.next(), At(10));
  EXPECT_EQ(AllDue(alarms, 20), (std::vector{kTask, kConfig}));
  EXPECT_EQ(alarms.next(), At(30));
}

TEST(Alarms, GoOffInAFixedOrderAtOneTime) {
  Alarms<int, WallTime> alarms;
  for (const int ref : {kTask, kConfig, kJob}) alarms.Set(ref, At(10));
  EXPECT_EQ(AllDue(alarms, 10), (std::vector{kConfig, kJob, kTask}));
}

TEST(Alarms, AreDueFromTheirVeryInstantOn) {
  Alarms<int, WallTime> alarms;
  alarms.Set(kJob, At(10));
  EXPECT_EQ(alarms.PopDue(At(9)), std::nullopt);
  EXPECT_EQ(alarms.PopDue(At(10)), kJob);
  EXPECT_EQ(alarms.PopDue(At(10)), std::nullopt) << "an alarm goes off once";
  EXPECT_EQ(alarms.next(), std::nullopt);
}

TEST(Alarms, HaveOneTimeForEachEntity) {
  const struct {
    const char* because;
    bool no_later;
    int64_t second;
    int64_t expected;
  } cases[] = {
      {"Set replaces by a later time", false, 30, 30},
      {"Set replaces by an earlier time", false, 10, 10},
      {"SetNoLater keeps an earlier time", true, 30, 20},
      {"SetNoLater takes an earlier time", true, 10, 10},
  };
  for (const auto& c : cases) {
    Alarms<int, WallTime> alarms;
    alarms.Set(kJob, At(20));
    c.no_later ? alarms.SetNoLater(kJob, At(c.second)) : alarms.Set(kJob, At(c.second));
    EXPECT_EQ(alarms.next(), At(c.expected)) << c.because;
    EXPECT_EQ(AllDue(alarms, 100), std::vector{kJob}) << c.because;
  }
}

TEST(Alarms, SetNoLaterSetsWhatIsNotSet) {
  Alarms<int, WallTime> alarms;
  alarms.SetNoLater(kJob, At(30));
  EXPECT_EQ(alarms.next(), At(30));
}

TEST(Alarms, AreClearedWithoutTouchingOthers) {
  Alarms<int, WallTime> alarms;
  alarms.Set(kJob, At(10));
  alarms.Set(kTask, At(20));
  alarms.Clear(kJob);
  alarms.Clear(kConfig);
  EXPECT_EQ(AllDue(alarms, 100), std::vector{kTask});
}

TEST(Alarms, AreAllClearedAtOnce) {
  Alarms<int, WallTime> alarms;
  alarms.Set(kJob, At(10));
  alarms.Set(kTask, At(20));
  alarms.ClearAll();
  EXPECT_EQ(alarms.next(), std::nullopt);
  alarms.SetNoLater(kJob, At(30));
  EXPECT_EQ(AllDue(alarms, 100), std::vector{kJob});
}

}  // namespace
}  // namespace detent
