#include "core/control/work.h"

#include <gtest/gtest.h>

namespace detent {
namespace {

constexpr EntityRef kConfig{EntityType::kConfig, 1};
constexpr EntityRef kJob{EntityType::kJob, 2};
constexpr EntityRef kTask{EntityType::kTask, 3};

WallTime At(int64_t second) {
  return FromUnixSeconds(second);
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
