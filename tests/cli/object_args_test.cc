#include "core/cli/object_args.h"

#include <gtest/gtest.h>

namespace detent {
namespace {

std::string ReadArguments(const std::vector<std::string>& words) {
  const auto args = ParseObjects(words);
  if (!args) return args.error().message();
  std::string text;
  for (const Kind kind : args->kinds) text += std::string(PluralOf(kind)) + " ";
  for (const ObjectArg& object : args->objects) {
    text += std::string(SingularOf(object.kind)) + "/" + object.name + " ";
  }
  return text;
}

TEST(ObjectArgs, AreReadInEveryForm) {
  struct Row {
    std::vector<std::string> words;
    const char* reading;
  };
  const Row rows[] = {
      {{"jobs"}, "jobs "},
      {{"jb"}, "jobs "},
      {{"Job"}, "jobs "},
      {{"jobs,tasks"}, "jobs tasks "},
      {{"all"}, "jobconfigs jobs tasks "},
      {{"job", "a", "b"}, "job/a job/b "},
      {{"job/a", "tk/b"}, "job/a task/b "},
      {{"job.execution.detent.dev/a"}, "job/a "},
      {{"joobs"},
       "unknown type 'joobs'; there are: jobconfigs, jobs, tasks (did you mean 'jobs'?)"},
      {{"job/a", "b"}, "'b' must have the form TYPE/NAME"},
      {{"job/"}, "'job/' must have the form TYPE/NAME"},
      {{"job", "a", "task/b"},
       "'task/b' stands behind a type of its own; write either TYPE NAME... or TYPE/NAME..."},
      {{"jobs,tasks", "a"}, "names cannot follow several types; write TYPE/NAME for each"},
      {{}, "needs a type or TYPE/NAME, such as jobs or job/hello"},
  };
  for (const Row& row : rows) EXPECT_EQ(ReadArguments(row.words), row.reading);
}

}  // namespace
}  // namespace detent
