#include "core/base/yaml.h"

#include <gtest/gtest.h>

namespace detent {
namespace {

// All documents of a text as JSON, each on a line; or the error.
std::string Read(std::string_view text) {
  const auto documents = ParseYaml(text);
  if (!documents) return documents.error().message();
  std::string out;
  for (const YamlDocument& document : *documents) out += DumpJson(document.value) + "\n";
  return out;
}

const std::pair<const char*, const char*> kScalars[] = {
    {"null", "null"},
    {"~", "null"},
    {"Null", "null"},
    {"true", "true"},
    {"FALSE", "false"},
    {"yes", "\"yes\""},
    {"on", "\"on\""},
    {"tRue", "\"tRue\""},
    {"12", "12"},
    {"-7", "-7"},
    {"+3", "3"},
    {"017", "17"},
    {"0o17", "15"},
    {"0x1F", "31"},
    {"-0x1", "\"-0x1\""},
    {"0b1", "\"0b1\""},
    {"1_000", "\"1_000\""},
    {"1.5", "1.5"},
    {".5", "0.5"},
    {"5.", "5"},
    {"1e3", "1000"},
    {"-.5e-1", "-0.05"},
    {".", "\".\""},
    {"-", "[null]"},
    {"1e", "\"1e\""},
    {"+-1", "\"+-1\""},
    {"--1", "\"--1\""},
    {"1.2.3", "\"1.2.3\""},
    {"12:30", "\"12:30\""},
    {"2026-11-21", "\"2026-11-21\""},
    {"0x", "\"0x\""},
    {"'12'", "\"12\""},
    {"\"true\"", "\"true\""},
    {"!!str 12", "\"12\""},
    {"! 12", "\"12\""},
    {"!!int 12", "12"},
    {"!!float 12", "12"},
    {"!!bool true", "true"},
    {"!!null ~", "null"},
    {"''", "\"\""},
    {"9223372036854775807", "9223372036854775807"},
    {"-9223372036854775808", "-9223372036854775808"},
};

TEST(Yaml, ReadsScalarsByTheCoreSchema) {
  for (const auto& [text, json] : kScalars) {
    EXPECT_EQ(Read(std::string("- ") + text), "[" + std::string(json) + "]\n") << text;
  }
  EXPECT_TRUE(ParseYaml("99999999999999999999")->at(0).value.is_double());
}

TEST(Yaml, ReadsEveryStyle) {
  EXPECT_EQ(Read("a: 1\nb:\n- x\n- y: 2\n  z:\n"),
            "{\"a\":1,\"b\":[\"x\",{\"y\":2,\"z\":null}]}\n");
  EXPECT_EQ(Read("a: {b: [1, {c: d}], e: }"), "{\"a\":{\"b\":[1,{\"c\":\"d\"}],\"e\":null}}\n");
  EXPECT_EQ(Read("a: |\n  x\n   y\nb: >-\n  f\n  g\nc: |+\n  z\n\n"),
            "{\"a\":\"x\\n y\\n\",\"b\":\"f g\",\"c\":\"z\\n\\n\"}\n");
  EXPECT_EQ(Read("a: 'it''s'\nb: \"\\tx\\u00e9\\\"\""),
            "{\"a\":\"it's\",\"b\":\"\\tx\xC3\xA9\\\"\"}\n");
  EXPECT_EQ(Read("\xEF\xBB\xBF# comment\r\na: 1 # more\r\nb: 2\r\n"), "{\"a\":1,\"b\":2}\n");
  EXPECT_EQ(Read("? a\n: 1\n"), "{\"a\":1}\n");
}

TEST(Yaml, ReadsStreamsAndLeavesOutEmptyDocuments) {
  EXPECT_EQ(Read(""), "");
  EXPECT_EQ(Read("# nothing\n"), "");
  EXPECT_EQ(Read("---\n---\na: 1\n---\n# c\n...\n"), "{\"a\":1}\n");
  EXPECT_EQ(Read("a: 1\n---\nb: 2\n...\n---\n[3]\n"), "{\"a\":1}\n{\"b\":2}\n[3]\n");
  EXPECT_EQ(Read("a: 1\n...\nb: 2\n"), "{\"a\":1}\n{\"b\":2}\n");
  EXPECT_EQ(Read("%YAML 1.2\n---\na: 1\n"), "{\"a\":1}\n");
}

TEST(Yaml, ReadsJson) {
  EXPECT_EQ(Read(R"({"a": [1, 2.5, true, null], "b": {"c": "x\/y"}})"),
            "{\"a\":[1,2.5,true,null],\"b\":{\"c\":\"x/y\"}}\n");
  EXPECT_EQ(Read("{\"a\":\"\\ud83d\\ude00\"}"), "{\"a\":\"\xF0\x9F\x98\x80\"}\n");
  EXPECT_EQ(Read("{\n\t\"a\":\t[\n\t\t1\n\t]\n}\n"), "{\"a\":[1]}\n");
}

TEST(Yaml, FollowsAliases) {
  EXPECT_EQ(Read("a: &x {b: [1]}\nc: *x\nd: [*x, *x]"),
            "{\"a\":{\"b\":[1]},\"c\":{\"b\":[1]},\"d\":[{\"b\":[1]},{\"b\":[1]}]}\n");
  EXPECT_EQ(Read("- &x 1\n- &x 2\n- *x"), "[1,2,2]\n");
  EXPECT_EQ(Read("&k a: 1\nb: *k"), "{\"a\":1,\"b\":\"a\"}\n");
}

TEST(Yaml, RefusesWithLineAndColumn) {
  struct Case {
    const char* text;
    const char* error;
  };
  const Case cases[] = {
      {"a: 1\na: 2\n", "line 2, column 1: the key \"a\" is given twice"},
      {"c: {\xC3\xA9: 1, d: 2, d: 3}", "line 1, column 17: the key \"d\" is given twice"},
      {"x:\r\n  b: 1\r\n  b: 2\r\n", "line 3, column 3: the key \"b\" is given twice"},
      {"&k a: 1\n*k : 2", "line 2, column 1: the key \"a\" is given twice"},
      {"a:\n  1: x", "line 2, column 3: a key must be a string, not integer (quote it)"},
      {"true: x", "line 1, column 1: a key must be a string, not bool (quote it)"},
      {"~: x", "line 1, column 1: a key must be a string, not null (quote it)"},
      {"? [1]\n: 2", "line 1, column 3: a key must be a string, not array"},
      {"? {a: 1}\n: 2", "line 1, column 3: a key must be a string, not object"},
      {"a: \"x\n", "line 1, column 4: a quoted text has no end"},
      {"a: &q \"x\\\"\n", "line 1, column 4: a quoted text has no end"},
      {"- a\nb: 1", "line 2, column 1: this does not belong to the document before it"},
      {"[1] x", "line 1, column 5: this does not belong to the document before it"},
      {"a: .inf", "line 1, column 4: '.inf' has no value in JSON; quote it to mean a text"},
      {"a: 1e999", "line 1, column 4: '1e999' has no value in JSON; quote it to mean a text"},
      {"a: &x [*x]", "line 1, column 8: an alias stands within its own anchor"},
      {"a: !local {b: 1}", "line 1, column 4: the tag '!local' is not supported here"},
      {"a: !!map [1]", "line 1, column 4: the tag 'tag:yaml.org,2002:map' is not supported here"},
      {"a: !!int x", "line 1, column 4: the tag 'tag:yaml.org,2002:int' does not suit 'x'"},
      {"a: 1\nb: \xFF", "line 2, column 4: invalid UTF-8"},
  };
  for (const Case& c : cases) EXPECT_EQ(Read(c.text), c.error) << c.text;
  EXPECT_EQ(Read(std::string_view("a: x\0y", 6)),
            "line 1, column 5: a NUL character is not allowed");
  EXPECT_EQ(ParseYaml("a: 1\na: 2").error().code(), Code::kInvalid);
}

// The words of these are yaml-cpp's; the place is ours to keep.
TEST(Yaml, SaysWhereTheSyntaxIsWrong) {
  const std::pair<const char*, const char*> cases[] = {
      {"a: b: c", "line 1, column 5: "},
      {"a: 1\n b: 2\n", "line 2, column 3: "},
      {"c: *y", "line 1, column 4: "},
      {"a: [1]]", "line 1, column 7: "},
      {"a: @x", "line 1, column 4: "},
      {"a: \"\\q\"", "line 1, column 7: "},
      {"a: 1\n---\nb: 1: 2", "line 3, column 5: "},
      {"a: {b: 1", "line 1, column 9: "},
      {"x: \xC3\xA9\nkey\nb: 1", "line 3, column 2: "},
      {"\ta: 1", "line 1, column 3: "},
      {"a: [1, 2\nb: 3\n", "line 2, column 2: "},
      {"a: 'x", "line 1, column 6: "},
  };
  for (const auto& [text, place] : cases) EXPECT_EQ(Read(text).rfind(place, 0), 0u) << Read(text);
}

TEST(Yaml, RemembersWhereValuesStand) {
  const auto documents =
      ParseYaml("# c\nspec:\n  \"k/1\": {a: 1, \xC3\xA9: 2, z: 3}\n  list:\n  - x\n  - [p, q]\n");
  ASSERT_TRUE(documents);
  const YamlDocument& document = documents->at(0);
  struct Case {
    const char* pointer;
    TextPosition position;
    const char* because;
  };
  const Case cases[] = {
      {"", {2, 1}, "the document"},
      {"/spec", {2, 1}, "a member is where its name is"},
      {"/spec/k~11", {3, 3}, "a quoted name"},
      {"/spec/k~11/a", {3, 11}, "in flow style"},
      {"/spec/k~11/\xC3\xA9", {3, 17}, "columns are characters"},
      {"/spec/k~11/z", {3, 23}, "behind a character of two bytes"},
      {"/spec/list/0", {5, 5}, "an item is where its value is"},
      {"/spec/list/1/1", {6, 9}, "an item of an item"},
      {"/spec/list/7/deep", {4, 3}, "what is not there is where it would belong"},
      {"/other", {2, 1}, "or at the beginning"},
  };
  for (const Case& c : cases) EXPECT_EQ(document.PositionOf(c.pointer), c.position) << c.because;
  EXPECT_EQ(YamlDocument().PositionOf("/a"), TextPosition());
}

TEST(Yaml, CountsLinesAcrossDocuments) {
  const auto documents = ParseYaml("a: 1\n---\n\nb: 2\n---\nc: &x [1]\nd: *x\n");
  ASSERT_TRUE(documents);
  EXPECT_EQ(documents->at(1).PositionOf("/b"), (TextPosition{4, 1}));
  EXPECT_EQ(documents->at(2).PositionOf("/d/0"), (TextPosition{7, 1}));
}

TEST(Yaml, NestsNoDeeperThanAllowed) {
  const auto nested = [](int depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  EXPECT_TRUE(ParseYaml(nested(64)));
  EXPECT_EQ(Read(nested(65)), "line 1, column 65: nested deeper than 64");
  EXPECT_FALSE(ParseYaml(std::string(10'000, '[')));
  EXPECT_FALSE(ParseYaml(std::string(10'000, '{')));
  std::string block;
  for (int i = 0; i < 10'000; ++i) block += "- ";
  EXPECT_EQ(Read(block + "x"), "line 1, column 129: nested deeper than 64");
  EXPECT_EQ(
      Read("- &x " + nested(40) + "\n- " + std::string(30, '[') + "*x" + std::string(30, ']')),
      "line 2, column 33: nested deeper than 64");
}

TEST(Yaml, CannotBeMadeToExplode) {
  std::string text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 20; ++i) {
    const std::string last = "*a" + std::to_string(i - 1);
    text += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int k = 0; k < 9; ++k) text += last + ", ";
    text += last + "]\n";
  }
  const auto documents = ParseYaml(text);
  ASSERT_FALSE(documents);
  EXPECT_NE(documents.error().message().find("more than 1000000 values"), std::string::npos);
}

TEST(Yaml, ReadsALongLineInLinearTime) {
  std::string text = "[";
  for (int i = 0; i < 30'000; ++i) text += "{\"a\": 1}, ";
  const auto documents = ParseYaml(text + "1]");
  ASSERT_TRUE(documents);
  EXPECT_EQ(documents->at(0).PositionOf("/29999/a"), (TextPosition{1, 299'993}));
}

TEST(Yaml, SurvivesTruncationAtEveryByte) {
  const std::string text =
      "a: &x {b: [1, \"q\\u00e9\"], c: 'it''s'}\nd: *x\ne: |-\n  t\n  u\n? f\n: !!str 1\n---\n- - "
      "g\n";
  ASSERT_TRUE(ParseYaml(text));
  for (size_t length = 0; length < text.size(); ++length) {
    const auto documents = ParseYaml(text.substr(0, length));
    const std::string error = documents ? "line " : documents.error().message();
    EXPECT_EQ(error.rfind("line ", 0), 0u) << error;
  }
}

}  // namespace
}  // namespace detent
