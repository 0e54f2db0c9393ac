#include "core/api/object.h"

#include <gtest/gtest.h>

#include "core/api/job.h"

namespace detent {
namespace {

TEST(Object, AKindIsFoundByAnyOfItsNames) {
  for (const char* name : {"Job", "jobs", "job", "JB", "jb"}) {
    EXPECT_EQ(KindFromName(name), Kind::kJob) << name;
  }
  EXPECT_EQ(KindFromName("jc"), Kind::kJobConfig);
  EXPECT_EQ(KindFromName("tasks"), Kind::kTask);
  EXPECT_EQ(KindFromName("cronjob"), std::nullopt);
  EXPECT_EQ(KindFromName(""), std::nullopt);
}

TEST(Object, AKeyReadsAsAPersonWouldSayIt) {
  EXPECT_EQ(ToString({Kind::kJobConfig, "default", "hello"}), "jobconfig default/hello");
  EXPECT_EQ(ToString({Kind::kTask, "", "t-0-1"}), "task t-0-1");
}

TEST(Object, TheControllerIsTheOwnerThatSaysSo) {
  ObjectMeta meta;
  EXPECT_EQ(ControllerOf(meta), nullptr);
  meta.owners = {{"v1", "A", "a", "1", false, false}, {"v1", "B", "b", "2", true, false}};
  ASSERT_NE(ControllerOf(meta), nullptr);
  EXPECT_EQ(ControllerOf(meta)->name, "b");
}

TEST(Object, AFinalizerCanBeTakenOffTwice) {
  ObjectMeta meta;
  meta.finalizers = {"example.com/a", "example.com/b"};
  EXPECT_TRUE(HasFinalizer(meta, "example.com/a"));
  RemoveFinalizer(meta, "example.com/a");
  RemoveFinalizer(meta, "example.com/a");
  EXPECT_FALSE(HasFinalizer(meta, "example.com/a"));
  EXPECT_EQ(meta.finalizers.size(), 1u);
}

TEST(Object, EveryNameOfAnEnumerationLeadsBackToItsValue) {
  for (int i = 0; i <= static_cast<int>(JobPhase::kAdmissionError); ++i) {
    const auto phase = static_cast<JobPhase>(i);
    EXPECT_EQ(JobPhaseFromName(NameOf(phase)), phase);
    EXPECT_EQ(IsFinished(phase), i >= static_cast<int>(JobPhase::kSucceeded));
  }
  for (int i = 0; i <= static_cast<int>(TaskState::kTerminated); ++i) {
    EXPECT_EQ(TaskStateFromName(NameOf(static_cast<TaskState>(i))), static_cast<TaskState>(i));
  }
  for (int i = 0; i <= static_cast<int>(TaskResult::kLost); ++i) {
    EXPECT_EQ(TaskResultFromName(NameOf(static_cast<TaskResult>(i))), static_cast<TaskResult>(i));
  }
  EXPECT_EQ(JobPhaseFromName("Sleeping"), std::nullopt);
}

}  // namespace
}  // namespace detent
