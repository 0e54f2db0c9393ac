// What follows a Job or a Task while the server is away, refuses, or the time is over.

#include "core/cli/patience.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/cli/fake_server.h"

namespace detent {
namespace {

using std::chrono::seconds;
using testing::JobJson;
using testing::ListJson;
using testing::Outcome;
using testing::Session;
using testing::StatusJson;

const std::string kPlace = "/apis/execution.detent.dev/v1alpha1/namespaces/default/";
const std::string kJobA = "GET " + kPlace + "jobs/a";
const std::string kTaskA = "GET " + kPlace + "tasks/a-0-1";
const std::string kLogOfA = kTaskA + "/log?raw=true";
const std::string kTasksOfA = "GET " + kPlace + "tasks?fieldSelector=spec.jobName%3Da";
const std::string kListOfA = "GET " + kPlace + "jobs?fieldSelector=metadata.name%3Da&limit";
const std::string kWatchOfA = "GET " + kPlace + "jobs?fieldSelector=metadata.name%3Da&watch";
const std::string kRefusal = "the plugin of kind 'exec' cannot be used now: it was refused";

std::string TaskNow(const std::string& state) {
  return R"({"kind":"Task","metadata":{"name":"a-0-1"},"spec":{"index":0,"attempt":1},)"
         R"("status":{"state":")" +
         state + R"("}})";
}

std::string Refusing() {
  return StatusJson(503, "ServiceUnavailable", kRefusal);
}

void ExpectRefusalIsWhatItEndsWith(const Outcome& outcome) {
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(outcome.err, "note: `detent serve` at http://127.0.0.1:7420 answered: " + kRefusal +
                             "; asking again for 30 s\nerror: " + kRefusal + "\n");
}

TEST(Patience, AServerThatRefusesTheOutputIsNotAskedForEver) {
  Session job;
  Session task;
  for (int round = 0; round < 4; ++round) {
    job.Expect({kJobA, 200, JobJson("a", "Running")});
    job.Expect({kTasksOfA, 200, ListJson(TaskNow("Running"))});
    job.Expect({kLogOfA, 503, Refusing(), seconds(11)});
    task.Expect({kTaskA, 200, TaskNow("Running")});
    task.Expect({kLogOfA, 503, Refusing(), seconds(11)});
  }
  ExpectRefusalIsWhatItEndsWith(job.Run({"logs", "-f", "a"}));
  ExpectRefusalIsWhatItEndsWith(task.Run({"logs", "-f", "task/a-0-1"}));
}

TEST(Patience, AServerThatListsAndRefusesToWatchIsNotAskedForEver) {
  Session session;
  for (int round = 0; round < 8; ++round) {
    session.Expect({kListOfA, 200, ListJson(JobJson("a", "Running"))});
    session.Expect({kWatchOfA, 503, Refusing(), std::chrono::milliseconds(4500)});
  }
  const Outcome outcome = session.Run({"wait", "job/a", "--for", "condition=Complete"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 2) << outcome.err;
}

TEST(Patience, EachTimeThatTheServerIsAwayIsWaitedForAnew) {
  Session session;
  for (int round = 0; round < 4; ++round) {
    session.Expect({kListOfA, 200, ListJson(JobJson("a", "Running"))});
    session.Expect({kWatchOfA, 0, "", seconds(20), Code::kUnavailable});
  }
  session.Expect({kListOfA, 200, ListJson(JobJson("a", "Succeeded"))});
  EXPECT_EQ(session.Run({"wait", "job/a", "--for", "jsonpath={.status.phase}=Succeeded"}).code, 0);
}

TEST(Patience, TheTimeIsOverForATaskAsForAJob) {
  Session job;
  Session task;
  for (int round = 0; round < 2; ++round) {
    job.Expect({kJobA, 200, JobJson("a", "Running"), seconds(3)});
    job.Expect({kTasksOfA, 200, ListJson("")});
    job.Expect({kJobA, 200, JobJson("a", "Running")});
    task.Expect({kTaskA, 200, TaskNow("Running"), seconds(3)});
    task.Expect({kLogOfA, 200, ""});
  }
  for (const Outcome& outcome : {job.Run({"logs", "-f", "a", "--timeout", "5s"}),
                                 task.Run({"logs", "-f", "task/a-0-1", "--timeout", "5s"})}) {
    EXPECT_EQ(outcome.code, 3);
    EXPECT_EQ(outcome.err, "error: the time given by --timeout is over\n");
  }
}

TEST(Patience, TheLastLinesAreTheLastOnesOverABreak) {
  Session session;
  session.Expect({kTaskA, 200, TaskNow("Running")});
  session.Expect(
      {kLogOfA, 0, "t stdout F one\nt stdout F two\nt stdout P th", {}, Code::kUnavailable});
  session.Expect({kTaskA, 200, TaskNow("Terminated")});
  session.Expect({kLogOfA, 200, "t stdout F one\nt stdout F two\nt stdout F three\n"});
  const Outcome outcome = session.Run({"logs", "-f", "task/a-0-1", "--tail", "1"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.out, "three\n");
  EXPECT_EQ(session.script().sent.back().path.find("offset"), std::string::npos);
}

TEST(Patience, WhatACommandHasDoneBeforeShowsThatTheServerWasThere) {
  for (const char* how : {"--wait", "--follow"}) {
    const bool follows = how == std::string("--follow");
    const std::string first = follows ? kJobA : kListOfA;
    Session session;
    session.Expect({"POST " + kPlace + "jobs", 201, JobJson("a", "Queued")});
    session.Expect({"POST " + kPlace + "jobs", 201, JobJson("a", "Queued")});
    for (int job = 0; job < 2; ++job) {
      session.Expect({first, 0, "", {}, Code::kUnavailable});
      const std::string ended = JobJson("a", "Succeeded");
      session.Expect({first, 200, follows ? ended : ListJson(ended)});
      if (follows) session.Expect({kTasksOfA, 200, ListJson("")});
      if (follows) session.Expect({kJobA, 200, ended});
    }
    const Outcome outcome = session.Run({"run", "nightly", "--count", "2", how});
    EXPECT_EQ(outcome.code, 0) << how << ": " << outcome.err;
  }
}

TEST(Patience, AServerThatRefusesFromTheFirstIsNotWaitedFor) {
  Session session;
  session.Expect({kListOfA, 503, Refusing()});
  EXPECT_EQ(session.Run({"wait", "job/a", "--for", "condition=Complete"}).err,
            "error: wait for job.execution.detent.dev/a: " + kRefusal + "\n");
}

}  // namespace
}  // namespace detent
