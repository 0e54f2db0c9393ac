// Reading specs with the SDK: every mistake is found at once, at its place, with a hint.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/plugin/host_table.h"
#include "detent/sdk/document.h"
#include "tests/abi/fake_host.h"

namespace detent::test {
namespace {

using sdk::Fields;

struct Spec {
  std::vector<std::string> command;
  std::string policy;
  int64_t seconds = 0;
  bool quiet = false;
  std::vector<std::string> names;
};

Spec Read(Fields& f) {
  Spec spec;
  spec.command = f.Texts("command", {.required = true, .min_items = 1, .max_items = 3});
  spec.policy = f.Text("policy", {.fallback = "Never", .one_of = {"Never", "OnFailure"}});
  spec.seconds = f.Int("timeoutSeconds", {.fallback = 30, .min = 1, .max = 60});
  spec.quiet = f.Bool("quiet");
  f.Each("env", [&](Fields& e) { spec.names.push_back(e.Text("name", {.required = true})); });
  Fields limits = f.Object("limits");
  limits.Double("cpu");
  return spec;
}

std::vector<std::string> FindingsOf(const std::string& text, Fields::Mode mode) {
  FakeHost host;
  auto doc = sdk::JsonDoc::Parse(host.table(), 0, text);
  if (!doc) return {"no JSON"};
  sdk::Diagnostics diag(host.table(), &host.sink);
  {
    Fields fields(doc->root(), "", mode, diag);
    Read(fields);
  }
  return host.findings;
}

TEST(Fields, FindsEveryMistakeAtItsPlace) {
  struct Row {
    const char* because;
    const char* text;
    std::vector<std::string> findings;
  };
  const Row rows[] = {
      {"all is well", R"({"command": ["a"], "env": [{"name": "x"}]})", {}},
      {"null is the same as nothing", R"({"command": ["a"], "policy": null})", {}},
      {"a required field is missing", R"({})", {"/command Required"}},
      {"not an object", R"([])", {" WrongType", "/command Required"}},
      {"a text in a list", R"({"command": ["a", 1]})", {"/command/1 WrongType"}},
      {"too few", R"({"command": []})", {"/command WrongLength"}},
      {"a number as text",
       R"({"command": ["a"], "timeoutSeconds": "5"})",
       {"/timeoutSeconds WrongType"}},
      {"out of range",
       R"({"command": ["a"], "timeoutSeconds": 0})",
       {"/timeoutSeconds OutOfRange"}},
      {"a slip in a word",
       R"({"command": ["a"], "policy": "OnFailur"})",
       {"/policy UnknownValue did you mean `OnFailure`?"}},
      {"a slip in a name",
       R"({"command": ["a"], "timeoutSecond": 5})",
       {"/timeoutSecond UnknownField did you mean `timeoutSeconds`?"}},
      {"a name like no other, escaped",
       R"({"command": ["a"], "zz/~": 5})",
       {"/zz~1~0 UnknownField"}},
      {"inside a list",
       R"({"command": ["a"], "env": [{}, {"nam": "x"}]})",
       {"/env/0/name Required", "/env/1/name Required",
        "/env/1/nam UnknownField did you mean `name`?"}},
      {"inside an object",
       R"({"command": ["a"], "limits": {"cpu": "1"}})",
       {"/limits/cpu WrongType"}},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(FindingsOf(row.text, Fields::Mode::kFinal), row.findings) << row.because;
  }
}

TEST(Fields, AcceptsAPlaceholderForAnyValueInATemplateOnly) {
  const std::string text =
      R"({"command": ["${x}"], "timeoutSeconds": "${n|int}", "policy": "${p}", "quiet": "${q}"})";
  EXPECT_EQ(FindingsOf(text, Fields::Mode::kTemplate), std::vector<std::string>{});
  EXPECT_EQ(FindingsOf(text, Fields::Mode::kFinal).size(), 3u);
}

TEST(ReadDocument, GivesTheValuesOrTheFirstMistake) {
  FakeHost host;
  const sdk::Host typed(host.table(), FakeHost::kInstance);
  const auto good = sdk::ReadDocument(typed, R"({"command": ["a", "b"], "quiet": true})", Read);
  ASSERT_TRUE(good);
  EXPECT_EQ(good->command, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(good->seconds, 30);
  EXPECT_TRUE(good->quiet);
  const auto bad = sdk::ReadDocument(typed, R"({"comand": ["a"]})", Read);
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.status().message(), "/command: must be given");
  EXPECT_EQ(sdk::ReadDocument(typed, "{", Read).status().code(), DETENT_E_INVALID);
  EXPECT_EQ(LiveDocuments(), 0u);
}

TEST(Nearest, HelpsWithSlipsAndKeepsQuietOtherwise) {
  const std::vector<std::string> known = {"command", "timeoutSeconds", "env"};
  EXPECT_EQ(sdk::Nearest("comand", known.begin(), known.end()), "command");
  EXPECT_EQ(sdk::Nearest("evn", known.begin(), known.end()), "env");
  EXPECT_EQ(sdk::Nearest("nve", known.begin(), known.end()), "");
  EXPECT_EQ(sdk::Nearest("envs", known.begin(), known.end()), "env");
  EXPECT_EQ(sdk::Nearest("volume", known.begin(), known.end()), "");
}

}  // namespace
}  // namespace detent::test
