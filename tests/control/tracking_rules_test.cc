// Kubernetes' rules of Job tracking (KEP-2307), as far as the host keeps them; the table of all of
// them is in tests/plugins/pod/tracking_test.cc. Each test is named after its rules.

#include <algorithm>

#include "core/base/json.h"
#include "tests/control/backend_fixture.h"

namespace detent {
namespace {

class TrackingRules : public BackendRecord {
 protected:
  TrackingRules() { world.options.tasks_per_executor = 100'000; }

  // All run, and the last write of the Job is a while ago.
  void RunQuietly(int indexes) {
    world.CreateJob("job", JobOf(indexes));
    for (int i = 0; i < 2; ++i) world.Advance(std::chrono::seconds(2));
  }
  size_t StatusBytes(const std::string& job) {
    return DumpJson(world.Stored(Kind::kJob, job)->status).size();
  }
};

// There the list's absence says that a Job is not tracked so, here a reservation does.
TEST_F(TrackingRules, J01_AJobIsTrackedToItsEndTheWayItBegan) {
  world.CreateJob("new-way", JobOf(2));
  executor.backend_record = false;
  world.CreateJob("old-way", JobOf(2));
  EXPECT_EQ(world.StatusOf("new-way").reserved_indexes, 2);
  EXPECT_EQ(world.StatusOf("old-way").reserved_indexes, 0);
  EXPECT_EQ(world.Names(Kind::kTask).size(), 2U);
  // The plugin of the next life has changed its mind.
  executor.backend_record = true;
  world.Restart();
  world.Settle();
  EXPECT_EQ(executor.live.size(), 4U) << "all were found";
  EXPECT_EQ(world.Names(Kind::kTask).size(), 2U);
  executor.EndAll(TaskResult::kSucceeded);
  world.Advance(std::chrono::seconds(2));
  EXPECT_EQ(world.PhaseOf("new-way"), "Succeeded");
  EXPECT_EQ(world.PhaseOf("old-way"), "Succeeded");
  EXPECT_EQ(executor.started.size(), 4U);
}

TEST_F(TrackingRules, J02_EndsAreKeptAsTwoSetsOfIndexesAndNothingOfEachPod) {
  world.CreateJob("job", JobOf(100));
  world.Settle();
  for (int i = 0; i < 100; ++i) {
    executor.End(executor.live.begin()->first,
                 Ended(i < 60 ? TaskResult::kSucceeded : TaskResult::kFailed));
  }
  world.Advance(std::chrono::seconds(2));
  const JobStatus status = world.StatusOf("job");
  EXPECT_EQ(status.succeeded_indexes.ToString(), "0-59");
  EXPECT_EQ(status.failed_indexes.ToString(), "60-99");
  EXPECT_EQ(status.succeeded.size() + status.failed.size(), 40U) << "the last few, for people";
}

TEST_F(TrackingRules, J04_J19_AThousandEndsAreAFewWritesOfTheJob) {
  world.CreateJob("job", JobOf(1000));
  world.Settle();
  executor.EndAll(TaskResult::kSucceeded);
  world.Advance(std::chrono::seconds(2));
  EXPECT_EQ(world.PhaseOf("job"), "Succeeded");
  EXPECT_LE(world.commits, 8) << "creation, start, outcomes by five hundreds, the end";
}

TEST_F(TrackingRules, J05_WhatEndedWhileTheHostWasAwayIsNoHugeWrite) {
  world.CreateJob("job", JobOf(5000));
  world.Advance(std::chrono::seconds(2));
  EXPECT_EQ(executor.live.size(), 5000U);
  const size_t before = StatusBytes("job");
  // Nobody has heard of their ends, and nothing of them is left.
  executor.live.clear();
  executor.held.clear();
  world.Restart();
  const int writes = WritesOf("job");
  for (int seconds = 0; seconds < 10; ++seconds) {
    world.Advance(std::chrono::seconds(1));
    EXPECT_LT(StatusBytes("job"), 20'000U);
  }
  EXPECT_LT(before, 20'000U);
  EXPECT_EQ(world.StatusOf("job").created_tasks, 5000);
  EXPECT_EQ(world.StatusOf("job").failed_attempts.at(1).ToString(), "0-4999");
  EXPECT_LE(WritesOf("job") - writes, 20);
}

TEST_F(TrackingRules, J06_PartsAreKeptAndABigJobDoesNotHoldUpASmallOne) {
  const std::string later = R"({"startPolicy":{"startAfter":"2027-01-15T08:00:10Z"},)";
  world.CreateJob("big", later + JobOf(3000).substr(1));
  world.CreateJob("small", later + JobOf(1).substr(1));
  world.Advance(std::chrono::seconds(10));
  ASSERT_EQ(executor.started.size(), 3001U);
  const auto small = std::find_if(executor.started.begin(), executor.started.end(),
                                  [](const std::string& name) { return name[0] == 's'; });
  EXPECT_LT(small - executor.started.begin(), 3000) << "it began before the big one was through";
  // The big Job's writes are refused; the small one ends all the same.
  for (const auto& [id, name] : std::map(executor.live)) {
    if (name[0] == 'b') executor.End(id, Ended(TaskResult::kSucceeded));
  }
  world.FailNext(1);
  world.Settle();
  executor.EndAll(TaskResult::kSucceeded);
  world.Settle();
  EXPECT_EQ(world.PhaseOf("small"), "Succeeded");
  EXPECT_NE(world.PhaseOf("big"), "Succeeded");
  world.Advance(std::chrono::seconds(2));
  EXPECT_EQ(world.PhaseOf("big"), "Succeeded");
  EXPECT_EQ(world.StatusOf("big").succeeded_indexes.ToString(), "0-2999");
}

TEST_F(TrackingRules, J07_EndsAreGatheredForASecondOrFiveHundredAndTheLastIsWrittenAtOnce) {
  RunQuietly(1000);
  int before = WritesOf("job");
  EndSome(1);
  EXPECT_EQ(WritesOf("job"), before + 1) << "there was none for a second";
  EndSome(499);
  EXPECT_EQ(WritesOf("job"), before + 1) << "gathered";
  EXPECT_EQ(world.StatusOf("job").succeeded_indexes.count(), 1);
  EndSome(1);
  EXPECT_EQ(WritesOf("job"), before + 2) << "five hundred";
  EXPECT_EQ(world.StatusOf("job").succeeded_indexes.count(), 501);
  EndSome(10);
  EXPECT_EQ(WritesOf("job"), before + 2);
  world.Advance(std::chrono::seconds(1));
  EXPECT_EQ(WritesOf("job"), before + 3) << "a second is over";
  before = WritesOf("job");
  executor.EndAll(TaskResult::kSucceeded);
  world.Settle();
  EXPECT_EQ(world.PhaseOf("job"), "Succeeded") << "without a moment's delay";
}

TEST_F(TrackingRules, J09_NoEndIsCountedTwiceThatIsToldTwice) {
  world.CreateJob("job", JobOf(2));
  world.Settle();
  const TaskId first = executor.live.begin()->first;
  executor.End(first, Ended(TaskResult::kSucceeded));
  executor.news.emplace_back(TaskNews{first, Ended(TaskResult::kFailed)});
  world.Advance(std::chrono::seconds(2));
  const JobStatus status = world.StatusOf("job");
  EXPECT_EQ(status.succeeded_indexes.ToString(), "0");
  EXPECT_TRUE(status.failed_attempts.empty());
  EXPECT_EQ(status.created_tasks, 2);
}

TEST_F(TrackingRules, J17_CountersMayLagWhileAJobRunsAndAreExactAtItsEnd) {
  RunQuietly(10);
  EndSome(1);
  EndSome(8);
  EXPECT_EQ(world.StatusOf("job").succeeded_indexes.count(), 1) << "nine have ended";
  EndSome(1);
  EXPECT_EQ(world.StatusOf("job").succeeded_indexes.ToString(), "0-9");
}

TEST_F(TrackingRules, J18_WhatIsCountedNeedsNothingThatIsOutside) {
  world.CreateJob("job", JobOf(3));
  world.Advance(std::chrono::seconds(2));
  EndSome(2);
  world.Advance(std::chrono::seconds(2));
  EXPECT_EQ(executor.held.size(), 1U) << "two were let go of";
  world.Restart();
  world.Advance(std::chrono::seconds(2));
  EXPECT_EQ(world.StatusOf("job").succeeded_indexes.ToString(), "0-1");
  EXPECT_EQ(executor.started.size(), 3U) << "nobody looks for them, and none begins anew";
  EndSome(1);
  EXPECT_EQ(world.PhaseOf("job"), "Succeeded");
}

}  // namespace
}  // namespace detent
