// A host that goes away, orderly or by SIGKILL, and what it finds when it comes back.

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tests/plugins/exec/exec_fixture.h"

namespace detent::testing {
namespace {

constexpr char kWaitForGo[] = "echo up; while ! test -e go; do sleep 0.01; done; echo down; exit 6";

class ExecRecoverTest : public ExecTest {
 protected:
  Answer Recovered(std::string_view spec, detent_task* task) {
    *task = host().NewTask(Key(), std::string(spec), DETENT_REF_START_ACKED);
    return host().Await(host().Recover(*task));
  }

  void Go() { std::ofstream(WorkPath("go")).put('\n'); }

  // Starts a task in a host of its own process, which is then killed without a warning.
  void StartInAHostThatIsKilled(const std::string& spec) {
    const pid_t child = fork();
    if (child == 0) {
      FakeHost& other = NewHost();
      const detent_task task = other.NewTask(Key(), spec);
      if (other.Await(other.Start(task)).code != DETENT_OK) _exit(1);
      raise(SIGKILL);
    }
    int status = 0;
    waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the other host could not start the task";
  }
};

TEST_F(ExecRecoverTest, AHostThatIsKilledAdoptsItsTasks) {
  const std::string spec = Script(kWaitForGo);
  StartInAHostThatIsKilled(spec);
  ASSERT_TRUE(AwaitLog("up"));
  detent_task task = 0;
  EXPECT_EQ(Recovered(spec, &task).code, DETENT_ADOPTED);
  EXPECT_EQ(host().last(task).phase, DETENT_PHASE_RUNNING);
  EXPECT_GT(host().last(task).running_ns, 0);
  Go();
  ASSERT_TRUE(host().AwaitPhase(task, DETENT_PHASE_TERMINATED));
  EXPECT_EQ(host().last(task).exit_code, 6);
  EXPECT_EQ(Log(), "1:up\n1:down\n");
}

TEST_F(ExecRecoverTest, AnEndThatNobodySawIsRecorded) {
  const std::string spec = Script(kWaitForGo);
  StartInAHostThatIsKilled(spec);
  host().Close();
  Go();
  ASSERT_TRUE(host().RunUntil([&] { return Processes().empty(); }));
  NewHost();
  detent_task task = 0;
  EXPECT_EQ(Recovered(spec, &task).code, DETENT_TERMINATED);
  EXPECT_EQ(host().last(task).exit_code, 6);
  EXPECT_EQ(host().last(task).result, DETENT_RESULT_FAILED);
}

TEST_F(ExecRecoverTest, AnAdoptedTaskCanBeKilled) {
  const std::string spec = Script("trap '' TERM; echo up; while :; do sleep 1; done");
  StartInAHostThatIsKilled(spec);
  ASSERT_TRUE(AwaitLog("up"));
  detent_task task = 0;
  ASSERT_EQ(Recovered(spec, &task).code, DETENT_ADOPTED);
  host().KillNow(task, "JobDeleted");
  ASSERT_TRUE(host().AwaitPhase(task, DETENT_PHASE_TERMINATED));
  EXPECT_EQ(host().last(task).reason, "JobDeleted");
}

TEST_F(ExecRecoverTest, TheTimeoutHoldsWhileTheHostIsAway) {
  const std::string spec = Script("sleep 1000", R"("timeoutSeconds":1)");
  StartInAHostThatIsKilled(spec);
  ASSERT_TRUE(host().RunUntil([&] { return Processes().empty(); }));
  detent_task task = 0;
  EXPECT_EQ(Recovered(spec, &task).code, DETENT_TERMINATED);
  EXPECT_EQ(host().last(task).reason, "Timeout");
}

TEST_F(ExecRecoverTest, StartAdoptsWhatRunsAlready) {
  const std::string spec = Script("echo ran >> count; while ! test -e go; do sleep 0.01; done");
  StartInAHostThatIsKilled(spec);
  ASSERT_TRUE(host().RunUntil([&] { return !ReadFile(WorkPath("count")).empty(); }));
  const detent_task task = Started(spec);
  Go();
  ASSERT_TRUE(host().AwaitPhase(task, DETENT_PHASE_TERMINATED));
  EXPECT_EQ(host().last(task).result, DETENT_RESULT_SUCCEEDED);
  EXPECT_EQ(ReadFile(WorkPath("count")), "ran\n");
}

TEST_F(ExecRecoverTest, WhatWasNeverStartedIsNotFound) {
  detent_task task = 0;
  EXPECT_EQ(Recovered(Script("exit 0"), &task).code, DETENT_NOT_FOUND);
  std::filesystem::create_directories(TaskPath());
  EXPECT_EQ(Recovered(Script("exit 0"), &task).code, DETENT_NOT_FOUND) << "the intent only";
}

TEST_F(ExecRecoverTest, AKilledSupervisorIsALossAndLeavesNothing) {
  const detent_task task =
      Started(Script("setsid sh -c '(setsid sleep 1000 & )'; echo up; sleep 1000"));
  ASSERT_TRUE(AwaitLog("up"));
  const std::vector<pid_t> supervisors = Supervisors();
  ASSERT_EQ(supervisors.size(), 1u);
  kill(supervisors[0], SIGKILL);
  ASSERT_TRUE(host().AwaitPhase(task, DETENT_PHASE_TERMINATED));
  EXPECT_EQ(host().last(task).result, DETENT_RESULT_LOST);
  EXPECT_EQ(host().last(task).flags & DETENT_TASK_RERUN_SAFE, 0u) << "it may have done its work";
  EXPECT_EQ(Processes().size(), 0u) << "the daemon is gone, too";
}

TEST_F(ExecRecoverTest, ALossWhileTheHostWasAwayIsFound) {
  const std::string spec =
      Script("(setsid sleep 1000 & ) ; echo up; sleep 1000", R"("idempotent":true)");
  StartInAHostThatIsKilled(spec);
  ASSERT_TRUE(AwaitLog("up"));
  for (const pid_t pid : Supervisors()) kill(pid, SIGKILL);
  ASSERT_TRUE(host().RunUntil([&] { return Supervisors().empty(); }));
  detent_task task = 0;
  EXPECT_EQ(Recovered(spec, &task).code, DETENT_LOST);
  EXPECT_EQ(host().last(task).flags & DETENT_TASK_RERUN_SAFE, DETENT_TASK_RERUN_SAFE);
  EXPECT_EQ(Processes().size(), 0u);
}

TEST_F(ExecRecoverTest, RecoverSaysTheSameAgain) {
  const std::string spec = Script(kWaitForGo);
  detent_task task = Started(spec);
  EXPECT_EQ(host().Await(host().Recover(task)).code, DETENT_ADOPTED) << "followed already";
  Go();
  ASSERT_TRUE(host().AwaitPhase(task, DETENT_PHASE_TERMINATED));
  EXPECT_EQ(host().Await(host().Recover(task)).code, DETENT_TERMINATED);
  host().Release(task);
  EXPECT_EQ(Recovered(spec, &task).code, DETENT_TERMINATED) << "known until discard";
  host().Release(task);
  host().Discard(Key());
  EXPECT_EQ(Recovered(spec, &task).code, DETENT_NOT_FOUND);
}

TEST_F(ExecRecoverTest, ADetachedTaskLivesOn) {
  const std::string spec = Script(kWaitForGo);
  const detent_task first = Started(spec);
  host().Detach(first);
  detent_task second = 0;
  EXPECT_EQ(Recovered(spec, &second).code, DETENT_ADOPTED);
  Go();
  ASSERT_TRUE(host().AwaitPhase(second, DETENT_PHASE_TERMINATED));
  EXPECT_EQ(host().last(second).exit_code, 6);
}

TEST_F(ExecRecoverTest, NothingIsLostOrDoubledWhereverAStartIsCutOff) {
  for (int i = 0; i < 30; ++i) {
    const std::string key = Key(std::to_string(i));
    const std::string spec = Script("echo ran >> " + key + "; exit " + std::to_string(i));
    host().Start(host().NewTask(key, spec));
    // The host goes after this many turns of its loop.
    int turns = i % 6;
    host().RunUntil([&] { return turns-- == 0; });
    NewHost();
    const detent_task task = host().NewTask(key, spec, DETENT_REF_MAYBE_STARTED);
    Answer answer;
    do {
      answer = host().Await(host().Recover(task));
    } while (answer.code == DETENT_RETRY_LATER);
    ASSERT_GE(answer.code, 0);
    ASSERT_NE(answer.code, DETENT_LOST);
    if (answer.code == DETENT_NOT_FOUND) host().Start(task);
    ASSERT_TRUE(host().AwaitPhase(task, DETENT_PHASE_TERMINATED));
    EXPECT_EQ(host().last(task).exit_code, i);
    EXPECT_EQ(ReadFile(WorkPath(key)), "ran\n");
  }
}

TEST_F(ExecRecoverTest, LeavesNoZombieOfASupervisor) {
  Ended(Script("exit 0"));
  ASSERT_TRUE(host().RunUntil([] { return waitpid(-1, nullptr, WNOHANG) < 0; }, 5000));
}

}  // namespace
}  // namespace detent::testing
