#include "core/kube/base64.h"

#include <gtest/gtest.h>

namespace detent {
namespace {

TEST(Base64, ReadsTheVectorsOfTheRfc) {
  const struct {
    const char* text;
    const char* bytes;
  } rows[] = {{"", ""},
              {"Zg==", "f"},
              {"Zm8=", "fo"},
              {"Zm9v", "foo"},
              {"Zm9vYg==", "foob"},
              {"Zm9vYmE=", "fooba"},
              {"Zm9vYmFy", "foobar"}};
  for (const auto& row : rows) EXPECT_EQ(DecodeBase64(row.text), row.bytes) << row.text;
  EXPECT_EQ(DecodeBase64("+/8A"), std::string("\xFB\xFF\0", 3));
}

TEST(Base64, RefusesWhatIsNone) {
  const struct {
    const char* text;
    bool good;
    const char* because;
  } rows[] = {
      {"Zm9v\nYmFy\r\n", true, "lines may be wrapped"},
      {"Zm9", false, "padding is missing"},
      {"Z", false, "six bits make no byte"},
      {"Zm9v=", false, "padding that pads nothing"},
      {"Z===", false, "padding cannot replace three digits"},
      {"====", false, "nothing is padded"},
      {"Zm8=Zm8=", false, "nothing follows the padding"},
      {"Zg==Zg==", false, "nothing follows the padding"},
      {"Zm9v YmFy", false, "a space is what YAML makes of a folded line"},
      {"_-8A", false, "the alphabet for URLs is another one"},
      {"-----BEGIN CERTIFICATE-----", false, "a file that was not encoded"},
      {"Zm9v\xC3\xA4", false, "no ASCII"},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(DecodeBase64(row.text).has_value(), row.good) << row.because;
  }
}

}  // namespace
}  // namespace detent
