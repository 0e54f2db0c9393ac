#include "core/base/json_scan.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/base/random.h"

namespace detent {
namespace {

// "name=raw" of each member of the outermost object.
std::vector<std::string> RawMembers(const std::string& text) {
  std::vector<std::string> seen;
  JsonScan scan;
  const auto read = scan.Read(text, [&](std::string_view name, JsonScan::Value& value) {
    seen.push_back(std::string(name) + "=" + std::string(value.Raw()));
    return true;
  });
  if (!read) seen.push_back("error: " + read.error().message());
  return seen;
}

TEST(JsonScan, ShowsEachMemberAsItIsWritten) {
  const std::vector<std::string> wanted{
      "a=1", "b={ \"c\": [1, 2] }", "d=\"x\\ny\"", "e=[ ]", "f=null", "g=-1.5e3", "h={}"};
  EXPECT_EQ(RawMembers(R"( {"a":1 , "b": { "c": [1, 2] } ,"d":"x\ny","e":[ ],
                           "f":null,"g" : -1.5e3, "h":{} } )"),
            wanted);
  EXPECT_TRUE(RawMembers("{}").empty());
}

TEST(JsonScan, ReadsInsideOfWhatItHasShown) {
  JsonScan scan;
  std::string raw, member, inner;
  std::vector<int64_t> numbers;
  const std::string text =
      R"({"skipped":{"a":[1,{"b":2}]},"object":{"x":{"deep":true},"name":"n\u00e4me",)"
      R"("list":[1,2,3]}})";
  const auto in_object = [&](std::string_view name, JsonScan::Value& value) {
    if (name == "name") inner = value.Text().value_or("no text");
    if (name == "list") {
      member = value.RawMember();
      value.Items([&](JsonScan::Value& item) {
        numbers.push_back(item.Int().value_or(-1));
        return numbers.size() < 2;
      });
    }
    return true;
  };
  const auto read = scan.Read(text, [&](std::string_view name, JsonScan::Value& value) {
    if (name != "object") return true;
    raw = value.Raw();
    value.Members(in_object);
    return true;
  });
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_EQ(raw, R"({"x":{"deep":true},"name":"n\u00e4me","list":[1,2,3]})");
  EXPECT_EQ(inner, "n\xC3\xA4me");
  EXPECT_EQ(member, R"("list":[1,2,3])");
  EXPECT_EQ(numbers, (std::vector<int64_t>{1, 2})) << "and it stops where it is told to";
}

TEST(JsonScan, GivesNothingForAValueOfAnotherType) {
  JsonScan scan;
  int visits = 0;
  const auto count = [&](std::string_view, JsonScan::Value&) { return ++visits > 0; };
  const auto read = scan.Read(R"({"text":"5","number":5,"truth":true,"none":null,"list":[1]})",
                              [&](std::string_view name, JsonScan::Value& value) {
                                EXPECT_EQ(value.IsNull(), name == "none");
                                EXPECT_EQ(value.IsArray(), name == "list");
                                EXPECT_FALSE(value.IsObject());
                                value.Members(count);
                                EXPECT_EQ(value.Int().has_value(), name == "number");
                                EXPECT_EQ(value.Text().has_value(), name == "text");
                                EXPECT_EQ(value.IsTrue(), name == "truth");
                                return true;
                              });
  EXPECT_TRUE(read);
  EXPECT_EQ(visits, 0);
}

TEST(JsonScan, TellsWhereATextIsMalformed) {
  const struct {
    const char* text;
    const char* message;
    const char* because;
  } rows[] = {
      {"", "no JSON", "nothing at all"},
      {"[1]", "no JSON object", "a list"},
      {"5", "no JSON object", "a number"},
      {"{\"a\":1", "", "the end is missing"},
      {"{\"a\" 1}", "", "a colon is missing"},
      {"{\"a\":\"x}", "", "a string without an end"},
      {"{\"a\":\"\xFF\"}", "UTF-8", "no UTF-8, wherever it stands"},
      {"{\"a\":{\"b\":[1}}", "", "a list that is not closed"},
      {"{\"a\":1} {}", "after the end", "a second object"},
  };
  for (const auto& row : rows) {
    JsonScan scan;
    const auto read = scan.Read(row.text, [](std::string_view, JsonScan::Value& value) {
      value.Raw();
      return true;
    });
    ASSERT_FALSE(read) << row.because;
    EXPECT_EQ(read.error().code(), Code::kInvalid);
    EXPECT_NE(read.error().message().find(row.message), std::string::npos)
        << row.because << ": " << read.error().message();
    EXPECT_EQ(read.error().message().rfind("line 1, column ", 0), 0u) << read.error().message();
  }
}

// Looks at everything, in one of several ways.
bool LookInto(JsonScan::Value& value, uint64_t way) {
  if (way % 2 == 0) value.Raw();
  if (way % 3 == 0) value.RawMember();
  if (way % 5 == 0) return true;
  value.Text();
  value.Int();
  value.IsTrue();
  value.Members([&](std::string_view, JsonScan::Value& member) {
    return LookInto(member, way / 2) && way % 7 != 0;
  });
  value.Items([&](JsonScan::Value& item) { return LookInto(item, way / 3); });
  return true;
}

TEST(JsonScan, SurvivesAnyBytes) {
  const std::string good =
      R"({"type":"ADDED","object":{"a":[1,-2.5e3,true,null,"t\u00e4xt\"",{}],"m":{"x":{"y":[]}},)"
      R"("managedFields":[{"f":{}}],"last":"Ã¤"}})";
  constexpr std::string_view kBytes = "{}[]\",:\\0a \n\x00\xFF\xC3tfn-.";
  SeededRandom random(11);
  JsonScan scan;
  int read_well = 0;
  for (int round = 0; round < 50'000; ++round) {
    std::string text = good;
    for (uint64_t change = random.Below(4); change-- > 0;) {
      const size_t at = random.Below(text.size());
      const char byte = kBytes[random.Below(kBytes.size())];
      const uint64_t how = random.Below(4);
      if (how == 0) text[at] = byte;
      if (how == 1) text.insert(at, 1, byte);
      if (how == 2) text.erase(at, 1 + random.Below(8));
      if (how == 3) text.resize(at + 1);
      if (text.empty()) text = "{";
    }
    const uint64_t way = random.Next();
    const auto read = scan.Read(
        text, [&](std::string_view, JsonScan::Value& value) { return LookInto(value, way); });
    if (read) ++read_well;
  }
  EXPECT_GT(read_well, 5'000);
  EXPECT_LT(read_well, 45'000);
}

TEST(JsonScan, ReadsOneTextAfterTheOther) {
  JsonScan scan;
  for (size_t size : {1u, 100'000u, 10u}) {
    const std::string text = "{\"a\":\"" + std::string(size, 'x') + "\",\"b\":1}";
    std::string seen;
    ASSERT_TRUE(scan.Read(text, [&](std::string_view name, JsonScan::Value& value) {
      if (name == "a") seen = value.Text().value_or("");
      return true;
    }));
    EXPECT_EQ(seen.size(), size);
  }
}

}  // namespace
}  // namespace detent
