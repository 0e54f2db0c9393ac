#include "core/api/index_set.h"

#include <gtest/gtest.h>

#include <set>

#include "core/base/random.h"

namespace detent {
namespace {

TEST(IndexSet, JoinsNeighboursIntoIntervals) {
  IndexSet set;
  for (const int64_t index : {5, 1, 3, 0, 2, 9}) EXPECT_TRUE(set.Insert(index));
  EXPECT_EQ(set.ToString(), "0-3,5,9");
  EXPECT_FALSE(set.Insert(2));
  EXPECT_TRUE(set.Insert(4));
  EXPECT_EQ(set.ToString(), "0-5,9");
  EXPECT_EQ(set.count(), 7);
  EXPECT_EQ(set.FirstGap(0), 6);
  EXPECT_EQ(set.FirstGap(7), 7);
  EXPECT_EQ(set.FirstGap(9), 10);
}

TEST(IndexSet, IsSmallHoweverManyIndexesItHolds) {
  IndexSet set;
  for (int64_t index = 0; index < 100'000; index += 2) set.Insert(index);
  for (int64_t index = 99'999; index > 0; index -= 2) set.Insert(index);
  EXPECT_EQ(set.ToString(), "0-99999");
  EXPECT_EQ(set.count(), 100'000);
}

TEST(IndexSet, DoesWhatAPlainSetDoes) {
  SeededRandom random(7);
  IndexSet set;
  std::set<int64_t> plain;
  for (int i = 0; i < 2'000; ++i) {
    const auto index = static_cast<int64_t>(random.Below(1'000));
    ASSERT_EQ(set.Insert(index), plain.insert(index).second);
    const auto asked = static_cast<int64_t>(random.Below(1'000));
    ASSERT_EQ(set.Contains(asked), plain.count(asked) == 1);
    int64_t gap = asked;
    while (plain.count(gap) == 1) ++gap;
    ASSERT_EQ(set.FirstGap(asked), gap);
    ASSERT_EQ(set.count(), static_cast<int64_t>(plain.size()));
  }
  const auto read = IndexSet::Parse(set.ToString());
  ASSERT_TRUE(read);
  EXPECT_EQ(*read, set);
}

TEST(IndexSet, ReadsOnlyWhatItWrites) {
  EXPECT_TRUE(IndexSet::Parse("")->empty());
  EXPECT_EQ(IndexSet::Parse("0-41,43-99")->count(), 99);
  struct Row {
    const char* text;
    const char* because;
  };
  const Row rows[] = {{"3,1", "not ascending"},
                      {"0-3,2-5", "overlapping"},
                      {"0-3,4", "touching"},
                      {"5-4", "backwards"},
                      {"7-7", "a single one twice"},
                      {"-1", "negative"},
                      {"1,", "nothing behind the comma"},
                      {",1", "nothing before it"},
                      {"01", "a leading zero"},
                      {"a", "no number"},
                      {"1-", "no end"},
                      {"99999999999999999999", "too large"},
                      {"9223372036854775807", "nothing can come after it"}};
  for (const Row& row : rows) EXPECT_FALSE(IndexSet::Parse(row.text)) << row.because;
  EXPECT_EQ(IndexSet::Parse("0-3,x").error().message(),
            "'x' is no interval of a set of indexes such as \"0-4,7\"");
}

}  // namespace
}  // namespace detent
