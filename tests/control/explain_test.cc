#include "core/control/explain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "core/api/codec.h"
#include "core/sched/reason.h"
#include "tests/control/engine_fixture.h"

namespace detent {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;

constexpr const char* kTemplate = R"("template":{"taskTemplate":{"exec":{}}})";

TEST(Explain, SaysWhenAQueuedJobIsDue) {
  EngineWorld world;
  const WallTime due = world.clock.Now() + seconds(90);
  world.CreateJob("hello",
                  R"({"startPolicy":{"startAfter":")" + FormatTime(due) + "\"}," + kTemplate + "}");
  EXPECT_EQ(world.Explain(Kind::kJob, "hello"),
            "job hello is Queued: NotYetDue, " + reason::NotYetDueMessage(due) + "\n");
  world.Advance(seconds(92));
  EXPECT_THAT(world.Explain(Kind::kJob, "hello"), HasSubstr("job hello is Succeeded"));
}

TEST(Explain, SaysWhichExecutorHoldsAJob) {
  EngineWorld world;
  world.SetUsable(false);
  world.CreateJob("hello", std::string("{") + kTemplate + "}");
  world.Advance(seconds(2));
  const std::string why = reason::ExecutorUnavailableMessage("exec", "it is switched off");
  const std::string text = world.Explain(Kind::kJob, "hello");
  EXPECT_THAT(text, HasSubstr("  held by ExecutorUnavailable: " + why + "\n"));
  EXPECT_THAT(text, HasSubstr("  0 of 1 indexes succeeded, 1 in hand, 0 not begun\n"));
  EXPECT_THAT(text, HasSubstr("task hello-0-1 (index 0, attempt 1) is Held"));
  EXPECT_THAT(world.Explain(Kind::kTask, "hello-0-1"), HasSubstr("ExecutorUnavailable: " + why));
}

TEST(Explain, SaysWhatKeepsAnExecutorFromItsWork) {
  EngineWorld world;
  world.directory.executor.behaviour = [](const TaskOrder&) { return std::nullopt; };
  world.directory.complaint = "its backend cannot be reached";
  world.CreateJob("hello", std::string("{") + kTemplate + "}");
  world.Advance(seconds(2));
  EXPECT_THAT(
      world.Explain(Kind::kJob, "hello"),
      HasSubstr("  the executor of kind exec is not well: its backend cannot be reached\n"));
}

TEST(Explain, SaysWhenAnIndexIsTriedAgain) {
  EngineWorld world;
  world.directory.executor.behaviour = [](const TaskOrder&) {
    return Ended(TaskResult::kFailed, "ExitCode");
  };
  world.CreateJob("hello", R"({"template":{"maxAttempts":2,"retryDelaySeconds":300,)"
                           R"("taskTemplate":{"exec":{}}}})");
  const WallTime retry = world.clock.Now() + seconds(300);
  world.Advance(seconds(2));
  const std::string text = world.Explain(Kind::kJob, "hello");
  EXPECT_THAT(text, HasSubstr("job hello is RetryBackoff: RetryBackoff, the next attempt begins"));
  EXPECT_THAT(text, HasSubstr("next attempt: index 0 at " + FormatTime(retry) + " (in "));
  EXPECT_THAT(text, HasSubstr("attempt 1 failed at indexes 0\n"));
  EXPECT_THAT(text, HasSubstr("last error: task hello-0-1: ExitCode\n"));
}

TEST(Explain, SaysWhichSlotWasSkippedAndWhy) {
  EngineWorld world;
  world.directory.executor.behaviour = [](const TaskOrder&) { return std::nullopt; };
  world.CreateConfig("tick", R"({"concurrency":{"policy":"Forbid"},)"
                             R"("schedule":{"cron":{"expression":"* * * * *"}},)"
                             R"("template":{"spec":{"taskTemplate":{"exec":{}}}}})");
  world.Advance(seconds(60));
  world.Advance(seconds(60));
  world.Advance(seconds(2));
  const auto skipped = world.ConfigStatusOf("tick").last_skipped;
  ASSERT_TRUE(skipped.has_value());
  const std::string text = world.Explain(Kind::kJobConfig, "tick");
  EXPECT_THAT(text, HasSubstr("jobconfig tick is Executing\n"));
  EXPECT_THAT(text, HasSubstr("  last slot skipped: " + FormatTime(skipped->slot) + ": Forbid, " +
                              reason::ForbidMessage("tick", 1, 1) + "\n"));
  EXPECT_THAT(text, HasSubstr("  next slot: "));
  EXPECT_THAT(text, HasSubstr(" is Running\n"));
}

TEST(Explain, SaysHowAFinishedTaskEnded) {
  EngineWorld world;
  world.directory.executor.behaviour = [](const TaskOrder&) {
    return Ended(TaskResult::kFailed, "ExitCode");
  };
  world.CreateJob("hello", std::string("{") + kTemplate + "}");
  world.Advance(seconds(2));
  EXPECT_EQ(world.Explain(Kind::kTask, "hello-0-1"),
            "task hello-0-1 is Terminated, Failed: ExitCode\n");
  EXPECT_THAT(world.Explain(Kind::kJob, "hello"),
              HasSubstr("job hello is Failed: AttemptsUsedUp, index 0 failed after 1 attempt"));
}

}  // namespace
}  // namespace detent
