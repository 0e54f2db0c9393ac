#include "core/expr/variables.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace detent {
namespace {

TEST(Variables, KeepsTheLastValueOfAName) {
  Variables variables;
  variables.Set("task.name", "a");
  variables.Set("job.name", "b");
  variables.Set("task.name", "c");
  variables.Set("task.index_num", 7);
  EXPECT_EQ(variables.size(), 3U);
  EXPECT_EQ(*variables.Find("task.name"), "c");
  EXPECT_EQ(*variables.Find("task.index_num"), "7");
  EXPECT_EQ(variables.Find("task"), nullptr);
}

TEST(Variables, KnowTheirPrefixes) {
  for (const char* name : {"job.x", "jobconfig.x", "task.x", "option.x"}) {
    EXPECT_TRUE(HasKnownPrefix(name)) << name;
  }
  for (const char* name : {"", "HOME", "job", "job.", "jobs.x", "Job.x", " job.x"}) {
    EXPECT_FALSE(HasKnownPrefix(name)) << name;
  }
}

TEST(Variables, AreExplainedIfUnknown) {
  EXPECT_EQ(ExplainVariable("job.name"), "");
  EXPECT_EQ(ExplainVariable("option.anything"), "");
  EXPECT_EQ(ExplainVariable("task.index_matrix.os"), "");
  EXPECT_EQ(ExplainVariable("job.nam"), "unknown variable 'job.nam' (did you mean 'job.name'?)");
  EXPECT_EQ(ExplainVariable("task.index_matrix."), "unknown variable 'task.index_matrix.'");
  EXPECT_TRUE(std::is_sorted(KnownVariables().begin(), KnownVariables().end()));
}

}  // namespace
}  // namespace detent
