#include "core/control/engine.h"

#include <gtest/gtest.h>

#include <string>

#include "core/api/codec.h"
#include "core/base/names.h"
#include "core/sched/reason.h"
#include "tests/control/engine_fixture.h"

namespace detent {
namespace {

using std::chrono::seconds;

using Names = std::vector<std::string>;

// The spec of a Job with so many indexes; `more` holds further fields of its template.
std::string Indexes(int64_t count, const std::string& more = "") {
  return R"({"template":{"parallelism":{"withCount":)" + std::to_string(count) + "}," + more +
         R"("taskTemplate":{"exec":{"say":"${task.name}"}}}})";
}

constexpr const char* kEveryMinute =
    R"({"concurrency":{"policy":"Allow"},"schedule":{"cron":{"expression":"* * * * *"}},)"
    R"("template":{"spec":{"taskTemplate":{"exec":{}}}}})";

const Behaviour kKeepRunning = [](const TaskOrder&) { return std::nullopt; };

TEST(Engine, RunsAJobOfThreeIndexesToItsEnd) {
  EngineWorld world;
  world.CreateJob("hello", Indexes(3));
  EXPECT_EQ(world.directory.executor.started, (Names{"hello-0-1", "hello-1-1", "hello-2-1"}));
  world.Advance(seconds(2));
  const JobStatus status = world.StatusOf("hello");
  EXPECT_EQ(status.phase, JobPhase::kSucceeded);
  EXPECT_EQ(status.succeeded_indexes.ToString(), "0-2");
  EXPECT_EQ(status.created_tasks, 3);
  EXPECT_EQ(status.active_tasks, 0);
  EXPECT_EQ(status.running_tasks, 0);
  EXPECT_TRUE(status.started.has_value() && status.finished.has_value());
  EXPECT_TRUE(world.directory.executor.held.empty()) << "every task is let go";
  for (const std::string& name : world.Names(Kind::kTask)) {
    EXPECT_TRUE(world.Stored(Kind::kTask, name)->meta.finalizers.empty()) << name;
  }
}

TEST(Engine, ShowsAJobThatRuns) {
  EngineWorld world;
  world.directory.executor.behaviour = kKeepRunning;
  world.CreateJob("hello", Indexes(2));
  world.Advance(seconds(2));
  const JobStatus status = world.StatusOf("hello");
  EXPECT_EQ(status.phase, JobPhase::kRunning);
  EXPECT_EQ(status.active_tasks, 2);
  EXPECT_EQ(status.running_tasks, 2);
  ASSERT_EQ(status.active.size(), 2U);
  EXPECT_EQ(status.active[0].name, "hello-0-1");
}

TEST(Engine, EndsAJobAsFailedWhenAnIndexIsOutOfAttempts) {
  EngineWorld world;
  world.directory.executor.behaviour = [](const TaskOrder& order) -> std::optional<TaskStatus> {
    if (order.name.starts_with("hello-1-")) return Ended(TaskResult::kFailed, "ExitCode");
    return std::nullopt;
  };
  world.CreateJob("hello", Indexes(3, R"("maxAttempts":2,)"));
  world.Advance(seconds(2));
  world.Advance(seconds(2));
  EXPECT_EQ(world.PhaseOf("hello"), "Failed: AttemptsUsedUp");
  const JobStatus status = world.StatusOf("hello");
  EXPECT_EQ(status.message, reason::IndexFailedMessage(1, 2, "ExitCode"));
  EXPECT_TRUE(status.failed_indexes.Contains(1));
  EXPECT_EQ(world.directory.executor.killed, (Names{"hello-0-1", "hello-2-1"}))
      << "the others cannot help any more";
  EXPECT_TRUE(world.directory.executor.held.empty());
}

TEST(Engine, TriesAnIndexAgainAfterItsDelay) {
  EngineWorld world;
  world.directory.executor.behaviour = [](const TaskOrder& order) {
    return Ended(order.attempt == 1 ? TaskResult::kFailed : TaskResult::kSucceeded);
  };
  world.CreateJob("hello", Indexes(1, R"("maxAttempts":2,"retryDelaySeconds":30,)"));
  world.Advance(seconds(29));
  EXPECT_EQ(world.PhaseOf("hello"), "RetryBackoff: RetryBackoff");
  EXPECT_EQ(world.directory.executor.started, Names{"hello-0-1"});
  world.Advance(seconds(1));
  EXPECT_EQ(world.directory.executor.started, (Names{"hello-0-1", "hello-0-2"}));
  world.Advance(seconds(2));
  EXPECT_EQ(world.PhaseOf("hello"), "Succeeded");
}

TEST(Engine, HoldsTasksWhileTheExecutorIsUnusableAndRunsThemLater) {
  EngineWorld world;
  world.SetUsable(false);
  world.CreateJob("hello", Indexes(2));
  world.Advance(seconds(2));
  EXPECT_EQ(world.StatusOf("hello").reason, reason::kExecutorUnavailable);
  EXPECT_TRUE(world.directory.executor.started.empty());
  const auto held = DecodeTaskStatus(world.Stored(Kind::kTask, "hello-0-1")->status);
  EXPECT_EQ(held->state, TaskState::kHeld);
  world.SetUsable(true);
  world.Advance(seconds(2));
  EXPECT_EQ(world.directory.executor.started, (Names{"hello-0-1", "hello-1-1"}));
  EXPECT_EQ(world.PhaseOf("hello"), "Succeeded");
}

TEST(Engine, KillsAHeldJobWithoutItsExecutor) {
  EngineWorld world;
  world.SetUsable(false);
  world.CreateJob("hello", Indexes(2));
  world.Delete({Kind::kJob, "n", "hello"});
  world.Advance(seconds(2));
  EXPECT_EQ(world.Stored(Kind::kJob, "hello"), nullptr);
  EXPECT_TRUE(world.Names(Kind::kTask).empty());
}

TEST(Engine, FailsAnIndexWhoseTaskNameBelongsToAnother) {
  EngineWorld world;
  Object foreign;
  foreign.kind = Kind::kTask;
  foreign.meta.ns = "n";
  foreign.meta.name = "hello-1-1";
  foreign.meta.uid = DerivedUid("somebody else's");
  world.Store(foreign);
  world.CreateJob("hello", Indexes(2, R"("maxAttempts":3,)"));
  world.Advance(seconds(2));
  EXPECT_EQ(world.PhaseOf("hello"), "Failed: AttemptsUsedUp");
  const JobStatus status = world.StatusOf("hello");
  EXPECT_EQ(status.failed_indexes.ToString(), "1");
  ASSERT_FALSE(status.failed.empty());
  EXPECT_EQ(status.failed.back().reason, reason::kNameTaken);
  EXPECT_EQ(world.Stored(Kind::kTask, "hello-1-1")->meta.uid, foreign.meta.uid)
      << "the other's Task is left alone";
}

TEST(Engine, WritesManyOutcomesInFewStatusWrites) {
  EngineWorld world;
  world.directory.executor.behaviour = kKeepRunning;
  world.CreateJob("wide", Indexes(1000));
  world.Advance(seconds(2));
  ASSERT_EQ(world.directory.executor.live.size(), 1000U);
  const ObjectKey key{Kind::kJob, "n", "wide"};
  const int before = world.writes[key];
  world.directory.executor.EndAll(TaskResult::kSucceeded);
  world.Settle();
  world.Advance(seconds(2));
  EXPECT_EQ(world.PhaseOf("wide"), "Succeeded");
  EXPECT_EQ(world.StatusOf("wide").succeeded_indexes.ToString(), "0-999");
  EXPECT_LE(before, 4) << "while it began";
  EXPECT_LE(world.writes[key] - before, 6) << "while it ended";
  EXPECT_LE(world.StatusOf("wide").succeeded.size(), 20U);
}

TEST(Engine, DeletesAFinishedJobAfterItsTimeToLive) {
  EngineWorld world;
  std::string spec = Indexes(1);
  spec.insert(1, R"("ttlSecondsAfterFinished":60,)");
  world.CreateJob("hello", spec);
  world.Advance(seconds(2));
  ASSERT_EQ(world.PhaseOf("hello"), "Succeeded");
  world.Advance(seconds(61));
  EXPECT_EQ(world.Stored(Kind::kJob, "hello"), nullptr);
  EXPECT_TRUE(world.Names(Kind::kTask).empty()) << "its Tasks go with it";
}

TEST(Engine, KillsAJobAtItsTime) {
  EngineWorld world;
  world.directory.executor.behaviour = kKeepRunning;
  std::string spec = Indexes(2);
  spec.insert(1, R"("killTimestamp":")" + FormatTime(world.clock.Now() + seconds(60)) + "\",");
  world.CreateJob("hello", spec);
  world.Advance(seconds(59));
  EXPECT_TRUE(world.directory.executor.killed.empty());
  world.Advance(seconds(1));
  world.Advance(seconds(2));
  EXPECT_EQ(world.directory.executor.killed, (Names{"hello-0-1", "hello-1-1"}));
  EXPECT_EQ(world.PhaseOf("hello"), "Killed: KillRequested");
  const auto task = DecodeTaskStatus(world.Stored(Kind::kTask, "hello-0-1")->status);
  EXPECT_EQ(task->result, TaskResult::kKilled);
  EXPECT_EQ(task->reason, reason::kJobKilled);
}

TEST(Engine, HandsOutNoMoreTasksThanTheirLimit) {
  EngineWorld world;
  world.options.tasks_per_kind["exec"] = 2;
  world.directory.executor.behaviour = kKeepRunning;
  world.CreateJob("wide", Indexes(5));
  world.Advance(seconds(2));
  EXPECT_EQ(world.directory.executor.live.size(), 2U);
  EXPECT_EQ(world.StatusOf("wide").reason, reason::kTaskLimit);
  EXPECT_EQ(world.StatusOf("wide").message, reason::TaskLimitMessage("exec", 2));
  for (int round = 0; round < 4; ++round) {
    EXPECT_LE(world.directory.executor.live.size(), 2U);
    world.directory.executor.EndAll(TaskResult::kSucceeded);
    world.Settle();
    world.Advance(seconds(2));
  }
  EXPECT_EQ(world.PhaseOf("wide"), "Succeeded");
}

TEST(Engine, EndsATaskThatDoesNotRunInTime) {
  EngineWorld world;
  world.directory.executor.behaviour = kKeepRunning;
  world.directory.executor.silent = true;
  world.CreateJob("hello", Indexes(1, R"("taskPendingTimeoutSeconds":30,)"));
  world.Advance(seconds(29));
  EXPECT_TRUE(world.directory.executor.killed.empty());
  world.Advance(seconds(1));
  world.Advance(seconds(2));
  EXPECT_EQ(world.directory.executor.killed, Names{"hello-0-1"});
  EXPECT_EQ(world.PhaseOf("hello"), "Failed: AttemptsUsedUp");
  EXPECT_EQ(world.StatusOf("hello").failed.back().reason, reason::kPendingTimeout);
}

TEST(Engine, MakesOneJobForEachSlot) {
  EngineWorld world;
  const int64_t start = UnixSeconds(world.clock.Now());
  world.CreateConfig("tick", kEveryMinute);
  for (int i = 0; i < 4; ++i) world.Advance(seconds(30));
  EXPECT_EQ(world.Names(Kind::kJob),
            (Names{SlotJobName("tick", start + 60), SlotJobName("tick", start + 120)}));
  world.Advance(seconds(2));
  EXPECT_EQ(world.ConfigStatusOf("tick").last_scheduled, FromUnixSeconds(start + 120));
  EXPECT_EQ(world.ConfigStatusOf("tick").next_scheduled, FromUnixSeconds(start + 180));
}

TEST(Engine, SkipsASlotWhoseJobNameBelongsToAnother) {
  EngineWorld world;
  const int64_t slot = UnixSeconds(world.clock.Now()) + 60;
  world.CreateJob(SlotJobName("tick", slot), Indexes(1));
  world.CreateConfig("tick", kEveryMinute);
  world.Advance(seconds(60));
  const auto skipped = world.ConfigStatusOf("tick").last_skipped;
  ASSERT_TRUE(skipped.has_value());
  EXPECT_EQ(skipped->slot, FromUnixSeconds(slot));
  EXPECT_EQ(skipped->reason, reason::kNameTaken);
  EXPECT_EQ(world.ConfigStatusOf("tick").skipped, 1);
  world.Advance(seconds(60));
  EXPECT_NE(world.Stored(Kind::kJob, SlotJobName("tick", slot + 60)), nullptr);
}

TEST(Engine, TellsAnAskerThatAnObjectDoesNotExist) {
  EngineWorld world;
  EXPECT_NE(world.Explain(Kind::kJob, "nobody"), "");
}

}  // namespace
}  // namespace detent
