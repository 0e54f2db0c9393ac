// `get` and `describe` against a scripted server.

#include <gtest/gtest.h>

#include "tests/cli/fake_server.h"

namespace detent {
namespace {

using testing::EventLine;
using testing::JobJson;
using testing::ListJson;
using testing::Outcome;
using testing::Session;
using testing::StatusJson;

constexpr const char* kJobs = "GET /apis/execution.detent.dev/v1alpha1/namespaces/default/jobs";
constexpr const char* kColumns =
    R"([{"name":"Name","format":"name","priority":0},{"name":"Phase","priority":0},)"
    R"({"name":"Reason","priority":1}])";

std::string Row(const std::string& name, const std::string& phase) {
  return R"({"cells":[")" + name + R"(",")" + phase + R"(",null],"object":{"metadata":{"name":")" +
         name + R"(","namespace":"default"}}})";
}

std::string Table(const std::string& rows, const std::string& columns = kColumns,
                  const std::string& more = "", int version = 10) {
  return R"({"kind":"Table","metadata":{"resourceVersion":")" + std::to_string(version) +
         R"(","continue":")" + more + R"("},"columnDefinitions":)" + columns + R"(,"rows":[)" +
         rows + "]}";
}

TEST(Get, ShowsTheServersTable) {
  Session session;
  session.Expect({kJobs, 200, Table(Row("a", "Running") + "," + Row("longer", "Failed"))});
  const Outcome outcome = session.Run({"get", "jobs"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.out, "NAME     PHASE\na        Running\nlonger   Failed\n");
  const auto& headers = session.script().sent[0].headers;
  EXPECT_TRUE(headers.Find("Accept").starts_with("application/json;as=Table"));
}

TEST(Get, WideAndAllNamespacesAddColumns) {
  Session session;
  session.Expect({"GET /apis/execution.detent.dev/v1alpha1/jobs?labelSelector=a%3Db&limit=", 200,
                  Table(Row("a", "Running"))});
  EXPECT_EQ(session.Run({"get", "jobs", "-A", "-l", "a=b", "-o", "wide"}).out,
            "NAMESPACE   NAME   PHASE     REASON\ndefault     a      Running   <none>\n");
}

TEST(Get, JoinsThePagesOfALongList) {
  Session session;
  session.Expect({std::string(kJobs) + "?limit=500", 200, Table(Row("a", "x"), kColumns, "t1")});
  session.Expect({std::string(kJobs) + "?limit=500&continue=t1", 200, Table(Row("b", "y"))});
  EXPECT_EQ(session.Run({"get", "jobs", "--no-headers"}).out, "a   x\nb   y\n");
}

TEST(Get, SaysWhereThereIsNothing) {
  Session session;
  session.Expect({kJobs, 200, Table("")});
  const Outcome outcome = session.Run({"get", "jobs"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(outcome.err, "There are no jobs in namespace default.\n");
}

TEST(Get, PrintsDocumentsInEachFormat) {
  struct Case {
    std::vector<std::string> args;
    const char* begins;
  };
  const Case cases[] = {
      {{"get", "job/a", "-o", "json"}, "{\n    \"apiVersion\": \"execution.detent.dev/v1alpha1\""},
      {{"get", "job", "a", "-o", "yaml"}, "apiVersion: execution.detent.dev/v1alpha1\nkind: Job\n"},
      {{"get", "job/a", "-o", "name"}, "job.execution.detent.dev/a\n"},
  };
  for (const Case& c : cases) {
    Session session;
    session.Expect({std::string(kJobs) + "/a", 200, JobJson("a", "Running")});
    const Outcome outcome = session.Run(c.args);
    EXPECT_EQ(outcome.out.substr(0, std::string(c.begins).size()), c.begins);
  }
  Session session;
  session.Expect({kJobs, 200, ListJson(JobJson("a", "Failed") + "," + JobJson("b", "Failed"))});
  EXPECT_EQ(session.Run({"get", "jobs", "-o", "name"}).out,
            "job.execution.detent.dev/a\njob.execution.detent.dev/b\n");
}

TEST(Get, GoesOnAfterAnObjectThatIsMissing) {
  Session session;
  session.Expect({std::string(kJobs) + "/a", 404, StatusJson(404, "NotFound", "jobs \"a\" ...")});
  session.Expect({std::string(kJobs) + "/b", 200, Table(Row("b", "Running"))});
  const Outcome outcome = session.Run({"get", "jobs", "a", "b"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(outcome.err, "error: jobs \"a\" ...\n");
  EXPECT_EQ(outcome.out, "NAME   PHASE\nb      Running\n");
}

TEST(Get, AWatchGoesOnWhereItEndedAndListsAgainAfter410) {
  Session session;
  const std::string watch = std::string(kJobs) + "?watch=true&allowWatchBookmarks=true";
  session.Expect({kJobs, 200, Table(Row("a", "Queued"))});
  session.Expect({watch + "&resourceVersion=10", 200,
                  EventLine("MODIFIED", Table(Row("a", "Running"), "null", "", 11)) +
                      EventLine("BOOKMARK", Table("", "null", "", 12))});
  session.Expect({watch + "&resourceVersion=12", 200,
                  EventLine("ERROR", StatusJson(410, "Expired", "too old"))});
  session.Expect({kJobs, 200, Table(Row("a", "Failed"))});
  session.Expect({watch + "&resourceVersion=10", 403, StatusJson(403, "Forbidden", "no more")});
  const Outcome outcome = session.Run({"get", "jobs", "-w"});
  EXPECT_EQ(outcome.out, "NAME   PHASE\na      Queued\na      Running\na      Failed\n");
  EXPECT_EQ(outcome.err, "error: no more\n");
}

TEST(Describe, ShowsMetadataSpecStatusAndWhy) {
  Session session;
  const std::string job = std::string(kJobs) + "/a";
  session.Expect({job, 200, JobJson("a", "Queued")});
  session.Expect({job + "/why", 200, R"({"lines":["job default/a: queued","  policy Forbid"]})"});
  session.Expect(
      {"GET /apis/execution.detent.dev/v1alpha1/namespaces/default/tasks"
       "?fieldSelector=spec.jobName%3Da",
       200, Table(Row("a-0-1", "Held"))});
  const Outcome outcome = session.Run({"describe", "job/a"});
  for (const char* part :
       {"Name:         a\n", "Status:\n  phase: Queued\n",
        "Why:\n  job default/a: queued\n    policy Forbid\n", "a-0-1   Held\n"}) {
    EXPECT_NE(outcome.out.find(part), std::string::npos) << outcome.out;
  }
}

}  // namespace
}  // namespace detent
