#include "core/store/row_cache.h"

#include <gtest/gtest.h>

#include <string>

namespace detent {
namespace {

ObjectKey Key(int number) {
  return {Kind::kTask, "default", "n" + std::to_string(number)};
}

TEST(RowCache, TellsKeysApart) {
  RowCache cache(10);
  cache.Add({Kind::kTask, "ab", "c"}, {1, 1, ""});
  EXPECT_EQ(cache.Find({Kind::kTask, "a", "bc"}), nullptr);
  EXPECT_EQ(cache.Find({Kind::kJob, "ab", "c"}), nullptr);
  ASSERT_NE(cache.Find({Kind::kTask, "ab", "c"}), nullptr);
}

TEST(RowCache, ForgetsWhatIsNotUsed) {
  RowCache cache(10);
  for (int i = 0; i < 100; ++i) {
    cache.Add(Key(i), {i + 1, 0, ""});
    cache.Trim();
    ASSERT_NE(cache.Find(Key(0)), nullptr) << "used all the time";
    ASSERT_LE(cache.size(), 20u);
  }
  EXPECT_EQ(cache.Find(Key(1)), nullptr);
}

TEST(RowCache, KeepsEntriesInTheirPlaceUntilItTrims) {
  RowCache cache(2);
  StoredRow* row = cache.Add(Key(0), {7, 0, ""});
  cache.Add(Key(1), {8, 0, ""});
  cache.Trim();
  for (int i = 2; i < 500; ++i) cache.Add(Key(i), {i, 0, ""});
  EXPECT_EQ(cache.Find(Key(0)), row);
  EXPECT_EQ(row->id, 7);
}

}  // namespace
}  // namespace detent
