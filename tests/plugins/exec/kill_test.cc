// The end of a task by force or by time: all of it, and only once all of it is gone.

#include <signal.h>

#include <fstream>

#include "tests/plugins/exec/exec_fixture.h"

namespace detent::testing {
namespace {

constexpr uint64_t kSecond = 1000000000;

// A daemon by the book: it leaves its parent, its session and its group.
constexpr char kDaemon[] =
    "setsid sh -c '(setsid sh -c \"echo daemon; exec sleep 1000\" & )' & wait; ";

TEST_F(ExecTest, KillEndsTheProcessAndSaysSo) {
  const detent_task task = Started(Script("echo up; exec sleep 1000"));
  ASSERT_TRUE(AwaitLog("up"));
  EXPECT_EQ(host().Await(host().Kill(task, 10 * kSecond)).code, DETENT_OK);
  ASSERT_TRUE(host().AwaitPhase(task, DETENT_PHASE_TERMINATED));
  EXPECT_EQ(host().last(task).result, DETENT_RESULT_KILLED);
  EXPECT_EQ(host().last(task).reason, "UserRequested");
  EXPECT_EQ(host().last(task).signal, SIGTERM);
  EXPECT_EQ(host().Await(host().Kill(task, kSecond)).code, DETENT_E_NOT_FOUND) << "harmless";
}

TEST_F(ExecTest, KillFindsWhatEscaped) {
  const detent_task task = Started(Script(std::string(kDaemon) + "echo up; exec sleep 1000"));
  ASSERT_TRUE(AwaitLog("up"));
  ASSERT_TRUE(AwaitLog("daemon"));
  EXPECT_GE(Processes().size(), 3u) << "supervisor, task, daemon";
  host().Kill(task, 10 * kSecond);
  ASSERT_TRUE(host().AwaitPhase(task, DETENT_PHASE_TERMINATED));
  EXPECT_EQ(host().last(task).result, DETENT_RESULT_KILLED);
  EXPECT_LE(Processes().size(), Supervisors().size()) << "gone before it was said";
}

TEST_F(ExecTest, KillForcesWhatIgnoresTheRequest) {
  const detent_task task =
      Started(Script("trap '' TERM; setsid sh -c 'trap \"\" TERM; echo deaf; while :; do sleep 1; "
                     "done' & echo up; while :; do sleep 1; done"));
  ASSERT_TRUE(AwaitLog("up"));
  ASSERT_TRUE(AwaitLog("deaf"));
  host().Kill(task, kSecond / 5);
  ASSERT_TRUE(host().AwaitPhase(task, DETENT_PHASE_KILLING));
  ASSERT_TRUE(host().AwaitPhase(task, DETENT_PHASE_TERMINATED));
  EXPECT_EQ(host().last(task).result, DETENT_RESULT_KILLED);
  EXPECT_EQ(host().last(task).signal, SIGKILL);
  EXPECT_LE(Processes().size(), Supervisors().size());
}

TEST_F(ExecTest, KillNowShortensTheGrace) {
  const detent_task task = Started(Script("trap '' TERM; echo up; while :; do sleep 1; done"));
  ASSERT_TRUE(AwaitLog("up"));
  host().Kill(task, 1000 * kSecond);
  ASSERT_TRUE(host().AwaitPhase(task, DETENT_PHASE_KILLING));
  host().KillNow(task);
  ASSERT_TRUE(host().AwaitPhase(task, DETENT_PHASE_TERMINATED));
  EXPECT_EQ(host().last(task).result, DETENT_RESULT_KILLED);
}

TEST_F(ExecTest, KillGivesTimeToTidyUp) {
  const detent_task task =
      Started(Script("trap 'echo tidy; exit 9' TERM; echo up; while :; do sleep 0.01; done"));
  ASSERT_TRUE(AwaitLog("up"));
  host().Kill(task, 10 * kSecond);
  ASSERT_TRUE(host().AwaitPhase(task, DETENT_PHASE_TERMINATED));
  EXPECT_EQ(host().last(task).result, DETENT_RESULT_KILLED);
  EXPECT_EQ(host().last(task).exit_code, 9);
  // The shell may remark that its sleep was terminated, too.
  EXPECT_NE(Log().find("1:tidy\n"), std::string::npos) << Log();
}

TEST_F(ExecTest, KillWhileStartIsOpenLeavesNothing) {
  const detent_task task = host().NewTask(Key(), Script("echo up; sleep 1000"));
  const detent_op start = host().Start(task);
  const detent_op kill = host().KillNow(task);
  EXPECT_EQ(host().Await(kill).code, DETENT_OK);
  EXPECT_EQ(host().Await(start).code, DETENT_OK);
  EXPECT_LE(Processes().size(), Supervisors().size());
  EXPECT_EQ(host().last(task).result, DETENT_RESULT_KILLED);
}

TEST_F(ExecTest, TheTimeoutIsAFailure) {
  const Update end = Ended(
      Script(std::string(kDaemon) + "sleep 1000", R"("timeoutSeconds":1,"gracePeriodSeconds":5)"));
  EXPECT_EQ(end.result, DETENT_RESULT_FAILED);
  EXPECT_EQ(end.reason, "Timeout");
  EXPECT_LT(end.finished_ns - end.running_ns, int64_t{5 * kSecond});
  EXPECT_LE(Processes().size(), Supervisors().size());
}

TEST_F(ExecTest, WhatATaskLeavesBehindIsEnded) {
  const Update end = Ended(Script(std::string(kDaemon) + "exit 4"));
  EXPECT_EQ(end.exit_code, 4) << "the task's own end counts";
  EXPECT_EQ(end.reason, "ExitCode");
  EXPECT_LE(Processes().size(), Supervisors().size());
}

TEST_F(ExecTest, WhatATaskLeavesBehindIsForcedAfterTheGrace) {
  const Update end =
      Ended(Script("setsid sh -c 'trap \"\" TERM; echo deaf > mark; while :; do "
                   "sleep 1; done' & while ! test -s mark; do sleep 0.01; done",
                   R"("gracePeriodSeconds":1)"));
  EXPECT_EQ(end.result, DETENT_RESULT_SUCCEEDED);
  EXPECT_LE(Processes().size(), Supervisors().size());
}

TEST_F(ExecTest, KillOutrunsAProcessThatForksOnAndOn) {
  const detent_task task = Started(
      Script("f() { trap '' TERM; while :; do setsid sleep 5 & sleep 0.002; done; }; f & f & "
             "echo up; wait"));
  ASSERT_TRUE(AwaitLog("up"));
  ASSERT_TRUE(host().RunUntil([&] { return Processes().size() > 20; }));
  host().KillNow(task);
  ASSERT_TRUE(host().AwaitPhase(task, DETENT_PHASE_TERMINATED));
  EXPECT_LE(Processes().size(), Supervisors().size());
}

TEST_F(ExecTest, ForceDeleteStopsWaitingAndKills) {
  const detent_task task = Started(Script("trap '' TERM; echo up; while :; do sleep 1; done"));
  ASSERT_TRUE(AwaitLog("up"));
  EXPECT_EQ(host().Await(host().ForceDelete(task)).code, DETENT_OK);
  EXPECT_EQ(host().last(task).phase, DETENT_PHASE_TERMINATED);
  EXPECT_EQ(host().last(task).reason, "ForceDeleted");
}

TEST_F(ExecTest, SignalsToTheHostsGroupDoNotReachTasks) {
  const detent_task task = Started(Script("echo up; while ! test -e go; do sleep 0.01; done"));
  ASSERT_TRUE(AwaitLog("up"));
  const std::vector<pid_t> supervisors = Supervisors();
  ASSERT_EQ(supervisors.size(), 1u);
  EXPECT_EQ(getsid(supervisors[0]), supervisors[0]) << "a session of its own";
  for (const int signal : {SIGHUP, SIGINT, SIGTERM}) kill(supervisors[0], signal);
  std::ofstream(WorkPath("go")).put('\n');
  ASSERT_TRUE(host().AwaitPhase(task, DETENT_PHASE_TERMINATED));
  EXPECT_EQ(host().last(task).result, DETENT_RESULT_SUCCEEDED);
}

}  // namespace
}  // namespace detent::testing
