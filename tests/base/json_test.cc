#include "core/base/json.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace detent {
namespace {

using namespace std::string_literals;

TEST(Json, ReadsEveryKindOfValue) {
  const Json value =
      ParseJson(R"( {"n":null,"t":true,"f":false,"i":-7,"d":2.5,"s":"x","a":[1,[]],"o":{}} )")
          .value();
  EXPECT_TRUE(value.Find("n")->is_null());
  EXPECT_TRUE(value.Find("t")->as_bool());
  EXPECT_FALSE(value.Find("f")->as_bool());
  EXPECT_EQ(value.Find("i")->as_int(), -7);
  EXPECT_EQ(value.Find("d")->as_double(), 2.5);
  EXPECT_EQ(value.Find("s")->as_string(), "x");
  EXPECT_EQ(value.Find("a")->as_array().size(), 2u);
  EXPECT_TRUE(value.Find("o")->as_object().empty());
  EXPECT_STREQ(value.Find("a")->type_name(), "array");
  EXPECT_STREQ(value.Find("i")->type_name(), "integer");
  EXPECT_STREQ(value.Find("d")->type_name(), "number");
}

TEST(Json, ReadsScalarsAtTheRoot) {
  for (const char* text : {"1", " -2.5 ", "\"x\"", "true\n", "false", "null"}) {
    EXPECT_TRUE(ParseJson(text)) << text;
  }
}

TEST(Json, ReadsNumbersOfAnySize) {
  struct Case {
    const char* text;
    const char* dumped;
    const char* because;
  };
  const Case cases[] = {
      {"9223372036854775807", "9223372036854775807", "the greatest integer"},
      {"-9223372036854775808", "-9223372036854775808", "the least integer"},
      {"9223372036854775808", "9223372036854775808", "2^63 is exact as a double"},
      {"18446744073709551616", "18446744073709551616", "so is 2^64"},
      {"123456789012345678901234567890", "123456789012345680000000000000", "rounded"},
      {"0.1", "0.1", "the shortest text that reads back"},
      {"-0", "0", "an integer has one zero"},
      {"-0.0", "-0", "a double has two"},
      {"1E5", "100000", "an exponent makes a double"},
      {"5e-324", "5e-324", "the least positive double"},
      {"1e-400", "0", "too small for a double"},
      {"1.7976931348623157e308", "1.7976931348623157e+308", "the greatest double"},
  };
  for (const Case& c : cases) {
    const auto value = ParseJson(c.text);
    ASSERT_TRUE(value) << c.text;
    const auto again = ParseJson(DumpJson(*value));
    ASSERT_TRUE(again) << c.text;
    EXPECT_EQ(*value, *again) << c.text << ": " << c.because;
    EXPECT_EQ(*value, *ParseJson(c.dumped)) << c.text << ": " << c.because;
  }
  EXPECT_TRUE(ParseJson("9223372036854775807")->is_int());
  EXPECT_TRUE(ParseJson("9223372036854775808")->is_double());
}

TEST(Json, ReadsEscapes) {
  const Json value =
      ParseJson(R"(["\"\\\/\b\f\n\r\t","\u00e9\u20AC","\ud83d\ude00","\u0000x"])").value();
  EXPECT_EQ(value.At("/0")->as_string(), "\"\\/\b\f\n\r\t");
  EXPECT_EQ(value.At("/1")->as_string(), "\xC3\xA9\xE2\x82\xAC");
  EXPECT_EQ(value.At("/2")->as_string(), "\xF0\x9F\x98\x80");
  EXPECT_EQ(value.At("/3")->as_string(), "\0x"s);
}

TEST(Json, KeepsTheOrderOfMembers) {
  const std::string text = R"({"z":1,"a":{"y":2,"b":3},"m":[]})";
  EXPECT_EQ(DumpJson(ParseJson(text).value()), text);
}

TEST(Json, ComparesValuesNotSpellings) {
  EXPECT_EQ(*ParseJson(R"({"a":1,"b":[2]})"), *ParseJson(R"({"b":[2.0],"a":1e0})"));
  EXPECT_NE(*ParseJson(R"({"a":1})"), *ParseJson(R"({"a":1,"b":2})"));
  EXPECT_NE(*ParseJson(R"({"a":1})"), *ParseJson(R"({"b":1})"));
  EXPECT_NE(*ParseJson("[1,2]"), *ParseJson("[2,1]"));
  EXPECT_NE(Json(1), Json(true));
  EXPECT_NE(Json("1"), Json(1));
  EXPECT_NE(Json(int64_t{9007199254740993}), Json(9007199254740992.0));
  EXPECT_NE(Json(std::numeric_limits<int64_t>::max()), Json(9223372036854775808.0));
  EXPECT_NE(Json(0), Json(0.5));
}

TEST(Json, DumpsWhatJsonCannotSayAsNull) {
  EXPECT_EQ(DumpJson(Json(std::nan(""))), "null");
  EXPECT_EQ(DumpJson(Json(-std::numeric_limits<double>::infinity())), "null");
}

TEST(Json, EscapesWhatItMust) {
  const std::pair<std::string, std::string> cases[] = {
      {"a\"b\\c", R"("a\"b\\c")"},
      {"\n\r\t\x01\x1f", R"("\n\r\t\u0001\u001f")"},
      {"\0"s, R"("\u0000")"},
      {"\xC3\xA9", "\"\xC3\xA9\""},
      {"a\xFFz", "\"a\xEF\xBF\xBDz\""},
      {"\xC3", "\"\xEF\xBF\xBD\""},
      {"\xED\xA0\x80", "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\""},
  };
  for (const auto& [text, dumped] : cases) EXPECT_EQ(DumpJson(text), dumped);
}

TEST(Json, DumpsWithIndentation) {
  const Json value = ParseJson(R"({"a":[1,{"b":null}],"c":{},"d":[]})").value();
  EXPECT_EQ(DumpJsonPretty(value, 2),
            "{\n  \"a\": [\n    1,\n    {\n      \"b\": null\n    }\n  ],\n  \"c\": {},\n  \"d\": "
            "[]\n}");
  EXPECT_EQ(ParseJson(DumpJsonPretty(value)).value(), value);
}

TEST(Json, FollowsPointers) {
  const Json value = ParseJson(R"({"a":[10,{"b/c":1,"d~e":2,"":3}],"0":4})").value();
  struct Case {
    const char* pointer;
    const char* found;  // Null if nothing is there.
    const char* because;
  };
  const Case cases[] = {
      {"/a/0", "10", "an index"},
      {"/a/1/b~1c", "1", "an escaped slash"},
      {"/a/1/d~0e", "2", "an escaped tilde"},
      {"/a/1/", "3", "the empty name"},
      {"/0", "4", "digits may be a name"},
      {"/a/2", nullptr, "beyond the end"},
      {"/a/-", nullptr, "nothing is behind the end"},
      {"/a/00", nullptr, "no leading zeros"},
      {"/a/-1", nullptr, "no signs"},
      {"/a/18446744073709551616", nullptr, "beyond any index"},
      {"a", nullptr, "a pointer begins with a slash"},
      {"/a/1/d~2e", nullptr, "no such escape"},
      {"/a/1/d~", nullptr, "an escape without its digit"},
      {"/a/0/x", nullptr, "nothing is inside a number"},
  };
  for (const Case& c : cases) {
    const Json* found = value.At(c.pointer);
    EXPECT_EQ(found == nullptr ? "" : DumpJson(*found), c.found == nullptr ? "" : c.found)
        << c.because;
  }
  EXPECT_EQ(value.At(""), &value);
  EXPECT_EQ(PointerToken("a/b~c"), "/a~1b~0c");
}

TEST(Json, IsBuiltInPlace) {
  Json value;
  value.Set("a", 1).Set("b", "x");
  value.Set("a", Json().Append(2).Append(nullptr));
  EXPECT_EQ(DumpJson(value), R"({"a":[2,null],"b":"x"})");
  value.Find("a")->Append(true);
  EXPECT_TRUE(value.Remove("b"));
  EXPECT_FALSE(value.Remove("b"));
  EXPECT_FALSE(Json(1).Remove("b"));
  EXPECT_EQ(DumpJson(value), R"({"a":[2,null,true]})");
  EXPECT_EQ(Json(1).Find("a"), nullptr);
}

TEST(Json, KnowsUtf8) {
  struct Case {
    std::string text;
    size_t prefix;
    const char* because;
  };
  const Case cases[] = {
      {"", 0, "empty"},
      {"abc", 3, "ASCII"},
      {"\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80", 9, "two, three and four bytes"},
      {"\xF4\x8F\xBF\xBF", 4, "U+10FFFF"},
      {"a\x80", 1, "a continuation without a start"},
      {"a\xC0\xAF", 1, "an overlong slash"},
      {"\xE0\x80\xAF", 0, "overlong in three bytes"},
      {"\xF0\x80\x80\xAF", 0, "overlong in four bytes"},
      {"\xED\xA0\x80", 0, "a surrogate"},
      {"\xF4\x90\x80\x80", 0, "beyond U+10FFFF"},
      {"\xFE", 0, "no such byte"},
      {"ok\xE2\x82", 2, "cut off"},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(Utf8Prefix(c.text), c.prefix) << c.because;
    EXPECT_EQ(IsUtf8(c.text), c.prefix == c.text.size()) << c.because;
  }
}

}  // namespace
}  // namespace detent
