#include "core/expr/expand.h"

#include <gtest/gtest.h>

namespace detent {
namespace {

constexpr size_t kMost = 1000;

std::string Expand(std::string_view document, std::string_view values, size_t most = kMost) {
  Diagnostics mistakes;
  const auto out = ExpandStrings(*ParseJson(document), *ParseJson(values), most, mistakes);
  if (out) return *out;
  std::string lines = "error: " + out.error().message();
  for (const Diagnostic& mistake : mistakes)
    lines += "\n" + mistake.pointer + " " + Sentence(mistake);
  return lines;
}

struct ExpandRow {
  const char* document;
  const char* expanded;
  const char* because;
};

TEST(ExpandStrings, FillsInValues) {
  const ExpandRow rows[] = {
      {R"("${a}")", R"("A")", "the whole"},
      {R"("x${a}y${b.c}z")", R"("xAy${a}z")", "parts; a value is not looked at again"},
      {R"("${a}${a}")", R"("AA")", "side by side"},
      {R"({"k":["${a}",{"l":"${a}"}]})", R"({"k":["A",{"l":"A"}]})", "at any depth"},
      {R"({"${a}":1})", R"({"${a}":1})", "names of members are no templates"},
      {R"([1,1.5,true,null,{},[]])", R"([1,1.5,true,null,{},[]])", "what is no text stays"},
      {R"("${q}")", R"("\"},{\\")", "a value cannot leave its string"},
      {R"("\u0024{a}")", R"("A")", "a dollar may be escaped in JSON"},
      {R"("${}")", R"("empty")", "an empty name is a name"},
      {R"("${a b}")", R"("spaced")", "as is any other"},
      {R"("$${a}")", R"("${a}")", "a second dollar makes it literal"},
      {R"("$${a}${a}")", R"("${a}A")", "the next is not"},
      {R"("$$${a}")", R"("$${a}")", "a dollar in front of an escape"},
      {R"("${a}$${a}")", R"("A${a}")", "after a value"},
      {R"("$$ $a {a} $")", R"("$$ $a {a} $")", "nothing to fill in"},
      {R"("${a")", R"("${a")", "its end is missing"},
      {R"("${a ${a}")", R"("${a A")", "the first has lost its end"},
      {R"("${${a}")", R"("${A")", "at once"},
      {R"("${")", R"("${")", "cut off"},
  };
  for (const ExpandRow& row : rows) {
    EXPECT_EQ(
        Expand(row.document, R"({"a":"A","b.c":"${a}","q":"\"},{\\","":"empty","a b":"spaced"})"),
        row.expanded)
        << row.because;
  }
}

TEST(ExpandStrings, NamesEachValueThatIsMissingAtItsPlace) {
  EXPECT_EQ(Expand(R"({"x":["${host}","${hots} ${other}"],"a/b":"${HOME}"})", R"({"host":"h"})"),
            "error: x[1]: there is no value for ${hots} (did you mean ${host}?)\n"
            "/x/1 x[1]: there is no value for ${hots} (did you mean ${host}?)\n"
            "/x/1 x[1]: there is no value for ${other} (if it is meant literally, write $${)\n"
            "/a~1b [a/b]: there is no value for ${HOME} (if it is meant literally, write $${)");
}

TEST(ExpandStrings, TakesStringsOnly) {
  EXPECT_EQ(Expand("\"${a}\"", R"({"a":1})"),
            "error: the value of 'a' must be a string, not integer; write a number in quotes");
  EXPECT_EQ(Expand("\"${a}\"", "[]"), "error: the values must be an object of strings");
}

TEST(ExpandStrings, StopsAtItsLimit) {
  const std::string value(100, 'v');
  const std::string values = R"({"v":")" + value + "\"}";
  EXPECT_EQ(Expand("\"${v}\"", values, 102).size(), 102u);
  EXPECT_EQ(Expand("\"${v}\"", values, 101),
            "error: the expanded document has more than 101 bytes");
  std::string many = "\"";
  for (int i = 0; i < 1000; ++i) many += "${v}";
  EXPECT_EQ(Expand(many + "\"", values), "error: the expanded document has more than 1000 bytes");
  EXPECT_EQ(Expand(R"(["${v}","${v}"])", values, 200),
            "error: the expanded document has more than 200 bytes");
}

}  // namespace
}  // namespace detent
