#include "core/install/version.h"

#include <gtest/gtest.h>

namespace detent {
namespace {

TEST(ReleaseVersion, IsThreeNumbersThatCompareAsNumbers) {
  EXPECT_EQ(ParseReleaseVersion("0.10.2"), (ReleaseVersion{0, 10, 2}));
  EXPECT_LT(*ParseReleaseVersion("0.9.9"), *ParseReleaseVersion("0.10.0"));
  EXPECT_LT(*ParseReleaseVersion("9.0.0"), *ParseReleaseVersion("10.0.0"));
  for (const char* text : {"", "1", "1.2", "1.2.", "1.2.3.4", "1.2.3-rc1", "v1.2.3", "1.-2.3",
                           " 1.2.3", "1.2.99999999999999999999"}) {
    EXPECT_EQ(ParseReleaseVersion(text), std::nullopt) << text;
  }
}

TEST(ReleaseVersion, ANumberMayHaveSomethingBehindIt) {
  EXPECT_EQ(LeadingNumber("29+"), 29);
  EXPECT_EQ(LeadingNumber("+29"), std::nullopt);
  EXPECT_EQ(LeadingNumber(""), std::nullopt);
}

}  // namespace
}  // namespace detent
