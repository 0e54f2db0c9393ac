#include "core/cron/hash.h"

#include <gtest/gtest.h>

#include <string>

namespace detent {
namespace {

TEST(XxHash64, GivesThePublishedValues) {
  EXPECT_EQ(XxHash64(""), 17241709254077376921U);
  EXPECT_EQ(XxHash64("myid1"), 316181436714908099U);
  EXPECT_EQ(XxHash64("myid2"), 8964299977724969587U);
  EXPECT_EQ(XxHash64("myid3"), 12738036773875955645U);
}

// Each length takes another path: single bytes, words of four and eight, stripes of 32.
TEST(XxHash64, TakesTextsOfEveryLength) {
  EXPECT_EQ(XxHash64("a"), 0xD24EC4F1A98C6E5BU);
  EXPECT_EQ(XxHash64("abc"), 0x44BC2CF5AD770999U);
  EXPECT_EQ(XxHash64("Nobody inspects the spammish repetition"), 0xFBCEA83C8A378BF1U);
  EXPECT_EQ(XxHash64(std::string(100, 'x')), 0x92F0DE5A88A3C094U);
}

}  // namespace
}  // namespace detent
