#include "core/expr/template.h"

#include <gtest/gtest.h>

namespace detent {
namespace {

Variables Sample() {
  Variables variables;
  variables.Set("job.name", "nightly");
  variables.Set("task.name", "nightly-0-1");
  variables.Set("task.index_num", 7);
  variables.Set("option.a", "${option.b}");
  variables.Set("option.b", "SECRET");
  variables.Set("option.padded", "007");
  variables.Set("option.empty", "");
  return variables;
}

std::string Render(std::string_view text) {
  const auto compiled = CompiledTemplate::Parse(text);
  if (!compiled) return "error: " + compiled.error().message();
  std::string out = "<";
  const auto rendered = compiled->Render(Sample(), out);
  if (!rendered) {
    EXPECT_EQ(out, "<") << "a failure leaves nothing behind";
    return "error: " + rendered.error().message();
  }
  return out.substr(1);
}

struct Row {
  const char* text;
  const char* rendered;
  const char* because;
};

TEST(Template, FillsInValues) {
  const Row rows[] = {
      {"", "", "nothing"},
      {"plain $text {here}", "plain $text {here}", "no variables"},
      {"${job.name}", "nightly", "whole"},
      {"a ${job.name}/${task.name} b", "a nightly/nightly-0-1 b", "inside"},
      {"${job.name}${job.name}", "nightlynightly", "side by side"},
      {"x${option.empty}y${option.none}z${job.nmae}", "xyz", "empty and unknown ones vanish"},
      {"${option.a}", "${option.b}", "values are not scanned again"},
      {"${option.a}${option.b}", "${option.b}SECRET", "in any order"},
      {"${task.index_num|int}", "7", "typed"},
      {"n=${option.padded|int};", "n=7;", "plain digits"},
  };
  for (const Row& row : rows) EXPECT_EQ(Render(row.text), row.rendered) << row.because;
}

TEST(Template, LeavesAloneWhatIsNotOurs) {
  const Row rows[] = {
      {"${HOME} ${FOO:-x} $(date) ${}", "${HOME} ${FOO:-x} $(date) ${}", "a shell's"},
      {"${FOO:-${job.name}}", "${FOO:-nightly}", "ours within a shell's"},
      {"${HOME|int}", "${HOME|int}", "no filter of ours"},
      {"${ job.name }", "${ job.name }", "no spaces in front"},
      {"${job.} ${job.|int} ${jobs.x}", "${job.} ${job.|int} ${jobs.x}", "no name"},
      {"a ${job.name", "a ${job.name", "unterminated"},
      {"${job.name and ${task.name}", "${job.name and nightly-0-1", "the first lost its end"},
      {"$", "$", "alone"},
      {"${", "${", "cut off"},
  };
  for (const Row& row : rows) EXPECT_EQ(Render(row.text), row.rendered) << row.because;
}

TEST(Template, TakesAnyNumberOfReferencesThatDoNotEnd) {
  // A megabyte of them: what is quadratic would take minutes.
  std::string text;
  for (int i = 0; i < 350'000; ++i) text += "${a";
  const auto split = SplitTemplate(text + "}");
  ASSERT_TRUE(split);
  EXPECT_EQ(split->size(), 1u);
  EXPECT_EQ(SplitTemplate(text)->size(), 1u);
}

TEST(Template, EscapesWithASecondDollar) {
  const Row rows[] = {
      {"$${job.name}", "${job.name}", "literal"},
      {"a$${job.name}b${job.name}", "a${job.name}bnightly", "then a real one"},
      {"$$${job.name}", "$${job.name}", "a dollar in front of an escape"},
      {"$${$${job.name}", "${${job.name}", "two escapes"},
      {"$${HOME}", "${HOME}", "also for names that are not ours"},
      {"$$ $$x", "$$ $$x", "no brace, no escape"},
      {"${job.name}$${x}", "nightly${x}", "after a value"},
      {"${job.name}${job.name}", "nightlynightly", "a value's end is no dollar"},
  };
  for (const Row& row : rows) EXPECT_EQ(Render(row.text), row.rendered) << row.because;
}

TEST(Template, SaysWhatIsWrongAndWhere) {
  const Row rows[] = {
      {"ab ${job.name|upper}",
       "error: column 14: unknown filter 'upper'; there is only |int, as in ${task.index_num|int}",
       "an unknown filter"},
      {"${job.name|}",
       "error: column 11: unknown filter ''; there is only |int, as in ${task.index_num|int}",
       "no filter"},
      {"x ${job.name|int}", "error: ${job.name|int}: 'nightly' is not an integer", "a word"},
      {"${option.none|int}", "error: ${option.none|int}: '' is not an integer", "nothing"},
  };
  for (const Row& row : rows) EXPECT_EQ(Render(row.text), row.rendered) << row.because;
}

TEST(Template, TakesOnlyIntegersOf64Bits) {
  const std::pair<const char*, bool> rows[] = {
      {"0", true},
      {"-12", true},
      {"9223372036854775807", true},
      {"9223372036854775808", false},
      {"1.5", false},
      {" 1", false},
      {"1e3", false},
      {"+1", false},
      {"-", false},
      {"0x1", false},
      {"1,\"a\":2", false},
  };
  for (const auto& [value, valid] : rows) {
    std::string out;
    EXPECT_EQ(AppendInteger("option.n", value, out).has_value(), valid) << value;
    EXPECT_EQ(out, valid ? value : "");
  }
}

TEST(Template, ListsItsVariablesOnce) {
  const auto compiled =
      CompiledTemplate::Parse("${task.name} ${job.nam} ${task.name} ${X} ${option.n|int}");
  ASSERT_TRUE(compiled);
  EXPECT_EQ(compiled->names(), (std::vector<std::string>{"task.name", "job.nam", "option.n"}));
}

}  // namespace
}  // namespace detent
