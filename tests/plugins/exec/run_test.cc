// Tasks that run and end by themselves: exit codes, streams, environment, limits, what cannot
// start.

#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>

#include "core/base/json.h"
#include "tests/plugins/exec/exec_fixture.h"

namespace detent::testing {
namespace {

TEST_F(ExecTest, ReportsHowAProcessEnded) {
  struct Row {
    const char* script;
    const char* more;
    uint32_t result;
    int exit_code, signal;
    const char* reason;
  };
  int count = 0;
  for (const Row& row : {
           Row{"exit 0", "", DETENT_RESULT_SUCCEEDED, 0, 0, ""},
           Row{"exit 42", "", DETENT_RESULT_FAILED, 42, 0, "ExitCode"},
           Row{"exit 3", R"("successExitCodes":[3])", DETENT_RESULT_SUCCEEDED, 3, 0, ""},
           Row{"exit 0", R"("successExitCodes":[3])", DETENT_RESULT_FAILED, 0, 0, "ExitCode"},
           Row{"kill -9 $$", "", DETENT_RESULT_FAILED, -1, 9, "Signalled"},
           Row{"kill -TERM $$", "", DETENT_RESULT_FAILED, -1, 15, "Signalled"},
       }) {
    const Update end = Ended(Script(row.script, row.more), std::to_string(++count));
    EXPECT_EQ(end.result, row.result) << row.script;
    EXPECT_EQ(end.exit_code, row.exit_code) << row.script;
    EXPECT_EQ(end.signal, row.signal) << row.script;
    EXPECT_EQ(end.reason, row.reason) << row.script;
    EXPECT_GT(end.running_ns, 0);
    EXPECT_GE(end.finished_ns, end.running_ns);
  }
}

TEST_F(ExecTest, MeasuresWhatTheProcessUsed) {
  const Update end = Ended(Script("i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done"));
  auto output = ParseJson(end.output);
  ASSERT_TRUE(output) << end.output;
  EXPECT_EQ(output.value().Find("exitCode")->as_int(), 0);
  EXPECT_GT(output.value().Find("userCpuSeconds")->as_double(), 0);
  EXPECT_GT(output.value().Find("durationSeconds")->as_double(), 0);
  EXPECT_GT(output.value().Find("peakMemoryBytes")->as_int(), 100000);
  EXPECT_TRUE(end.object_ref.starts_with("pid ")) << end.object_ref;
}

TEST_F(ExecTest, SaysWhyNothingCouldBeStarted) {
  std::filesystem::create_directory(WorkPath("folder"));
  struct Row {
    const char* spec;
    const char* reason;
  };
  int count = 0;
  for (const Row& row : {
           Row{R"({"command":["no-such-program-anywhere"]})", "CommandNotFound"},
           Row{R"({"command":["./missing"]})", "CommandNotFound"},
           Row{R"({"command":["./folder"]})", "CommandNotExecutable"},
           Row{R"({"command":["true"],"workingDirectory":"missing"})", "WorkingDirectoryMissing"},
           Row{R"({"command":["true"],"workingDirectory":"/dev/null"})", "WorkingDirectoryMissing"},
       }) {
    const Update end = Ended(row.spec, std::to_string(++count));
    EXPECT_EQ(end.result, DETENT_RESULT_FAILED) << row.spec;
    EXPECT_EQ(end.reason, row.reason) << row.spec << end.message;
    EXPECT_EQ(end.flags & DETENT_TASK_RERUN_SAFE, DETENT_TASK_RERUN_SAFE) << "no effect took place";
  }
}

TEST_F(ExecTest, RefusesUsersAndCgroupsItWasNotGiven) {
  const auto refusal = [&](const char* spec) {
    return host().Await(host().Start(host().NewTask(Key("x"), spec)));
  };
  Answer answer = refusal(R"({"command":["true"],"user":"daemon"})");
  EXPECT_EQ(answer.code, DETENT_E_DENIED);
  EXPECT_EQ(answer.reason, "UserNotAllowed");
  answer = refusal(R"({"command":["true"],"resources":{"limits":{"memory":"64Mi"}}})");
  EXPECT_EQ(answer.code, DETENT_E_UNSUPPORTED);
  EXPECT_EQ(answer.reason, "CgroupUnavailable");
  answer = refusal(R"({"command":[]})");
  EXPECT_EQ(answer.code, DETENT_E_INVALID);
  EXPECT_FALSE(std::filesystem::exists(TaskPath("x"))) << "a refusal leaves nothing";
}

TEST_F(ExecTest, RunsAsAnAllowedUser) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can become somebody else";
  NewHost(R"({"allowUsers":["nobody","no-such-user"]})");
  EXPECT_EQ(Ended(R"({"command":["id","-un"],"user":"nobody","workingDirectory":"/"})").result,
            DETENT_RESULT_SUCCEEDED);
  EXPECT_EQ(Log(), "1:nobody\n");
  Ended(Script("id -u; id -gn", R"("user":65534,"group":"nogroup","workingDirectory":"/")"), "b");
  EXPECT_EQ(Log("b"), "1:65534\n1:nogroup\n");
}

TEST_F(ExecTest, GivesACleanEnvironmentAndWhatTheSpecAdds) {
  setenv("DETENT_TEST_SECRET", "host", 1);
  NewHost();
  Ended(Script(
      "echo $A-$B-${DETENT_TEST_SECRET:-unset}; test -n \"$PATH\" && echo path; pwd",
      R"("env":[{"name":"A","value":"1"},{"name":"B","value":"x y"},{"name":"A","value":"2"}])"));
  EXPECT_EQ(Log(), "1:2-x y-unset\n1:path\n1:" + directory() + "/cwd\n");
  Ended(Script("echo $DETENT_TEST_SECRET", R"("inheritEnvironment":true)"), "b");
  EXPECT_EQ(Log("b"), "1:host\n");
  unsetenv("DETENT_TEST_SECRET");
}

TEST_F(ExecTest, FeedsStandardInputAndPassesArguments) {
  Ended(R"({"command":["cat"],"stdin":"one\ntwo\n"})");
  EXPECT_EQ(Log(), "1:one\n1:two\n");
  Ended(Script("wc -c; echo $1,$2", R"("args":["a b","c"])"), "b");
  EXPECT_EQ(Log("b"), "1:0\n1:a b,c\n") << "without stdin there is nothing to read";
}

TEST_F(ExecTest, StartsWithCleanSignalsAndDescriptors) {
  Ended(Script("grep -E 'Sig(Blk|Ign)' /proc/self/status; ls /proc/$$/fd | tr '\\n' ' '"));
  EXPECT_EQ(Log(), "1:SigBlk:\t0000000000000000\n1:SigIgn:\t0000000000000000\n1:0 1 2 \n");
}

TEST_F(ExecTest, SetsResourceLimits) {
  Ended(Script("ulimit -n; ulimit -c; ulimit -f; ulimit -v; ulimit -t",
               R"("rlimits":{"openFiles":77,"coreBytes":0,"fileSizeBytes":"1Mi",)"
               R"("addressSpaceBytes":"1Gi","cpuSeconds":60})"));
  EXPECT_EQ(Log(), "1:77\n1:0\n1:2048\n1:1048576\n1:60\n");
  const Update end = Ended(Script("while :; do :; done", R"("rlimits":{"cpuSeconds":1})"), "b");
  EXPECT_EQ(end.result, DETENT_RESULT_FAILED);
  EXPECT_NE(end.signal, 0) << "SIGXCPU, or SIGKILL at the hard limit";
}

TEST_F(ExecTest, StartingTwiceRunsOnce) {
  const std::string spec = Script("echo ran >> count; exit 7");
  Ended(spec);
  const detent_task again = Started(spec);
  EXPECT_TRUE(host().AwaitPhase(again, DETENT_PHASE_TERMINATED));
  EXPECT_EQ(host().last(again).exit_code, 7);
  EXPECT_EQ(ReadFile(WorkPath("count")), "ran\n");
}

TEST_F(ExecTest, StartsAnewWhatNeverRan) {
  std::filesystem::create_directories(TaskPath());
  EXPECT_EQ(Ended(Script("exit 5")).exit_code, 5);
}

TEST_F(ExecTest, RunsManyAtOnce) {
  constexpr int kCount = 100;
  std::vector<detent_task> tasks;
  for (int i = 0; i < kCount; ++i) {
    tasks.push_back(host().NewTask(Key(std::to_string(i)), Script("exit " + std::to_string(i))));
    host().Start(tasks.back());
  }
  for (int i = 0; i < kCount; ++i) {
    ASSERT_TRUE(host().AwaitPhase(tasks[i], DETENT_PHASE_TERMINATED)) << i;
    EXPECT_EQ(host().last(tasks[i]).exit_code, i);
  }
}

}  // namespace
}  // namespace detent::testing
