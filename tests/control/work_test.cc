#include "core/control/work.h"

#include <gtest/gtest.h>

#include <vector>

namespace detent {
namespace {

constexpr EntityRef kConfig{EntityType::kConfig, 1};
constexpr EntityRef kJob{EntityType::kJob, 2};
constexpr EntityRef kTask{EntityType::kTask, 3};

WallTime At(int64_t second) {
  return FromUnixSeconds(second);
}

std::vector<EntityRef> AllDue(Alarms<WallTime>& alarms, int64_t now) {
  std::vector<EntityRef> due;
  while (const auto ref = alarms.PopDue(At(now))) due.push_back(*ref);
  return due;
}

TEST(Alarms, GoOffInTheOrderOfTheirTimes) {
  Alarms<WallTime> alarms;
  alarms.Set(kTask, At(10));
  alarms.Set(kJob, At(30));
  alarms.Set(kConfig, At(20));
  EXPECT_EQ(alarms.next(), At(10));
  EXPECT_EQ(AllDue(alarms, 20), (std::vector{kTask, kConfig}));
  EXPECT_EQ(alarms.next(), At(30));
}

TEST(Alarms, GoOffInAFixedOrderAtOneTime) {
  Alarms<WallTime> alarms;
  for (const EntityRef ref : {kTask, kConfig, kJob}) alarms.Set(ref, At(10));
  EXPECT_EQ(AllDue(alarms, 10), (std::vector{kConfig, kJob, kTask}));
}

TEST(Alarms, AreDueFromTheirVeryInstantOn) {
  Alarms<WallTime> alarms;
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
    Alarms<WallTime> alarms;
    alarms.Set(kJob, At(20));
    c.no_later ? alarms.SetNoLater(kJob, At(c.second)) : alarms.Set(kJob, At(c.second));
    EXPECT_EQ(alarms.next(), At(c.expected)) << c.because;
    EXPECT_EQ(AllDue(alarms, 100), std::vector{kJob}) << c.because;
  }
}

TEST(Alarms, SetNoLaterSetsWhatIsNotSet) {
  Alarms<WallTime> alarms;
  alarms.SetNoLater(kJob, At(30));
  EXPECT_EQ(alarms.next(), At(30));
}

TEST(Alarms, AreClearedWithoutTouchingOthers) {
  Alarms<WallTime> alarms;
  alarms.Set(kJob, At(10));
  alarms.Set(kTask, At(20));
  alarms.Clear(kJob);
  alarms.Clear(kConfig);
  EXPECT_EQ(AllDue(alarms, 100), std::vector{kTask});
}

TEST(Work, ListsAnEntityOnceUntilItIsTaken) {
  Work work;
  for (const EntityRef ref : {kJob, kTask, kJob, kJob}) work.Enqueue(ref);
  EXPECT_EQ(work.Pop(), kJob);
  work.Enqueue(kJob);
  EXPECT_EQ(work.Pop(), kTask);
  EXPECT_EQ(work.Pop(), kJob);
  EXPECT_EQ(work.Pop(), std::nullopt);
  EXPECT_TRUE(work.empty());
}

TEST(Work, TakesWhatIsDueByEitherClock) {
  Work work;
  work.wall.Set(kConfig, At(10));
  work.wall.Set(kJob, At(11));
  work.ticks.Set(kTask, MonoTime(std::chrono::seconds(5)));
  work.ticks.Set(kConfig, MonoTime(std::chrono::seconds(5)));
  work.EnqueueDue(At(10), MonoTime(std::chrono::seconds(5)));
  EXPECT_EQ(work.Pop(), kConfig);
  EXPECT_EQ(work.Pop(), kTask);
  EXPECT_EQ(work.Pop(), std::nullopt);
}

TEST(Work, ForgetsTheAlarmsOfAnEntity) {
  Work work;
  work.wall.Set(kJob, At(10));
  work.ticks.Set(kJob, MonoTime(std::chrono::seconds(5)));
  work.Forget(kJob);
  work.EnqueueDue(At(100), MonoTime(std::chrono::seconds(100)));
  EXPECT_TRUE(work.empty());
}

}  // namespace
}  // namespace detent
