#include "core/base/random.h"

#include <gtest/gtest.h>

#include <set>

namespace detent {
namespace {

TEST(Random, RepeatsForTheSameSeed) {
  SeededRandom a(7), b(7), c(8);
  for (int i = 0; i < 100; ++i) {
    const uint64_t value = a.Next();
    EXPECT_EQ(value, b.Next());
    EXPECT_NE(value, c.Next());
  }
}

TEST(Random, IsSplitMix64) {
  SeededRandom random(1234567);
  EXPECT_EQ(random.Next(), 6457827717110365317u);
  EXPECT_EQ(random.Next(), 3203168211198807973u);
}

TEST(Random, StaysBelowItsBoundAndReachesAllOfIt) {
  SeededRandom random(1);
  int counts[6] = {};
  for (int i = 0; i < 6'000; ++i) ++counts[random.Below(6)];
  for (const int count : counts) EXPECT_NEAR(count, 1'000, 150);
  EXPECT_EQ(random.Below(1), 0u);
  EXPECT_LT(random.Below(UINT64_MAX), UINT64_MAX);
}

TEST(Random, LeavesOutWhatWouldFavourSomeResults) {
  struct Scripted final : Random {
    uint64_t Next() override { return values[at++]; }
    uint64_t values[3] = {0, 15, 16};
    int at = 0;
  } random;
  // 2^64 mod (2^63 + 8) is 2^63 - 8: the values below it are left out.
  random.values[2] = (uint64_t{1} << 63) + 9;
  EXPECT_EQ(random.Below((uint64_t{1} << 63) + 8), 1u);
  EXPECT_EQ(random.at, 3);
}

TEST(Random, MakesUuidsOfVersionFour) {
  SeededRandom random(3);
  std::set<std::string> seen;
  for (int i = 0; i < 1'000; ++i) {
    const std::string uid = RandomUid(random);
    ASSERT_EQ(uid.size(), 36u);
    EXPECT_EQ(uid[14], '4');
    EXPECT_NE(std::string("89ab").find(uid[19]), std::string::npos);
    EXPECT_EQ(uid.find_first_not_of("0123456789abcdef-"), std::string::npos);
    EXPECT_TRUE(seen.insert(uid).second);
  }
}

TEST(Random, MakesSuffixesWithoutVowels) {
  SeededRandom random(3);
  for (int i = 0; i < 1'000; ++i) {
    const std::string suffix = RandomSuffix(random);
    EXPECT_EQ(suffix.size(), 5u);
    EXPECT_EQ(suffix.find_first_not_of("bcdfghjklmnpqrstvwxz2456789"), std::string::npos);
  }
}

TEST(Random, OfTheSystemDoesNotRepeat) {
  SystemRandom random;
  EXPECT_NE(random.Next(), random.Next());
}

}  // namespace
}  // namespace detent
