#include "core/control/owner_controller.h"

#include <gtest/gtest.h>

#include <string>

#include "core/api/labels.h"
#include "tests/control/engine_fixture.h"

namespace detent {
namespace {

using std::chrono::seconds;

constexpr const char* kCronEveryMinute =
    R"({"concurrency":{"policy":"Allow"},"schedule":{"cron":{"expression":"* * * * *"}},)"
    R"("template":{"spec":{"taskTemplate":{"exec":{}}}}})";

const ObjectKey kTick{Kind::kJobConfig, "n", "tick"};

// A JobConfig with two Jobs, each of which has a task that runs.
class Owners : public testing::Test {
 protected:
  Owners() {
    world_.directory.executor.behaviour = [](const TaskOrder&) { return std::nullopt; };
    world_.CreateConfig("tick", kCronEveryMinute);
    world_.Advance(seconds(60));
    world_.Advance(seconds(60));
    world_.Advance(seconds(2));
    EXPECT_EQ(world_.Names(Kind::kJob).size(), 2U);
    EXPECT_EQ(world_.directory.executor.live.size(), 2U);
  }

  void ExpectNothingLeft() {
    EXPECT_EQ(world_.Stored(Kind::kJobConfig, "tick"), nullptr);
    EXPECT_TRUE(world_.Names(Kind::kJob).empty());
    EXPECT_TRUE(world_.Names(Kind::kTask).empty());
    EXPECT_EQ(world_.directory.executor.killed.size(), 2U);
    EXPECT_TRUE(world_.directory.executor.held.empty());
  }

  EngineWorld world_;
};

TEST_F(Owners, CollectsWhatADeletedJobConfigLeavesInTheBackground) {
  world_.Delete(kTick);
  EXPECT_EQ(world_.Stored(Kind::kJobConfig, "tick"), nullptr) << "it goes at once";
  world_.Advance(seconds(2));
  ExpectNothingLeft();
}

TEST_F(Owners, CollectsAJobThatIsCreatedForAJobConfigThatIsGone) {
  Object late = *world_.Stored(Kind::kJob, world_.Names(Kind::kJob).front());
  late.meta.name = "late";
  late.meta.uid = "late-uid";
  late.status.clear();
  world_.Delete(kTick);
  world_.Store(late);
  world_.Advance(seconds(2));
  ExpectNothingLeft();
  EXPECT_EQ(world_.directory.executor.started.size(), 2U) << "it is not started before it goes";
}

TEST_F(Owners, TakesUpACollectionAgainThatTheStoreRefused) {
  world_.FailNext(1, 1);
  world_.Delete(kTick);
  EXPECT_EQ(world_.Stored(Kind::kJob, world_.Names(Kind::kJob).front())->meta.deleted,
            std::nullopt);
  world_.Advance(seconds(5));
  ExpectNothingLeft();
}

TEST_F(Owners, TakesUpACollectionAgainWhoseListCouldNotBeRead) {
  world_.DeleteThenFailReads(kTick, "", 1);
  world_.Advance(seconds(5));
  ExpectNothingLeft();
}

TEST_F(Owners, TakesUpADeletionInTheForegroundAgainWhoseListCouldNotBeRead) {
  world_.DeleteThenFailReads(kTick, labels::kForegroundDeletion, 1);
  world_.Advance(seconds(5));
  ExpectNothingLeft();
}

TEST_F(Owners, DeletesDependentsBeforeTheirOwnerInTheForeground) {
  world_.directory.usable = false;
  world_.Delete(kTick, labels::kForegroundDeletion);
  world_.Advance(seconds(2));
  ASSERT_NE(world_.Stored(Kind::kJobConfig, "tick"), nullptr) << "its Jobs cannot be ended yet";
  for (const std::string& name : world_.Names(Kind::kJob)) {
    EXPECT_TRUE(world_.Stored(Kind::kJob, name)->meta.deleted.has_value()) << name;
  }
  world_.SetUsable(true);
  world_.Advance(seconds(2));
  ExpectNothingLeft();
}

TEST_F(Owners, SchedulesNothingWhileTheJobConfigIsBeingDeleted) {
  world_.directory.usable = false;
  world_.Delete(kTick, labels::kForegroundDeletion);
  world_.Advance(seconds(120));
  EXPECT_EQ(world_.Names(Kind::kJob).size(), 2U);
}

TEST_F(Owners, LetsOrphansGoOn) {
  world_.Delete(kTick, labels::kOrphan);
  world_.Advance(seconds(2));
  EXPECT_EQ(world_.Stored(Kind::kJobConfig, "tick"), nullptr);
  const std::vector<std::string> jobs = world_.Names(Kind::kJob);
  ASSERT_EQ(jobs.size(), 2U);
  for (const std::string& name : jobs) {
    EXPECT_EQ(ControllerOf(world_.Stored(Kind::kJob, name)->meta), nullptr) << name;
    EXPECT_EQ(world_.PhaseOf(name), "Running") << name;
  }
  world_.directory.executor.EndAll(TaskResult::kSucceeded);
  world_.Settle();
  world_.Advance(seconds(2));
  for (const std::string& name : jobs) EXPECT_EQ(world_.PhaseOf(name), "Succeeded") << name;
}

TEST_F(Owners, EndsTheTasksOfADeletedJob) {
  const std::string job = world_.Names(Kind::kJob)[0];
  world_.Delete({Kind::kJob, "n", job});
  world_.Advance(seconds(2));
  EXPECT_EQ(world_.Stored(Kind::kJob, job), nullptr);
  EXPECT_EQ(world_.directory.executor.killed, std::vector<std::string>{job + "-0-1"});
  EXPECT_EQ(world_.Names(Kind::kTask).size(), 1U);
  EXPECT_EQ(world_.Names(Kind::kJob).size(), 1U) << "its sibling stays";
}

}  // namespace
}  // namespace detent
