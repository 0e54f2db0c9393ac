#include <gtest/gtest.h>

#include "core/base/random.h"
#include "core/base/yaml.h"

namespace detent {
namespace {

using namespace std::string_literals;

Json ReadBack(const std::string& text) {
  const auto documents = ParseYaml(text);
  EXPECT_TRUE(documents) << documents.error().message() << "\n" << text;
  if (!documents) return Json();
  EXPECT_LE(documents->size(), 1u) << text;
  return documents->empty() ? Json() : documents->at(0).value;
}

TEST(DumpYaml, LooksAsKubectlShowsIt) {
  const Json value = ParseJson(R"({"kind":"Job","spec":{"count":3,"ok":true,"none":null,
      "args":["sh","-c","echo $X"],"env":[{"name":"A","value":"42"},[1,[2]],{}],"empty":[]},
      "script":"one\ntwo\n","cut":"a\nb"})")
                         .value();
  EXPECT_EQ(DumpYaml(value),
            "kind: Job\n"
            "spec:\n"
            "  count: 3\n"
            "  ok: true\n"
            "  none: null\n"
            "  args:\n"
            "  - sh\n"
            "  - -c\n"
            "  - echo $X\n"
            "  env:\n"
            "  - name: A\n"
            "    value: \"42\"\n"
            "  - - 1\n"
            "    - - 2\n"
            "  - {}\n"
            "  empty: []\n"
            "script: |\n"
            "  one\n"
            "  two\n"
            "cut: |-\n"
            "  a\n"
            "  b\n");
  EXPECT_EQ(ReadBack(DumpYaml(value)), value);
}

TEST(DumpYaml, WritesBareRoots) {
  EXPECT_EQ(DumpYaml(Json("x")), "x\n");
  EXPECT_EQ(DumpYaml(Json(Json::Array())), "[]\n");
  EXPECT_EQ(DumpYaml(Json(Json::Object())), "{}\n");
  EXPECT_EQ(DumpYaml(Json()), "null\n");
  EXPECT_EQ(ReadBack(DumpYaml(Json("a\n\nb"))), Json("a\n\nb"));
}

TEST(DumpYaml, LeavesPlainWhatIsPlain) {
  for (const char* text :
       {"hello world", "a-b", "-c", "a:b", "http://x/y", "a#b", "$X", "v1.2", "0f8fad5b-d9cb-469f",
        "caf\xC3\xA9", "x*/5", "a,b", "a [b]", "yesterday", "nullable"}) {
    EXPECT_EQ(DumpYaml(Json(text)), std::string(text) + "\n");
  }
}

TEST(DumpYaml, QuotesWhatWouldBecomeSomethingElse) {
  for (const char* text :
       {"",      "null", "~",     "true", "False", "12",       "-1",         "+1",
        "1.5",   ".5",   "1e3",   "0x1F", "0o17",  ".inf",     ".NaN",       "yes",
        "No",    "on",   "y",     "017",  "1_000", "12:30:45", "2026-11-21", "2026-11-21T10:00:00Z",
        "<<",    "=",    "-",     "?",    ":",     "- a",      "? a",        ": a",
        "a: b",  "a:",   "a #b",  "#a",   "&a",    "*a",       "!a",         "|",
        ">",     "'a'",  "\"a\"", "%a",   "@a",    "`a`",      "[a]",        "{a}",
        ", a",   " a",   "a ",    "---",  "--- a", "...",      "a\tb",       "\n",
        "a\r\nb"}) {
    const std::string dumped = DumpYaml(Json(text));
    EXPECT_EQ(dumped[0], '"') << dumped;
    EXPECT_EQ(ReadBack(dumped), Json(text)) << dumped;
    const Json object = Json().Set("list", Json().Append(text)).Set("x" + std::string(text), text);
    EXPECT_EQ(ReadBack(DumpYaml(object)), object) << DumpYaml(object);
  }
}

TEST(DumpYaml, EscapesWhatCannotBePrinted) {
  struct Case {
    std::string text;
    std::string dumped;
  };
  const Case cases[] = {
      {"a\x7F", "\"a\\x7F\"\n"},         {"\xC2\x85z", "\"\\x85z\"\n"},
      {"\xE2\x80\xA8", "\"\\u2028\"\n"}, {"\xE2\x80\xA9", "\"\\u2029\"\n"},
      {"\xEF\xBB\xBF", "\"\\uFEFF\"\n"}, {"\x1B[0m", "\"\\u001b[0m\"\n"},
      {"\xC2\xA0", "\xC2\xA0\n"},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(DumpYaml(Json(c.text)), c.dumped);
    EXPECT_EQ(ReadBack(c.dumped), Json(c.text));
  }
  EXPECT_EQ(DumpYaml(Json("bad\xFF"s)), "\"bad\xEF\xBF\xBD\"\n");
}

TEST(DumpYaml, UsesBlocksOnlyWhereTheyAreSafe) {
  for (const char* text : {"a\nb", "a\nb\n", "a\n\nb", "a\n  b\n", "# a\n- b", "a: b\nc: d\n",
                           "---\nx", "a\n\n\nb\n", "\"q\nr\"", "caf\xC3\xA9\nx"}) {
    EXPECT_EQ(DumpYaml(Json(text))[0], '|') << text;
  }
  for (const char* text : {" a\nb", "\na", "a\n\n", "a \nb", "a\nb ", "a\tb\nc", "a\r\nb\r\n"}) {
    EXPECT_EQ(DumpYaml(Json(text))[0], '"') << text;
  }
}

TEST(DumpYaml, GivesBackAnyText) {
  SeededRandom random(20261121);
  constexpr std::string_view kPieces[] = {
      "a", "1", " ", "\n", ":", "-", "#", "'", "\"", "\\", "\t",       "|",        ">", "[", "{",
      ",", "&", "*", "!",  "%", "?", "~", ".", "e",  "\r", "\xC3\xA9", "\xC2\x85", "0", "+", "_"};
  for (int round = 0; round < 10'000; ++round) {
    std::string text;
    for (uint64_t i = random.Below(7); i > 0; --i)
      text += kPieces[random.Below(std::size(kPieces))];
    const Json value = Json().Set("k", Json().Append(Json().Set(text, text)).Append(text));
    ASSERT_EQ(ReadBack(DumpYaml(value)), value) << DumpYaml(value) << DumpJson(value);
  }
}

}  // namespace
}  // namespace detent
