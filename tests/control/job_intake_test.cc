#include "core/control/job_intake.h"

#include <gtest/gtest.h>

#include "core/base/names.h"
#include "tests/control/engine_fixture.h"

namespace detent {
namespace {

constexpr const char* kThree =
    R"({"template":{"parallelism":{"withCount":3},"taskTemplate":{"exec":{"command":["a"]}}}})";

TEST(JobIntake, StoresAJobWithItsStartAndItsFirstTasksAtOnce) {
  EngineWorld world;
  world.directory.executor.behaviour = [](const TaskOrder&) { return std::nullopt; };
  const auto answer = world.WishJob("hello", kThree);
  ASSERT_TRUE(answer.has_value()) << answer.error().message();
  ASSERT_EQ(answer->objects.size(), 1U);
  EXPECT_EQ(answer->objects[0]->meta.name, "hello");
  EXPECT_GT(answer->objects[0]->meta.resource_version, 0);
  EXPECT_EQ(world.commits, 1) << "the Job, its start and three tasks";
  EXPECT_EQ(world.directory.executor.started.size(), 3U);
  EXPECT_EQ(world.Names(Kind::kTask).size(), 3U);
}

TEST(JobIntake, BringsSuchAJobToItsEnd) {
  EngineWorld world;
  ASSERT_TRUE(world.WishJob("hello", kThree).has_value());
  world.Advance(std::chrono::seconds(2));
  EXPECT_EQ(world.PhaseOf("hello"), "Succeeded");
}

TEST(JobIntake, StoresAJobThatMayNotStartYet) {
  EngineWorld world;
  const auto answer =
      world.WishJob("later", R"({"startPolicy":{"startAfter":"2030-01-01T00:00:00Z"},)"
                             R"("template":{"taskTemplate":{"exec":{"command":["a"]}}}})");
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(world.PhaseOf("later"), "Queued: NotYetDue");
  EXPECT_TRUE(world.directory.executor.started.empty());
}

TEST(JobIntake, AnswersThatANameIsTaken) {
  EngineWorld world;
  ASSERT_TRUE(world.WishJob("hello", kThree).has_value());
  const auto again = world.WishJob("hello", kThree);
  ASSERT_FALSE(again.has_value());
  EXPECT_EQ(again.error().code(), Code::kAlreadyExists);
  EXPECT_EQ(world.directory.executor.started.size(), 3U);
}

TEST(JobIntake, StoresTheJobAloneWhereATaskOfItCannotBeStored) {
  EngineWorld world;
  Object foreign;
  foreign.kind = Kind::kTask;
  foreign.meta.ns = "n";
  foreign.meta.name = TaskName("hello", DerivedUid("hello"), 1, 1);
  foreign.meta.uid = DerivedUid("foreign");
  world.Store(foreign);
  ASSERT_TRUE(world.WishJob("hello", kThree).has_value());
  world.Advance(std::chrono::seconds(2));
  EXPECT_EQ(world.PhaseOf("hello"), "Failed: AttemptsUsedUp");
  EXPECT_NE(world.Explain(Kind::kJob, "hello").find("NameTaken"), std::string::npos);
}

TEST(JobIntake, StartsAJobWhoseJobConfigArrivesAfterIt) {
  EngineWorld world;
  const auto answer = world.WishJobOfNewConfig(
      "tick",
      R"({"concurrency":{"policy":"Forbid"},"template":{"spec":{"taskTemplate":{"exec":{}}}}})");
  ASSERT_TRUE(answer.has_value()) << answer.error().message();
  world.Advance(std::chrono::seconds(2));
  EXPECT_EQ(world.PhaseOf("tick-now"), "Succeeded");
}

TEST(JobIntake, AnswersAWishThatIsDroppedWithTheLoop) {
  int answers = 0;
  {
    Inbox inbox(1);
    MemoryStore store;
    JobIntake intake(store, inbox);
    auto job = std::make_shared<Object>();
    job->kind = Kind::kJob;
    intake.Submit({{WriteOp::kCreate, job, 0, nullptr}}, [&](const Result<Committed>& result) {
      ++answers;
      EXPECT_FALSE(result.has_value());
    });
    EXPECT_EQ(answers, 0);
  }
  EXPECT_EQ(answers, 1);
}

TEST(JobIntake, LeavesNothingBehindWhereTheStoreRefuses) {
  EngineWorld world;
  world.FailNext(2);
  const auto answer = world.WishJob("hello", kThree);
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().code(), Code::kUnavailable);
  EXPECT_TRUE(world.directory.executor.started.empty());
  ASSERT_TRUE(world.WishJob("hello", kThree).has_value()) << "the name is free";
  EXPECT_EQ(world.directory.executor.started.size(), 3U);
}

}  // namespace
}  // namespace detent
