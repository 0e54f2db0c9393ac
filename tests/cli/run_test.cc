// `run`, `wait` and `logs` against a scripted server: progress, output and exit codes.

#include <gtest/gtest.h>

#include <algorithm>

#include "core/cli/wait_goal.h"
#include "tests/cli/fake_server.h"

namespace detent {
namespace {

using std::chrono::seconds;
using testing::EventLine;
using testing::JobJson;
using testing::ListJson;
using testing::Outcome;
using testing::Session;

const std::string kBase = "/apis/execution.detent.dev/v1alpha1/namespaces/default/";
const std::string kList = "GET " + kBase + "jobs?fieldSelector=metadata.name%3Da&limit";
const std::string kWatch = "GET " + kBase + "jobs?fieldSelector=metadata.name%3Da&watch";
const std::string kTasks = "GET " + kBase + "tasks?fieldSelector=spec.jobName%3Da";

std::string TaskJson(int index, const std::string& state) {
  const std::string number = std::to_string(index);
  return R"({"kind":"Task","metadata":{"name":"a-)" + number + R"(-1"},"spec":{"index":)" + number +
         R"(,"attempt":1},"status":{"state":")" + state + R"("}})";
}

// A run that is waited for and ends so.
Session Ending(const std::string& phase) {
  Session session;
  session.Expect({"POST " + kBase + "jobs", 201, JobJson("a", "Queued")});
  session.Expect({kList, 200, ListJson(JobJson("a", "Queued"))});
  session.Expect({kWatch, 200,
                  EventLine("MODIFIED", JobJson("a", "Running", 11)) +
                      EventLine("MODIFIED", JobJson("a", phase, 12))});
  return session;
}

TEST(Run, MakesAJobOfAJobConfig) {
  Session session;
  session.Expect({"POST " + kBase + "jobs?fieldValidation=Strict", 201, JobJson("a-x", "Queued")});
  EXPECT_EQ(session.Run({"run", "nightly", "--set", "option.day=1", "--after", "1m"}).out,
            "job.execution.detent.dev/a-x created\n");
  EXPECT_EQ(session.script().sent[0].body,
            R"({"apiVersion":"execution.detent.dev/v1alpha1","kind":"Job",)"
            R"("metadata":{"generateName":"nightly-"},"spec":{"configName":"nightly",)"
            R"("substitutions":{"option.day":"1"},)"
            R"("startPolicy":{"startAfter":"2026-11-21T10:01:00Z"}}})");
}

TEST(Run, AJobConfigThatIsNotThereIsSaidPlainly) {
  Session session;
  session.Expect({"POST " + kBase + "jobs", 422,
                  R"({"kind":"Status","code":422,"reason":"Invalid","message":"long","details":)"
                  R"({"causes":[{"field":"spec.configName","message":"Not found: x"}]}})"});
  const Outcome outcome = session.Run({"run", "nihgtly"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(outcome.err,
            "error: there is no JobConfig 'nihgtly' in namespace default; 'detent get jobconfigs' "
            "lists those that are\n");
}

TEST(Run, PrintsALineForEachChangeAndEndsAsTheJobDid) {
  Session session = Ending("Succeeded");
  const Outcome good = session.Run({"run", "nightly", "--wait"});
  EXPECT_EQ(good.code, 0);
  EXPECT_EQ(good.out,
            "job.execution.detent.dev/a created\n"
            "job default/a: Queued, 1/3 succeeded\n"
            "job default/a: Running, 1/3 succeeded\n"
            "job default/a: Succeeded, 3/3 succeeded\n");
  for (const char* phase : {"Failed", "Killed", "AdmissionError"}) {
    EXPECT_EQ(Ending(phase).Run({"run", "nightly", "--wait"}).code, 4) << phase;
  }
}

TEST(Run, DrawsOneLineOnATerminal) {
  Session session = Ending("Succeeded");
  session.terminal = true;
  EXPECT_EQ(session.Run({"run", "nightly", "--wait"}).out,
            "job.execution.detent.dev/a created\n"
            "\rjob default/a: Queued, 1/3 succeeded\x1b[K"
            "\rjob default/a: Running, 1/3 succeeded\x1b[K"
            "\rjob default/a: Succeeded, 3/3 succeeded\x1b[K\n");
}

TEST(Run, EndsWithThreeWhenTheTimeIsOver) {
  Session session;
  session.Expect({"POST " + kBase + "jobs", 201, JobJson("a", "Queued")});
  session.Expect({kList, 200, ListJson(JobJson("a", "Running"))});
  session.Expect({kWatch, 200, "", seconds(10)});
  const Outcome outcome = session.Run({"run", "nightly", "--wait", "--timeout", "10s"});
  EXPECT_EQ(outcome.code, 3);
  EXPECT_EQ(outcome.err, "error: the time given by --timeout is over\n");
  EXPECT_NE(session.script().sent[2].path.find("timeoutSeconds=10"), std::string::npos);
}

TEST(Run, SurvivesARestartOfTheServer) {
  Session session;
  session.Expect({"POST " + kBase + "jobs", 201, JobJson("a", "Queued")});
  session.Expect({kList, 200, ListJson(JobJson("a", "Running"))});
  session.Expect({kWatch, 0, "", {}, Code::kUnavailable});
  session.Expect({kList, 0, "", {}, Code::kUnavailable});
  session.Expect({kList, 200, ListJson(JobJson("a", "Succeeded"))});
  EXPECT_EQ(session.Run({"run", "nightly", "--wait"}).code, 0);
}

TEST(Run, SaysThatTheServerIsAwayAndInTheEndGivesUp) {
  Session session;
  session.Expect({"POST " + kBase + "jobs", 201, JobJson("a", "Queued")});
  session.Expect({kList, 200, ListJson(JobJson("a", "Running"))});
  session.Expect({kWatch, 0, "", {}, Code::kUnavailable});
  session.Expect({kList, 0, "", seconds(31), Code::kUnavailable});
  const Outcome outcome = session.Run({"run", "nightly", "--wait"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(outcome.err,
            "note: the connection to `detent serve` at http://127.0.0.1:7420 broke; asking again "
            "for 30 s\n"
            "error: the connection to `detent serve` at http://127.0.0.1:7420 broke, and it did "
            "not come back within 30 s; start it again, then repeat the command\n");
}

TEST(Run, AServerThatWasNeverThereIsNotWaitedFor) {
  Session session;
  session.Expect({kList, 0, "", {}, Code::kUnavailable});
  const Outcome outcome = session.Run({"wait", "job/a", "--for", "condition=Complete"});
  EXPECT_NE(outcome.err.find("`detent serve` is not running at"), std::string::npos);
  EXPECT_EQ(outcome.err.find("note:"), std::string::npos);
}

const std::string kConfig = "GET " + kBase + "jobconfigs/nightly";
constexpr const char* kStoredConfig =
    R"({"apiVersion":"execution.detent.dev/v1alpha1","kind":"JobConfig","metadata":{"name":)"
    R"("nightly","namespace":"default","generation":4},"spec":{"concurrency":{"policy":"Allow"},)"
    R"("template":{"spec":{"taskTemplate":{"exec":{"command":["a"]}},"maxAttempts":1}}}})";
constexpr const char* kConfigFile = R"(apiVersion: execution.detent.dev/v1alpha1
kind: JobConfig
metadata: {name: nightly}
spec:
  concurrency: {policy: Allow}
  template: {spec: {taskTemplate: {exec: {command: [a]}}}}
)";

TEST(Run, AFileWithAJobConfigIsRunIfTheHostHasItSo) {
  Session session;
  session.input = kConfigFile;
  session.Expect({kConfig, 200, kStoredConfig});
  session.Expect({"POST " + kBase + "jobs", 201, JobJson("a", "Queued")});
  const Outcome outcome = session.Run({"run", "-f", "-"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(
      session.script().sent[1].body,
      R"({"apiVersion":"execution.detent.dev/v1alpha1","kind":"Job","metadata":)"
      R"({"generateName":"nightly-","namespace":"default"},"spec":{"configName":"nightly"}})");
}

TEST(Run, AFileWithAJobConfigThatTheHostHasOtherwiseIsRefused) {
  Session absent;
  absent.input = kConfigFile;
  absent.Expect({kConfig, 404, testing::StatusJson(404, "NotFound", "not found")});
  EXPECT_EQ(absent.Run({"run", "-f", "-"}).err,
            "error: <stdin>:3:12: metadata.name: the host has no jobconfig default/nightly; "
            "'detent apply -f <stdin>' first, then run it\n");
  Session changed;
  changed.input = kConfigFile;
  changed.input.replace(changed.input.find("Allow"), 5, "Forbid");
  changed.Expect({kConfig, 200, kStoredConfig});
  std::string patched = kStoredConfig;
  patched.replace(patched.find("\"generation\":4"), 14, "\"generation\":5");
  changed.Expect(
      {"PATCH " + kBase + "jobconfigs/nightly?fieldValidation=Strict&dryRun=All", 200, patched});
  EXPECT_EQ(changed.Run({"run", "-f", "-"}).err,
            "error: <stdin>:4:1: spec: is not what the host has for jobconfig default/nightly; "
            "'detent apply -f <stdin>' first, then run it\n");
}

TEST(Run, WhatCannotBeRunIsRefusedWithItsPlace) {
  Session task;
  task.input = "apiVersion: execution.detent.dev/v1alpha1\nkind: Task\nmetadata: {name: t}\n";
  EXPECT_EQ(task.Run({"run", "-f", "-"}).err,
            "error: <stdin>:2:1: kind: must be Job or JobConfig, not Task; a Job makes Tasks\n");
  Session two;
  two.input = std::string(kConfigFile) + "---\n" + kConfigFile;
  const Outcome outcome = two.Run({"run", "-f", "-", "--name", "x"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_NE(outcome.err.find("--name: there are 2 objects"), std::string::npos) << outcome.err;
}

TEST(Run, FollowsTheOutputOfAllTasks) {
  Session session;
  session.Expect({"POST", 201, JobJson("a", "Queued")});
  session.Expect({"GET " + kBase + "jobs/a", 200, JobJson("a", "Running")});
  session.Expect({kTasks, 200, ListJson(TaskJson(0, "Terminated") + "," + TaskJson(1, "Running"))});
  session.Expect({"GET " + kBase + "tasks/a-0-1/log?raw=true", 200, "t stdout F zero\n"});
  session.Expect({"GET " + kBase + "tasks/a-1-1/log?raw=true", 200, "t stdout P on\n"});
  session.Expect({"GET " + kBase + "jobs/a", 200, JobJson("a", "Failed")});
  session.Expect(
      {kTasks, 200, ListJson(TaskJson(0, "Terminated") + "," + TaskJson(1, "Terminated"))});
  session.Expect({"GET " + kBase + "tasks/a-1-1/log?raw=true&offset=14", 200, "t stdout F e\n"});
  const Outcome outcome = session.Run({"run", "nightly", "--follow"});
  EXPECT_EQ(outcome.code, 4);
  EXPECT_EQ(outcome.out, "[0/1] zero\n[1/1] one\n");
  EXPECT_NE(outcome.err.find("job default/a: Failed"), std::string::npos);
}

TEST(Logs, OfATaskWithTimesAndTail) {
  Session session;
  session.Expect({"GET " + kBase + "tasks/a-0-1/log?raw=true", 200,
                  "10:00 stdout F one\n10:01 stderr F two\n10:02 stdout F three\n"});
  EXPECT_EQ(session.Run({"logs", "task/a-0-1", "--timestamps", "--tail", "2"}).out,
            "10:01 two\n10:02 three\n");
}

TEST(Logs, AreReadOnWhereTheyWereWhenTheServerIsBack) {
  const std::string task = "GET " + kBase + "tasks/a-0-1";
  Session session;
  session.Expect({task, 200, TaskJson(0, "Running")});
  session.Expect({task + "/log?raw=true", 200, "t stdout F one\n"});
  session.Expect({task, 0, "", {}, Code::kUnavailable});
  session.Expect({task, 200, TaskJson(0, "Running")});
  session.Expect({task + "/log?raw=true&offset=15", 200, "t stdout P tw\n"});
  session.Expect({task, 200, TaskJson(0, "Terminated")});
  session.Expect({task + "/log?raw=true&offset=29", 200, "t stdout P o\n"});
  const Outcome outcome = session.Run({"logs", "-f", "task/a-0-1"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.out, "one\ntwo\n");
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
}

TEST(Logs, OfAJobAreFollowedOverARestart) {
  Session session;
  session.Expect({"GET " + kBase + "jobs/a", 200, JobJson("a", "Running")});
  session.Expect({kTasks, 0, "", {}, Code::kUnavailable});
  session.Expect({"GET " + kBase + "jobs/a", 200, JobJson("a", "Succeeded")});
  session.Expect({kTasks, 200, ListJson("")});
  session.Expect({"GET " + kBase + "jobs/a", 200, JobJson("a", "Succeeded")});
  const Outcome outcome = session.Run({"logs", "-f", "a"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_TRUE(outcome.err.starts_with("note: the connection to")) << outcome.err;
}

TEST(Logs, OfAJobWithoutTasksSaysWhereToLook) {
  Session session;
  session.Expect({"GET " + kBase + "jobs/a", 200, JobJson("a", "Queued")});
  session.Expect({kTasks, 200, ListJson("")});
  session.Expect({"GET " + kBase + "jobs/a", 200, JobJson("a", "Queued")});
  EXPECT_NE(session.Run({"logs", "a"}).err.find("'detent why job/a'"), std::string::npos);
}

TEST(Logs, OfTasksThatAreNotStoredAreAskedForByTheirJob) {
  const std::string job =
      R"({"kind":"Job","metadata":{"namespace":"default","name":"a"},"status":{"phase":"Failed",)"
      R"("reservedIndexes":2,"tasks":{"failed":[{"index":1,"attempt":2,"state":"Terminated"}],)"
      R"("succeeded":[{"index":0,"attempt":1,"state":"Terminated"}]}}})";
  const std::string log = "GET " + kBase + "jobs/a/log?raw=true&";
  Session session;
  session.Expect({"GET " + kBase + "jobs/a", 200, job});
  session.Expect({kTasks, 200, ListJson("")});
  session.Expect({"GET " + kBase + "jobs/a", 200, job});
  session.Expect({log + "index=0&attempt=1", 200, "t stdout F one\n"});
  session.Expect({log + "index=1&attempt=2", 200, "t stdout F two\n"});
  EXPECT_EQ(session.Run({"logs", "a"}).out, "[0/1] one\n[1/2] two\n");
}

TEST(Wait, EndsWhenTheGoalIsMetOrLost) {
  struct Row {
    const char* goal;
    const char* phase;
    int code;
  };
  const Row rows[] = {{"jsonpath={.status.phase}=Running", "Running", 0},
                      {"jsonpath=.status.indexes=3", "Queued", 0},
                      {"condition=Complete", "Failed", 4}};
  for (const Row& row : rows) {
    Session session;
    session.Expect({kList, 200, ListJson(JobJson("a", row.phase))});
    EXPECT_EQ(session.Run({"wait", "job/a", "--for", row.goal}).code, row.code) << row.goal;
  }
  Session gone;
  gone.Expect({kList, 200, ListJson("")});
  EXPECT_EQ(gone.Run({"wait", "job/a", "--for=delete"}).code, 0);
  Session missing;
  missing.Expect({kList, 200, ListJson("")});
  EXPECT_EQ(missing.Run({"wait", "job/a", "--for=condition=Complete"}).code, 1);
}

TEST(Wait, GoalsAreReadAsKubectlWritesThem) {
  const auto object =
      ParseJson(R"({"status":{"conditions":[{"type":"Complete","status":"True"}],"l":[{"n":7}]}})");
  for (const char* met : {"condition=Complete", "condition=complete=true",
                          "jsonpath={.status.l[0].n}=7", "jsonpath={.status.l}"}) {
    const auto goal = WaitGoal::Parse(met);
    ASSERT_TRUE(goal) << met;
    EXPECT_TRUE(goal->IsMet(*object)) << met;
  }
  for (const char* unmet : {"condition=Failed", "condition=Complete=False",
                            "jsonpath={.status.l[0].n}=8", "jsonpath={.spec}"}) {
    EXPECT_FALSE(WaitGoal::Parse(unmet)->IsMet(*object)) << unmet;
  }
  for (const char* bad : {"condition=", "jsonpath={.a[*]}=1", "jsonpath=a", "jsonpath={..a}"}) {
    EXPECT_FALSE(WaitGoal::Parse(bad)) << bad;
  }
}

}  // namespace
}  // namespace detent
