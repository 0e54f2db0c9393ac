#include "core/plugin/handle_table.h"

#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <thread>

namespace detent {
namespace {

TEST(HandleTable, FindsOutHandlesThatHaveEnded) {
  HandleTable<int> table;
  const uint64_t first = table.Take([](int& value) { value = 7; });
  ASSERT_NE(table.Find(first), nullptr);
  EXPECT_EQ(*table.Find(first), 7);
  EXPECT_TRUE(table.End(first));
  EXPECT_FALSE(table.End(first)) << "exactly one caller ends it";
  EXPECT_EQ(table.Find(first), nullptr);
  table.Recycle(first);
  const uint64_t second = table.Take([](int& value) { value = 8; });
  EXPECT_EQ(static_cast<uint32_t>(first), static_cast<uint32_t>(second)) << "the same slot";
  EXPECT_EQ(table.Find(first), nullptr) << "and another generation";
  EXPECT_EQ(table.live(), 1u);
}

TEST(HandleTable, SurvivesNumbersThatWereNeverHandles) {
  HandleTable<int> table;
  table.Take([](int&) {});
  for (const uint64_t number : {uint64_t{0}, uint64_t{1}, ~uint64_t{0}, uint64_t{1} << 32,
                                uint64_t{2} << 32 | 1, uint64_t{1} << 32 | 5000000}) {
    EXPECT_EQ(table.Find(number), nullptr) << number;
    EXPECT_FALSE(table.End(number)) << number;
  }
}

TEST(HandleTable, LetsOneOfManyThreadsEndAHandle) {
  HandleTable<int> table;
  for (int round = 0; round < 200; ++round) {
    const uint64_t handle = table.Take([](int&) {});
    std::atomic<int> winners{0};
    const auto end = [&] { winners += table.End(handle) ? 1 : 0; };
    std::thread other(end);
    end();
    other.join();
    ASSERT_EQ(winners, 1);
    table.Recycle(handle);
  }
}

TEST(HandleTable, ListsWhatLives) {
  HandleTable<int, NoMutex> table;
  std::set<uint64_t> live;
  for (int i = 0; i < 1000; ++i) live.insert(table.Take([](int&) {}));
  const uint64_t ended = *live.begin();
  table.End(ended);
  live.erase(ended);
  const auto handles = table.Handles();
  EXPECT_EQ(std::set<uint64_t>(handles.begin(), handles.end()), live);
}

}  // namespace
}  // namespace detent
