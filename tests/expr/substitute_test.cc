#include "core/expr/substitute.h"

#include <gtest/gtest.h>

#include "core/base/json.h"

namespace detent {
namespace {

std::string Render(std::string_view json, const Variables& variables) {
  const auto compiled = SpecTemplate::Compile(json);
  if (!compiled) return "error: " + compiled.error().message();
  std::string out = "<";
  const auto rendered = compiled->Render(variables, out);
  if (!rendered) {
    EXPECT_EQ(out, "<") << "a failure leaves nothing behind";
    return "error: " + rendered.error().message();
  }
  return out.substr(1);
}

Variables With(std::string_view name, std::string_view value) {
  Variables variables;
  variables.Set(name, value);
  return variables;
}

TEST(SpecTemplate, RendersAPodTemplate) {
  Variables variables = With("task.name", "nightly-0-1");
  variables.Set("task.index_num", 3);
  variables.Set("option.port", "8080");
  EXPECT_EQ(Render(R"({"spec": {"containers": [{"name": "c", "args": ["--i=${task.index_num}",
      "--task", "${task.name}", "$HOME ${HOME} $${task.name}"], "port": "${option.port|int}",
      "big": 1.50e3}]}})",
                   variables),
            R"({"spec": {"containers": [{"name": "c", "args": ["--i=3",
      "--task", "nightly-0-1", "$HOME ${HOME} ${task.name}"], "port": 8080,
      "big": 1.50e3}]}})");
}

TEST(SpecTemplate, KeepsADocumentWithoutVariablesByteForByte) {
  const char* const documents[] = {"null",
                                   " [1.0, 2e5 , {}, [ ] ] ",
                                   R"({"a":"é😀\n","b":[true,null,"$x"]})",
                                   R"({"a":"${HOME} ${job.name"})",
                                   R"("\u0041\/")",
                                   R"({ "${job.name}" : "key" })",
                                   "12345678901234567890"};
  for (const char* document : documents) {
    EXPECT_EQ(Render(document, With("job.name", "x")), document);
  }
}

// Whatever the value, the document keeps its shape and the string is the value.
TEST(SpecTemplate, LetsNoValueOutOfItsString) {
  const std::string values[] = {
      "\"",           "\\", "\\\"", "\",\"admin\":true,\"x\":\"", "a\nb\r\t\x01",
      "${task.name}", "}",  "é😀",   std::string("\0x", 2),        "\\u0022"};
  for (const std::string& value : values) {
    Variables variables = With("option.v", value);
    variables.Set("task.name", "must not appear");
    const std::string out =
        Render(R"({"a":["${option.v}"],"b":"x ${option.v}\n${option.v}\""})", variables);
    const auto document = ParseJson(out);
    ASSERT_TRUE(document) << out;
    EXPECT_EQ(*document, Json(Json::Object{{"a", Json::Array{Json(value)}},
                                           {"b", Json("x " + value + "\n" + value + "\"")}}));
  }
  const auto broken = ParseJson(Render(R"(["${option.v}"])", With("option.v", "a\xff\"")));
  ASSERT_TRUE(broken) << "bytes that are no UTF-8 are replaced";
  EXPECT_EQ(broken->as_array()[0].as_string(), "a\xEF\xBF\xBD\"");
}

TEST(SpecTemplate, FindsReferencesBehindJsonEscapes) {
  EXPECT_EQ(Render(R"(["\u0024{job.name}","\u0024\u007bjob.name}","\"${job.name}\\"])",
                   With("job.name", "x")),
            R"(["x","x","\"x\\"])");
}

TEST(SpecTemplate, MakesNumbersOfWholeScalarsOnly) {
  const Variables variables = With("option.n", "-007");
  EXPECT_EQ(
      Render(R"({"n":"${option.n|int}","s":"${option.n}","t":"n=${option.n|int}"})", variables),
      R"({"n":-7,"s":"-007","t":"n=-7"})");
  EXPECT_EQ(Render(R"({"a":{"b/c":["x","${option.n|int}"]}})", With("option.n", "1,2")),
            "error: /a/b~1c/1: ${option.n|int}: '1,2' is not an integer");
  EXPECT_EQ(Render(R"(["${option.n|int}"])", Variables()),
            "error: /0: ${option.n|int}: '' is not an integer");
}

TEST(SpecTemplate, SaysWhereATemplateIsWrong) {
  EXPECT_EQ(Render(R"({"a":[{},"x ${job.name|up}"]})", Variables()),
            "error: /a/1: column 13: unknown filter 'up'; there is only |int, as in "
            "${task.index_num|int}");
  EXPECT_FALSE(SpecTemplate::Compile(R"({"a":)"));
  EXPECT_FALSE(SpecTemplate::Compile(""));
}

TEST(SpecTemplate, TellsWhereEachVariableIsUsed) {
  const auto compiled = SpecTemplate::Compile(R"({"a":"${job.nam}","b":["","- ${option.x|int}"]})");
  ASSERT_TRUE(compiled);
  ASSERT_EQ(compiled->uses().size(), 2U);
  EXPECT_EQ(compiled->uses()[0].name, "job.nam");
  EXPECT_EQ(compiled->uses()[0].pointer, "/a");
  EXPECT_EQ(compiled->uses()[1].name, "option.x");
  EXPECT_EQ(compiled->uses()[1].pointer, "/b/1");
  EXPECT_EQ(compiled->uses()[1].column, 3U);
}

}  // namespace
}  // namespace detent
