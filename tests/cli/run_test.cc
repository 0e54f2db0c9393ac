// `run`, `wait` and `logs` against a scripted server: progress, output and exit codes.

#include <gtest/gtest.h>

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

TEST(Logs, OfAJobWithoutTasksSaysWhereToLook) {
  Session session;
  session.Expect({"GET " + kBase + "jobs/a", 200, JobJson("a", "Queued")});
  session.Expect({kTasks, 200, ListJson("")});
  EXPECT_NE(session.Run({"logs", "a"}).err.find("'detent why job/a'"), std::string::npos);
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
