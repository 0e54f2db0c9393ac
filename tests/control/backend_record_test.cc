// Jobs of executors whose own objects are the record of a task: nothing but the Job is stored.

#include "tests/control/backend_fixture.h"

namespace detent {
namespace {

TEST_F(BackendRecord, StoresNoTaskAndCountsEachEndInTheJob) {
  world.CreateJob("job", JobOf(3));
  world.Settle();
  EXPECT_EQ(executor.started.size(), 3U);
  EXPECT_TRUE(world.Names(Kind::kTask).empty());
  EXPECT_EQ(world.StatusOf("job").reserved_indexes, 3);
  executor.EndAll(TaskResult::kSucceeded);
  world.Advance(std::chrono::seconds(2));
  EXPECT_EQ(world.PhaseOf("job"), "Succeeded");
  EXPECT_EQ(world.StatusOf("job").succeeded_indexes.ToString(), "0-2");
  EXPECT_TRUE(executor.held.empty()) << "released";
}

TEST_F(BackendRecord, ReleasesAnAttemptOnlyOnceItsEndIsDurableInTheJob) {
  world.CreateJob("job", JobOf(1));
  world.Settle();
  world.FailNext(1);
  executor.EndAll(TaskResult::kSucceeded);
  world.Advance(std::chrono::milliseconds(500));
  EXPECT_EQ(executor.held.size(), 1U) << "the store refused the status";
  world.Advance(std::chrono::seconds(2));
  EXPECT_TRUE(executor.held.empty());
  EXPECT_EQ(world.PhaseOf("job"), "Succeeded");
}

TEST_F(BackendRecord, BeginsTheNextAttemptOnlyOnceTheLastIsDurable) {
  world.CreateJob("job", JobOf(1, R"(,"maxAttempts":2)"));
  world.Settle();
  world.FailNext(1);
  executor.EndAll(TaskResult::kFailed);
  world.Advance(std::chrono::seconds(2));
  EXPECT_EQ(executor.started.size(), 1U);
  world.Advance(std::chrono::seconds(2));
  EXPECT_EQ(executor.started.size(), 2U);
}

TEST_F(BackendRecord, BeginsNothingBeyondWhatIsReservedDurably) {
  world.options.tasks_per_executor = 10'000;
  world.FailNext(1, 2);  // After the creation and the start.
  world.CreateJob("job", JobOf(5000));
  world.Settle();
  EXPECT_EQ(executor.started.size(), 2048U) << "the reservation of more was refused";
  world.Advance(std::chrono::seconds(2));
  world.Advance(std::chrono::seconds(2));
  EXPECT_EQ(executor.started.size(), 5000U);
}

TEST_F(BackendRecord, TakesUpWhatItBeganAfterARestartAndBeginsTheRest) {
  world.options.tasks_per_executor = 2;
  world.CreateJob("job", JobOf(3));
  world.Settle();
  ASSERT_EQ(executor.started.size(), 2U);
  world.Restart();
  world.Settle();
  EXPECT_EQ(executor.started.size(), 2U) << "both were found";
  EXPECT_EQ(executor.live.size(), 2U);
  executor.EndAll(TaskResult::kSucceeded);
  world.Advance(std::chrono::seconds(2));
  EXPECT_EQ(executor.started.size(), 3U);
  executor.EndAll(TaskResult::kSucceeded);
  world.Advance(std::chrono::seconds(2));
  EXPECT_EQ(world.PhaseOf("job"), "Succeeded");
  EXPECT_TRUE(executor.held.empty());
}

TEST_F(BackendRecord, CountsAnObjectThatWasSeenAndIsGoneAsAFailure) {
  world.CreateJob("job", JobOf(1, R"(,"maxAttempts":2)"));
  world.Advance(std::chrono::seconds(2));
  ASSERT_EQ(world.StatusOf("job").active_indexes.ToString(), "0");
  executor.live.clear();
  executor.held.clear();
  world.Restart();
  world.Advance(std::chrono::seconds(2));
  world.Advance(std::chrono::seconds(2));
  EXPECT_EQ(world.StatusOf("job").failed_attempts.at(1).ToString(), "0");
  EXPECT_EQ(executor.started.size(), 2U) << "and another attempt follows";
}

TEST_F(BackendRecord, HasAJobThatIsKilledWhileTheHostIsAwayLookForWhatItBegan) {
  world.CreateJob("job", JobOf(2));
  world.Settle();
  world.Delete({Kind::kJob, "n", "job"});
  world.Restart();
  world.Advance(std::chrono::seconds(2));
  EXPECT_EQ(executor.live.size(), 0U);
  EXPECT_TRUE(executor.held.empty());
  EXPECT_EQ(world.Stored(Kind::kJob, "job"), nullptr);
}

TEST_F(BackendRecord, LetsGoOfAStrayWhoseEndIsCountedAndKeepsOneThatIsNot) {
  world.CreateJob("job", JobOf(2, R"(,"maxAttempts":3,"retryDelaySeconds":60)"));
  world.Settle();
  executor.End(executor.live.begin()->first, Ended(TaskResult::kFailed));
  world.Advance(std::chrono::seconds(2));
  TellOf(KeyOf(0, 1));
  TellOf(KeyOf(0, 2));
  TellOf(KeyOf(1, 1));
  EXPECT_EQ(executor.let_go, (std::map<std::string, bool>{{KeyOf(0, 1), false}}));
}

TEST_F(BackendRecord, RemovesAStrayThatNobodyWaitsFor) {
  const std::string orphan = TaskKey(DerivedUid("deleted long ago"), 4, 1);
  TellOf(orphan);
  TellOf("no key of ours");
  EXPECT_EQ(executor.let_go, (std::map<std::string, bool>{{orphan, true}}));
}

}  // namespace
}  // namespace detent
