// The client against a scripted API server of a cluster: what it sends, and what it says.

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>

#include "core/base/json.h"
#include "core/cli/cluster_client.h"
#include "core/cli/local_fields.h"
#include "core/cli/pod_log.h"
#include "tests/cli/fake_server.h"

namespace detent {
namespace {

using testing::JobJson;
using testing::ListJson;
using testing::Outcome;
using testing::Session;
using testing::StatusJson;

const std::string kTeam = "/apis/execution.detent.dev/v1alpha1/namespaces/team-a/";

// A kubeconfig with a context whose namespace is team-a.
std::string Kubeconfig() {
  const std::string path = ::testing::TempDir() + "detent_cli_cluster_test.kubeconfig";
  std::ofstream(path) << R"({apiVersion: v1, kind: Config, current-context: a,
clusters: [{name: c, cluster: {server: "https://cluster.example:6443"}}],
users: [{name: u, user: {token: secret}}],
contexts: [{name: a, context: {cluster: c, user: u, namespace: team-a}},
           {name: b, context: {cluster: c, user: u}}]})";
  return path;
}

Outcome RunOnCluster(Session& session, std::vector<std::string> args) {
  const std::string kubeconfig = Kubeconfig();
  args.insert(args.end(), {"--kubeconfig", kubeconfig});
  Outcome outcome = session.Run(args);
  std::remove(kubeconfig.c_str());
  return outcome;
}

constexpr const char* kOlderForm = R"(apiVersion: execution.furiko.io/v1alpha1
kind: JobConfig
metadata: {name: nightly}
spec:
  concurrency: {policy: Forbid}
  schedule: {cron: {expression: "0 3 * * *"}}
  template:
    spec:
      task: {template: {exec: {command: ["true"]}}}
)";

TEST(Cluster, TheNamespaceIsThatOfTheContext) {
  Session session;
  session.Expect({"GET " + kTeam + "jobs/a", 200, JobJson("a", "Running")});
  EXPECT_EQ(RunOnCluster(session, {"get", "job/a", "-o", "name"}).out,
            "job.execution.detent.dev/a\n");
  Session other;
  other.Expect({"GET /apis/execution.detent.dev/v1alpha1/namespaces/default/jobs/a", 200,
                JobJson("a", "Running")});
  EXPECT_EQ(RunOnCluster(other, {"get", "job/a", "-o", "name", "--context", "b"}).code, 0);
}

TEST(Cluster, AServerOfTheEnvironmentWinsAndOneOfAFlagContradicts) {
  Session session;
  session.environment["DETENT_SERVER"] = "http://host:1";
  session.Expect({"GET /version", 200, R"({"gitVersion":"v1.31.0+detent"})"});
  const Outcome host = RunOnCluster(session, {"version"});
  EXPECT_NE(host.out.find("host:   v1.31.0+detent\n"), std::string::npos) << host.out;
  EXPECT_NE(host.err.find("note: DETENT_SERVER is set"), std::string::npos) << host.err;
  EXPECT_EQ(session.connected().base_url, "http://host:1");
  Session both;
  const Outcome outcome = RunOnCluster(both, {"get", "jobs", "--server", "http://a"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_NE(outcome.err.find("drop one"), std::string::npos) << outcome.err;
}

TEST(Cluster, ApplySendsAnOlderFormAsAHostWouldStoreIt) {
  Session session;
  session.input = kOlderForm;
  session.Expect({"GET " + kTeam + "jobconfigs/nightly", 404,
                  R"({"kind":"Status","message":"no","reason":"NotFound","code":404,)"
                  R"("details":{"name":"nightly","kind":"jobconfigs"}})"});
  session.Expect({"POST " + kTeam + "jobconfigs?fieldValidation=Strict", 201, "{}"});
  const Outcome outcome = RunOnCluster(session, {"apply", "-f", "-"});
  EXPECT_EQ(outcome.out, "jobconfig.execution.detent.dev/nightly created\n") << outcome.err;
  const Json sent = *ParseJson(session.script().sent[1].body);
  EXPECT_EQ(TextAt(sent, "/apiVersion"), "execution.detent.dev/v1alpha1");
  EXPECT_NE(sent.At("/spec/template/spec/taskTemplate/exec/command"), nullptr);
  EXPECT_EQ(NumberAt(sent, "/spec/template/spec/maxAttempts"), 1);
  EXPECT_EQ(TextAt(sent, "/spec/schedule/lastUpdated"), "2026-11-21T10:00:00Z");
  for (const char* name : {"uid", "creationTimestamp", "generation"}) {
    EXPECT_EQ(sent.At(std::string("/metadata/") + name), nullptr) << name;
  }
}

TEST(Cluster, AllMistakesAreFoundBeforeAnythingIsSent) {
  Session session;
  session.input =
      "apiVersion: execution.detent.dev/v1alpha1\nkind: Job\nmetadata: {name: x}\nspec:\n"
      "  template:\n    maxAttempts: 0\n    task: {template: {exec: {}, http: {}}}\n";
  session.Expect({"GET " + kTeam + "jobs/x", 404,
                  R"({"kind":"Status","message":"no","reason":"NotFound","code":404,)"
                  R"("details":{"name":"x","kind":"jobs"}})"});
  const Outcome outcome = RunOnCluster(session, {"apply", "-f", "-"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_NE(outcome.err.find("<stdin>:6:5: spec.template.maxAttempts: "), std::string::npos)
      << outcome.err;
  EXPECT_NE(outcome.err.find("spec.template.task.template"), std::string::npos) << outcome.err;
}

TEST(Cluster, AChangeOvertakenBySomebodyElseIsWorkedOutAgain) {
  const std::string job = R"({"apiVersion":"execution.detent.dev/v1alpha1","kind":"Job",)"
                          R"("metadata":{"name":"a","namespace":"team-a","uid":"u",)"
                          R"("resourceVersion":"VERSION"},"spec":{"type":"Adhoc","template":)"
                          R"({"maxAttempts":1,"taskTemplate":{"exec":{"command":["true"]}}}}})";
  const auto at = [&](const std::string& version) {
    std::string text = job;
    return text.replace(text.find("VERSION"), 7, version);
  };
  Session session;
  session.Expect({"GET " + kTeam + "jobs/a", 200, at("1")});
  session.Expect({"GET " + kTeam + "jobs/a", 200, at("1")});
  session.Expect({"PATCH " + kTeam + "jobs/a", 409, StatusJson(409, "Conflict", "overtaken")});
  session.Expect({"GET " + kTeam + "jobs/a", 200, at("2")});
  session.Expect({"PATCH " + kTeam + "jobs/a", 200, at("3")});
  EXPECT_EQ(RunOnCluster(session, {"kill", "job/a"}).code, 0);
  EXPECT_EQ(session.script().sent.back().body,
            R"({"spec":{"killTimestamp":"2026-11-21T10:00:00Z"},)"
            R"("metadata":{"resourceVersion":"2"}})");
}

TEST(Cluster, KindsThatAreNotInstalledAreSaidToBe) {
  Session session;
  session.Expect({"GET " + kTeam + "jobs?", 404, "404 page not found\n"});
  const Outcome outcome = RunOnCluster(session, {"get", "jobs"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_NE(outcome.err.find("run 'detent install'"), std::string::npos) << outcome.err;
}

TEST(Cluster, WhatOnlyTheHostKnowsNamesTheWayToIt) {
  Session session;
  const Outcome outcome = RunOnCluster(session, {"plugin", "list"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_NE(outcome.err.find("port-forward service/detent 7420"), std::string::npos) << outcome.err;
}

TEST(LocalFields, TakeWhatTheServerDoesNotKnow) {
  Selection selection{Kind::kTask, "a", "x=y", "metadata.name=t,spec.jobName=j,status.state!=Held"};
  const LocalFields fields = LocalFields::TakeFrom(selection);
  EXPECT_EQ(selection.field_selector, "metadata.name=t");
  EXPECT_EQ(selection.label_selector, "x=y,execution.detent.dev/job=j");
  EXPECT_TRUE(fields.Match(*ParseJson(R"({"spec":{"jobName":"j"},"status":{"state":"Running"}})")));
  EXPECT_FALSE(fields.Match(*ParseJson(R"({"spec":{"jobName":"j"}})")));
  Selection other{Kind::kJob, "a", "", "spec.jobName=j"};
  EXPECT_TRUE(LocalFields::TakeFrom(other).empty()) << "the server refuses what it does not know";
  EXPECT_EQ(other.field_selector, "spec.jobName=j");
}

// A Pod's log, as often as it is asked for.
class Pod {
 public:
  std::string phase = "Running";
  std::string containers = R"("containerStatuses":[{"name":"main","state":{"running":{}}}])";
  std::string log;
  std::vector<std::string> asked;

  std::vector<std::string> Read(PodLog& reader, bool ended = false) {
    PodLog::Source source;
    source.ns = "team-a";
    source.task_key = "uid/0/1";
    source.shown = "task team-a/t";
    source.ended = ended;
    std::vector<std::string> lines;
    const PodLog::Fetcher fetch = [this](const std::string& path) { return Answer(path); };
    const auto refusal = [](const ClientReply& reply) {
      return Error(Code::kInternal, reply.body);
    };
    const auto read = reader.Read(source, {fetch, refusal}, [&](std::string_view line) {
      lines.emplace_back(line);
      return true;
    });
    if (!read) lines.push_back(read.error().message());
    return lines;
  }

 private:
  Result<ClientReply> Answer(const std::string& path) {
    asked.push_back(path);
    if (path.find("/log?") != path.npos) return ClientReply{200, {}, log};
    if (phase.empty()) return ClientReply{200, {}, R"({"items":[]})"};
    const std::string spec = R"("spec":{"containers":[{"name":"main"}]})";
    const std::string status = R"("status":{"phase":")" + phase + R"(",)" + containers + "}";
    return ClientReply{
        200, {}, R"({"items":[{"metadata":{"name":"p"},)" + spec + "," + status + "}]}"};
  }
};

TEST(PodLog, GivesEachLineOnceHoweverManyAreOfOneSecond) {
  Pod pod;
  PodLog reader;
  pod.log = "2026-11-21T10:00:00.1Z a\n2026-11-21T10:00:01.1Z b\n2026-11-21T10:00:01.100Z c\n";
  EXPECT_EQ(pod.Read(reader), (std::vector<std::string>{"2026-11-21T10:00:00.1Z stdout F a",
                                                        "2026-11-21T10:00:01.1Z stdout F b",
                                                        "2026-11-21T10:00:01.100Z stdout F c"}));
  EXPECT_EQ(pod.asked[0].find("/api/v1/namespaces/team-a/pods?labelSelector=detent.dev%2Ftask%3D"
                              "uid.0.1"),
            0u)
      << pod.asked[0];
  pod.log = "2026-11-21T10:00:01.1Z b\n2026-11-21T10:00:01.100Z c\n2026-11-21T10:00:01.9Z d\n";
  EXPECT_EQ(pod.Read(reader), (std::vector<std::string>{"2026-11-21T10:00:01.9Z stdout F d"}));
  EXPECT_NE(pod.asked.back().find("sinceTime=2026-11-21T10%3A00%3A01Z"), std::string::npos);
  EXPECT_TRUE(pod.Read(reader).empty());
}

TEST(PodLog, KeepsALineWithoutItsEndUntilThePodIsOver) {
  Pod pod;
  PodLog reader;
  pod.log = "2026-11-21T10:00:00Z whole\n2026-11-21T10:00:00Z ha";
  EXPECT_EQ(pod.Read(reader).size(), 1u);
  pod.log += "lf";
  EXPECT_TRUE(pod.Read(reader).empty());
  pod.phase = "Succeeded";
  EXPECT_EQ(pod.Read(reader), (std::vector<std::string>{"2026-11-21T10:00:00Z stdout F half"}));
}

TEST(PodLog, OfAPodThatNeverBeganTheInitContainerThatFailedIsHeard) {
  Pod pod;
  PodLog reader;
  pod.containers = R"("containerStatuses":[{"name":"main","state":{"waiting":{}}}],)"
                   R"("initContainerStatuses":[{"name":"fetch","state":{"terminated":)"
                   R"({"exitCode":1}}}])";
  pod.log = "2026-11-21T10:00:00Z no route\n";
  EXPECT_TRUE(pod.Read(reader).empty()) << "it may begin yet";
  pod.phase = "Failed";
  EXPECT_EQ(pod.Read(reader).size(), 1u);
  EXPECT_NE(pod.asked.back().find("container=fetch"), std::string::npos);
}

TEST(PodLog, APodThatIsNotThereHasNoOutputYetOrNoneAnyMore) {
  Pod pod;
  PodLog reader;
  pod.phase.clear();
  EXPECT_TRUE(pod.Read(reader).empty());
  EXPECT_EQ(pod.Read(reader, true),
            (std::vector<std::string>{"the Pod of task team-a/t is not there any more, and its "
                                      "output went with it"}));
}

}  // namespace
}  // namespace detent
