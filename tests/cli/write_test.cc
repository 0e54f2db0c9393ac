// `apply`, `delete` and `kill` against a scripted server.

#include <gtest/gtest.h>

#include "core/base/json.h"
#include "core/cli/apply_patch.h"
#include "tests/cli/fake_server.h"

namespace detent {
namespace {

using testing::EventLine;
using testing::JobJson;
using testing::ListJson;
using testing::Outcome;
using testing::Session;
using testing::StatusJson;

const std::string kWriteBase = "/apis/execution.detent.dev/v1alpha1/namespaces/default/";
const std::string kWriteConfig = kWriteBase + "jobconfigs/nightly";
constexpr const char* kYaml = R"(apiVersion: execution.detent.dev/v1alpha1
kind: JobConfig
metadata: {name: nightly, namespace: default}
spec:
  concurrency: {policy: Forbid}
)";
constexpr const char* kApplied =
    R"({"apiVersion":"execution.detent.dev/v1alpha1","kind":"JobConfig","metadata":)"
    R"({"name":"nightly","namespace":"default"},"spec":{"concurrency":{"policy":"Forbid"}}})";

std::string Stored(const char* document) {
  return DumpJson(WithLastApplied(*ParseJson(document)));
}

Outcome Apply(Session& session) {
  session.input = kYaml;
  return session.Run({"apply", "-f", "-"});
}

TEST(Apply, CreatesWhatIsNotThere) {
  Session session;
  session.Expect({"GET " + kWriteConfig, 404, StatusJson(404, "NotFound", "no")});
  session.Expect({"POST " + kWriteBase + "jobconfigs?fieldValidation=Strict", 201, "{}"});
  EXPECT_EQ(Apply(session).out, "jobconfig.execution.detent.dev/nightly created\n");
  const Json sent = *ParseJson(session.script().sent[1].body);
  EXPECT_EQ(DumpJson(*LastApplied(sent)), kApplied);
}

TEST(Apply, LeavesAloneWhatIsAsTheFileSays) {
  Session session;
  session.Expect({"GET " + kWriteConfig, 200, Stored(kApplied)});
  EXPECT_EQ(Apply(session).out, "jobconfig.execution.detent.dev/nightly unchanged\n");
}

TEST(Apply, AnOlderFormIsTheSameAsWhatWasStoredOfIt) {
  const char* stored =
      R"({"apiVersion":"execution.detent.dev/v1alpha1","kind":"Job","metadata":{"name":"old",)"
      R"("namespace":"default"},"spec":{"template":{"taskTemplate":{"exec":{}}}}})";
  Session session;
  session.input =
      "apiVersion: execution.furiko.io/v1alpha1\nkind: Job\nmetadata: {name: old}\n"
      "spec: {template: {task: {template: {exec: {}}}}}\n";
  session.Expect({"GET " + kWriteBase + "jobs/old", 200, Stored(stored)});
  EXPECT_EQ(session.Run({"apply", "-f", "-"}).out, "job.execution.detent.dev/old unchanged\n");
}

TEST(Apply, PatchesTheDifferenceOnly) {
  Json before = *ParseJson(kApplied);
  before.Find("spec")->Set("old", 1);
  Json stored = WithLastApplied(before);
  stored.Find("spec")->Set("other", 2);
  Session session;
  session.Expect({"GET " + kWriteConfig, 200, DumpJson(stored)});
  session.Expect({"PATCH " + kWriteConfig, 200, "{}"});
  EXPECT_EQ(Apply(session).out, "jobconfig.execution.detent.dev/nightly configured\n");
  const Json patch = *ParseJson(session.script().sent[1].body);
  EXPECT_EQ(DumpJson(*patch.Find("spec")), R"({"old":null})");
  EXPECT_EQ(session.script().sent[1].headers.Find("Content-Type"), "application/merge-patch+json");
}

TEST(Apply, AJobsConfigNameIsNotSentAgain) {
  const char* job = R"({"apiVersion":"execution.detent.dev/v1alpha1","kind":"Job",
      "metadata":{"name":"j","namespace":"default"},"spec":{"configName":"c"}})";
  Json stored = WithLastApplied(*ParseJson(job));
  stored.Find("spec")->Remove("configName");
  Session session;
  session.input = job;
  session.Expect({"GET " + kWriteBase + "jobs/j", 200, DumpJson(stored)});
  EXPECT_EQ(session.Run({"apply", "-f", "-"}).out, "job.execution.detent.dev/j unchanged\n");
}

TEST(Apply, ARefusalIsShownWhereTheMistakeIs) {
  Session session;
  session.Expect({"GET " + kWriteConfig, 404, StatusJson(404, "NotFound", "no")});
  session.Expect(
      {"POST", 422,
       R"({"message":"invalid","reason":"Invalid","details":{"causes":[)"
       R"({"field":"spec.concurrency.policy","message":"Invalid value: must be better"}]}})"});
  const Outcome outcome = Apply(session);
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(outcome.err, "error: <stdin>:5:17: spec.concurrency.policy: must be better\n");
}

TEST(Apply, MistakesBeforeTheServerIsAsked) {
  Session session;
  EXPECT_EQ(session.Run({"apply", "-f", "/no/such.yaml"}).err,
            "error: /no/such.yaml: no such file\n");
  session.input = "kind: Job\nmetadata: {name: x}\n";
  EXPECT_EQ(session.Run({"apply", "-f", "-"}).code, 1);
  session.input = kYaml;
  const Outcome other = session.Run({"apply", "-f", "-", "-n", "other"});
  EXPECT_EQ(other.code, 1);
  EXPECT_NE(other.err.find("<stdin>:3:27: metadata.namespace: is 'default'"), std::string::npos)
      << other.err;
}

TEST(Delete, DeletesAndWaitsUntilItIsGone) {
  Session session;
  session.Expect({"DELETE " + kWriteBase + "jobs/a?propagationPolicy=Foreground", 200,
                  JobJson("a", "Killing")});
  session.Expect({"GET " + kWriteBase + "jobs?fieldSelector=metadata.name%3Da&limit", 200,
                  ListJson(JobJson("a", "Killing"))});
  session.Expect({"GET " + kWriteBase + "jobs?fieldSelector=metadata.name%3Da&watch", 200,
                  EventLine("DELETED", JobJson("a", "Killed"))});
  const Outcome outcome = session.Run({"delete", "job/a", "--cascade=foreground", "--wait"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.out, "job.execution.detent.dev/a deleted\n");
}

TEST(Delete, WhatIsGoneCanBeIgnored) {
  for (const bool ignored : {false, true}) {
    Session session;
    session.Expect({"DELETE " + kWriteBase + "jobs/a", 404, StatusJson(404, "NotFound", "no a")});
    std::vector<std::string> args = {"delete", "job/a"};
    if (ignored) args.push_back("--ignore-not-found");
    EXPECT_EQ(session.Run(args).code, ignored ? 0 : 1);
  }
}

TEST(Kill, SetsTheTimeOnWhatStillRuns) {
  Session session;
  session.Expect({"GET " + kWriteBase + "jobs/a", 200, JobJson("a", "Running")});
  session.Expect({"PATCH " + kWriteBase + "jobs/a", 200, "{}"});
  EXPECT_EQ(session.Run({"kill", "job/a", "--at", "10m"}).out,
            "job.execution.detent.dev/a will be killed at 2026-11-21T10:10:00Z\n");
  EXPECT_EQ(session.script().sent[1].body, R"({"spec":{"killTimestamp":"2026-11-21T10:10:00Z"}})");
  Session ended;
  ended.Expect({"GET " + kWriteBase + "jobs/a", 200, JobJson("a", "Failed")});
  EXPECT_EQ(ended.Run({"kill", "job/a"}).out, "job.execution.detent.dev/a has ended already\n");
}

}  // namespace
}  // namespace detent
