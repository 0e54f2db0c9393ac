// Texts that no friend would send: each must be refused with its place, whatever it is.

#include <gtest/gtest.h>

#include "core/base/json.h"
#include "core/base/random.h"

namespace detent {
namespace {

using namespace std::string_literals;

const char* const kSample =
    R"({"apiVersion":"v1","n":[0,-1.5e+3,12345678901234567890],"s":"\"\\\u00e9\ud83d\ude00",)"
    "\n"
    R"( "deep":[[[{"a":{"b":[]}}]]],"t":true,"f":false,"z":null})";

TEST(HostileJson, IsRefusedWithItsPlace) {
  struct Case {
    std::string text;
    const char* error;
  };
  const Case cases[] = {
      {"", "line 1, column 1: no JSON value"},
      {" \n ", "line 2, column 2: no JSON value"},
      {"nul", "line 1, column 1: unknown word"},
      {"[truex]", "line 1, column 2: unknown word"},
      {"[\n\n  1,\n tru]", "line 4, column 2: unknown word"},
      {"[1,]", "line 1, column 4: unexpected character"},
      {"[,1]", "line 1, column 2: unexpected character"},
      {"[1 2]", "line 1, column 4: unexpected character"},
      {"{\"a\":1,}", "line 1, column 8: unexpected character"},
      {"{\"a\" 1}", "line 1, column 6: unexpected character"},
      {"{\"a\":}", "line 1, column 6: unexpected character"},
      {"{1:2}", "line 1, column 2: unexpected character"},
      {"{\"\xC3\xA9\":1, x}", "line 1, column 9: unexpected character"},
      {"[1] [2]", "line 1, column 5: unexpected text after the end of the value"},
      {"\"x\" 1", "line 1, column 5: unexpected text after the end of the value"},
      {"[1]\0[2]"s, "line 1, column 4: unexpected text after the end of the value"},
      {"[1}", "line 1, column 1: the array or object at the beginning is not closed at the end"},
      {"[\"abc]", "line 1, column 2: a string has no end"},
      {"[\"a\tb\"]", "line 1, column 4: a control character in a string must be escaped"},
      {"[\"a\0b\"]"s, "line 1, column 4: a control character in a string must be escaped"},
      {"[\"a\xFF\"]", "line 1, column 4: invalid UTF-8"},
      {"\xEF\xBB\xBF[1]", "line 1, column 1: unexpected character"},
      {"[NaN]", "line 1, column 2: unexpected character"},
      {"[1e400]", "line 1, column 2: number too large"},
      {"{\"a\":1,\n\"b\":2,\"a\":3}", "line 2, column 7: the member \"a\" is given twice"},
      {"{\"a\":1,\"\\u0061\":2}", "line 1, column 8: the member \"a\" is given twice"},
  };
  for (const Case& c : cases) {
    const auto value = ParseJson(c.text);
    ASSERT_FALSE(value) << c.text;
    EXPECT_EQ(value.error(), Error(Code::kInvalid, c.error)) << c.text;
  }
}

TEST(HostileJson, HasNumbersThatAreNone) {
  for (const char* text : {"01", "-", "+1", "1.", ".5", "1e", "1e+", "0x10", "1_0", "1a", "--1",
                           "-01", "1.2.3", "1e5.5", "Infinity", "-Infinity"}) {
    EXPECT_FALSE(ParseJson(text)) << text;
    EXPECT_FALSE(ParseJson("[" + std::string(text) + "]")) << text;
    EXPECT_FALSE(ParseJson("{\"a\":" + std::string(text) + "}")) << text;
  }
}

TEST(HostileJson, HasEscapesThatAreNone) {
  for (const char* escape : {"\\ud800", "\\udc00", "\\ud800\\u0041", "\\ud800x", "\\u12", "\\u12g4",
                             "\\x41", "\\'", "\\ud83d\\ud83d"}) {
    EXPECT_FALSE(ParseJson("[\"" + std::string(escape) + "\"]")) << escape;
    EXPECT_FALSE(ParseJson("{\"" + std::string(escape) + "\":1}")) << escape;
  }
}

TEST(HostileJson, NestsNoDeeperThanAllowed) {
  const auto nested = [](size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  EXPECT_TRUE(ParseJson(nested(64)));
  EXPECT_FALSE(ParseJson(nested(65)));
  EXPECT_TRUE(ParseJson(nested(3), 3));
  const auto deep = ParseJson(nested(10'000));
  ASSERT_FALSE(deep);
  EXPECT_EQ(deep.error().message(), "line 1, column 65: nested deeper than 64");
  EXPECT_FALSE(ParseJson(std::string(10'000, '[')));
  std::string objects;
  for (int i = 0; i < 10'000; ++i) objects += "{\"a\":";
  EXPECT_FALSE(ParseJson(objects + "1" + std::string(10'000, '}')));
}

TEST(HostileJson, IsRefusedTruncatedAtEveryByte) {
  const std::string text = kSample;
  ASSERT_TRUE(ParseJson(text));
  for (size_t length = 0; length < text.size(); ++length) {
    EXPECT_FALSE(ParseJson(text.substr(0, length))) << length;
  }
}

TEST(HostileJson, SurvivesAnyChangedBytes) {
  SeededRandom random(20261121);
  constexpr std::string_view kBytes = "{}[]\",:\\ue0-+.1tfn \n\0\xFF\xC3\xA9\x80";
  for (int round = 0; round < 20'000; ++round) {
    std::string text = kSample;
    for (uint64_t i = random.Below(3) + 1; i > 0; --i) {
      text[random.Below(text.size())] = kBytes[random.Below(kBytes.size())];
    }
    const auto value = ParseJson(text);
    if (!value) {
      EXPECT_EQ(value.error().message().rfind("line ", 0), 0u);
      continue;
    }
    const auto again = ParseJson(DumpJson(*value));
    ASSERT_TRUE(again) << text;
    EXPECT_EQ(*again, *value) << text;
  }
}

TEST(HostileJson, FindsADoubleNameAmongMany) {
  std::string text = "{";
  for (int i = 0; i < 5'000; ++i) text += "\"k" + std::to_string(i) + "\":0,";
  EXPECT_TRUE(ParseJson(text + "\"last\":0}"));
  for (const char* name : {"k0", "k15", "k16", "k17", "k4999"}) {
    EXPECT_FALSE(ParseJson(text + "\"" + name + "\":0}")) << name;
  }
}

}  // namespace
}  // namespace detent
