// From a Pod to the status of its task.

#include "plugins/pod/outcome.h"

#include <gtest/gtest.h>

#include "core/base/json.h"
#include "plugins/pod/details.h"
#include "plugins/pod/rfc3339.h"

namespace detent::pod {
namespace {

constexpr const char* kMeta =
    R"("name":"p","namespace":"ns","uid":"u","creationTimestamp":"2026-11-20T10:00:00Z")";
constexpr const char* kSpec = R"("nodeName":"n1","initContainers":[{"name":"init"},)"
                              R"({"name":"side","restartPolicy":"Always"}],)"
                              R"("containers":[{"name":"main"},{"name":"other"}])";

struct Given {
  std::string status;
  std::string meta = {};  // beside kMeta
  std::string spec = kSpec;
};

Pod PodOf(const Given& given) {
  const std::string json = std::string(R"({"kind":"Pod","metadata":{)") + kMeta +
                           (given.meta.empty() ? "" : "," + given.meta) + R"(},"spec":{)" +
                           given.spec + R"(},"status":{)" + given.status + "}}";
  const auto pod = ReadPod(json);
  EXPECT_TRUE(pod && ParseJson(json)) << json;
  return *pod;
}

const char* NameOf(const sdk::TaskStatus& status) {
  constexpr const char* kPhases[] = {"Unknown", "Starting", "Running", "Killing", ""};
  constexpr const char* kResults[] = {"?", "Succeeded", "Failed", "Killed", "Lost"};
  return status.phase == DETENT_PHASE_TERMINATED ? kResults[status.result] : kPhases[status.phase];
}

constexpr const char* kDeleting =
    R"("deletionTimestamp":"2026-11-20T10:01:00Z","deletionGracePeriodSeconds":30)";
constexpr const char* kGone =
    R"("deletionTimestamp":"2026-11-20T10:00:30Z","deletionGracePeriodSeconds":0)";

std::string Ended(const char* name, int code, const char* at = "10:00:20", const char* more = "") {
  return std::string(R"({"name":")") + name + R"(","state":{"terminated":{"exitCode":)" +
         std::to_string(code) + R"(,"startedAt":"2026-11-20T10:00:10Z","finishedAt":"2026-11-20T)" +
         at + "Z\"" + more + "}}}";
}

std::string Runs(const char* name) {
  return std::string(R"({"name":")") + name +
         R"(","state":{"running":{"startedAt":"2026-11-20T10:00:05Z"}}})";
}

std::string Waits(const char* name, const char* reason, const char* message = "") {
  return std::string(R"({"name":")") + name + R"(","state":{"waiting":{"reason":")" + reason +
         R"(","message":")" + message + "\"}}}";
}

std::string Status(const char* phase, const std::string& containers, const std::string& init = "",
                   const std::string& more = "") {
  return std::string(R"("phase":")") + phase + R"(","containerStatuses":[)" + containers +
         R"(],"initContainerStatuses":[)" + init + "]" + more;
}

std::string Disruption(const char* reason, const char* message) {
  return std::string(R"(,"conditions":[{"type":"DisruptionTarget","status":"True",)") +
         R"("lastTransitionTime":"2026-11-20T10:00:25Z","reason":")" + reason + R"(","message":")" +
         message + "\"}]";
}

struct Row {
  Given given;
  const char* is;
  const char* reason;
  const char* message;
  const char* because;
};

void ExpectRows(const std::vector<Row>& rows, const Wish& wish) {
  for (const Row& row : rows) {
    const sdk::TaskStatus status = Describe(PodOf(row.given), wish);
    EXPECT_STREQ(NameOf(status), row.is) << row.because;
    EXPECT_EQ(status.reason, row.reason) << row.because;
    EXPECT_EQ(status.message, row.message) << row.because;
    EXPECT_EQ(status.object_ref, "ns/p");
    EXPECT_TRUE(ParseJson(status.extra)) << row.because;
  }
}

TEST(PodOutcome, SaysWhatAPodWaitsFor) {
  const std::string both = Waits("main", "PodInitializing") + "," + Waits("other", "x");
  ExpectRows(
      {
          {{""}, "Starting", "", "", "the server has only just stored it"},
          {{R"("phase":"Pending","conditions":[{"type":"PodScheduled","status":"False",)"
            R"("reason":"Unschedulable","message":"0/3 nodes: 3 Insufficient cpu."}])",
            "", R"("containers":[{"name":"main"}])"},
           "Starting",
           "Unschedulable",
           "0/3 nodes: 3 Insufficient cpu.",
           "the scheduler's words"},
          {{R"("phase":"Pending","conditions":[{"type":"PodScheduled","status":"False",)"
            R"("reason":"SchedulingGated"}])",
            "", R"("containers":[{"name":"main"}])"},
           "Starting",
           "SchedulingGated",
           "",
           "a gate holds it"},
          {{Status("Pending", Waits("main", "ContainerCreating"))},
           "Starting",
           "ContainerCreating",
           "",
           "what every container does"},
          {{Status("Pending", Waits("main", "PodInitializing"), Runs("init"))},
           "Starting",
           "Initializing",
           "init container `init` runs",
           "an init container works"},
          {{Status("Pending", Waits("main", "ImagePullBackOff", "Back-off pulling image"))},
           "Starting",
           "ImagePullBackOff",
           "container `main`: Back-off pulling image",
           "no image"},
          {{Status("Pending", Waits("main", "ErrImagePull", "not found"))},
           "Starting",
           "ErrImagePull",
           "container `main`: not found",
           "no image"},
          {{Status("Pending", Waits("main", "CreateContainerConfigError", "secret missing"))},
           "Starting",
           "CreateContainerConfigError",
           "container `main`: secret missing",
           "a Secret is missing"},
          {{Status("Pending", Waits("main", "PodInitializing"),
                   R"({"name":"init","state":{"waiting":{"reason":"CrashLoopBackOff"}},)"
                   R"("lastState":{"terminated":{"exitCode":4,"reason":"Error"}}})")},
           "Starting",
           "CrashLoopBackOff",
           "container `init`; it last ended with exit code 4",
           "an init container fails again and again"},
          {{R"("phase":"Pending","reason":"Preempting","message":"makes room")"},
           "Starting",
           "Preempting",
           "makes room",
           "the node's words"},
      },
      {});
}

TEST(PodOutcome, SaysHowAPodRuns) {
  ExpectRows(
      {
          {{Status("Running", Runs("main"))}, "Running", "", "", "all is well"},
          {{Status("Running",
                   R"({"name":"main","restartCount":3,"state":{"waiting":{"reason":)"
                   R"("CrashLoopBackOff","message":"back-off 40s"}},"lastState":{"terminated":)"
                   R"({"exitCode":137,"reason":"OOMKilled"}}})")},
           "Running",
           "CrashLoopBackOff",
           "container `main`: back-off 40s; it last was killed: it used more memory than its "
           "limit allows",
           "restartPolicy OnFailure"},
          {{Status("Running", Ended("main", 0) + "," + Runs("other"))},
           "Running",
           "WaitingForSidecar",
           "container `main` ended with exit code 0; `other` still runs",
           "a second container"},
          {{Status("Running", Ended("main", 0) + "," + Ended("other", 0), Runs("side"))},
           "Running",
           "WaitingForSidecar",
           "container `main` ended with exit code 0; `side` still runs",
           "a sidecar is stopped"},
          {{Status("Running", Runs("main"), "",
                   R"(,"reason":"NodeLost","message":"node n1 is unresponsive")")},
           "Running",
           "NodeLost",
           "node n1 is unresponsive",
           "never a reason to end it"},
          {{R"("phase":"Unknown","reason":"NodeLost","message":"node n1 is unresponsive")"},
           "Unknown",
           "NodeLost",
           "node n1 is unresponsive",
           "what servers before 1.22 said"},
          {{Status("Running", Runs("main")), kDeleting},
           "Killing",
           "PodDeleted",
           "the Pod is being deleted; its containers have until 2026-11-20T10:01:00Z to end",
           "somebody deleted it"},
          {{Status("Running", Runs("main"), "", Disruption("PreemptionByScheduler", "for p2")),
            kDeleting},
           "Killing",
           "PreemptionByScheduler",
           "the Pod is being deleted (for p2); its containers have until 2026-11-20T10:01:00Z to "
           "end",
           "it has to make room"},
      },
      {});
}

TEST(PodOutcome, SaysHowAPodEnded) {
  const std::string oom = Ended("main", 137, "10:00:20", R"(,"reason":"OOMKilled")");
  ExpectRows(
      {
          {{Status("Succeeded", Ended("main", 0))}, "Succeeded", "", "", "it did its work"},
          {{Status("Succeeded",
                   R"({"name":"main","state":{"terminated":{"exitCode":0}},"restartCount":1,)"
                   R"("lastState":{"terminated":{"exitCode":137,"reason":"OOMKilled"}}})")},
           "Succeeded",
           "",
           "",
           "what an earlier run came to does not count (Furiko's D17)"},
          {{Status("Failed", Ended("main", 3, "10:00:20", R"(,"reason":"Error")"))},
           "Failed",
           "ExitCode",
           "container `main` ended with exit code 3",
           "its own exit code"},
          {{Status("Failed", Ended("main", 3, "10:00:20", R"(,"message":"no such table")"))},
           "Failed",
           "ExitCode",
           "container `main` ended with exit code 3: no such table",
           "its last words"},
          {{Status("Failed", Ended("main", 137) + "," + Ended("other", 5, "10:00:15"))},
           "Failed",
           "ExitCode",
           "container `other` ended with exit code 5",
           "it failed first"},
          {{Status("Failed", oom)},
           "Failed",
           "OOMKilled",
           "container `main` was killed: it used more memory than its limit allows",
           "memory"},
          {{Status("Failed", Ended("main", 0, "10:00:20", R"(,"signal":11)"))},
           "Failed",
           "Signalled",
           "container `main` was ended by signal 11",
           "a signal"},
          {{Status("Failed", Ended("main", 128, "10:00:20", R"(,"reason":"StartError")"))},
           "Failed",
           "StartError",
           "container `main` ended with exit code 128 (StartError)",
           "the runtime's words"},
          {{Status("Failed", Waits("main", "PodInitializing"), Ended("init", 2))},
           "Failed",
           "ExitCode",
           "init container `init` ended with exit code 2",
           "before main"},
      },
      {});
}

TEST(PodOutcome, SaysWhatElseEndedAPod) {
  ExpectRows(
      {
          {{R"("phase":"Failed","reason":"Evicted","message":"low on memory")"},
           "Failed",
           "Evicted",
           "low on memory",
           "the node evicted it"},
          {{Status("Failed", Ended("main", 143), "",
                   R"(,"reason":"DeadlineExceeded","message":"active too long")")},
           "Failed",
           "DeadlineExceeded",
           "active too long",
           "activeDeadlineSeconds"},
          {{Status("Failed", Ended("main", 137), "", Disruption("DeletionByPodGC", "node gone"))},
           "Failed",
           "DeletionByPodGC",
           "node gone",
           "its node is gone"},
          {{R"("phase":"Failed")"},
           "Failed",
           "PodFailed",
           "the Pod failed, and nothing says why",
           "nothing is said"},
          {{R"("phase":"Failed","reason":"not a reason","message":"m")"},
           "Failed",
           "PodFailed",
           "m",
           "reasons are CamelCase"},
      },
      {});
}

TEST(PodOutcome, SaysHowADeletedPodEnded) {
  const std::string cut = Ended("main", 143, "10:00:40");
  ExpectRows(
      {
          {{Status("Failed", cut), kDeleting},
           "Failed",
           "PodDeleted",
           "somebody deleted the Pod; container `main` ended with exit code 143",
           "deleted at 10:00:30, ended at 10:00:40"},
          {{Status("Failed", Ended("main", 3)), kDeleting},
           "Failed",
           "ExitCode",
           "container `main` ended with exit code 3",
           "it had ended by itself before"},
          {{Status("Succeeded", Ended("main", 0, "10:00:40")), kDeleting},
           "Succeeded",
           "",
           "",
           "it finished within its grace"},
          {{R"("phase":"Pending")", kGone, R"("containers":[{"name":"main"}])"},
           "Failed",
           "PodDeleted",
           "somebody deleted the Pod; it had no node yet",
           "no node will take it up"},
          {{R"("phase":"Pending")", kDeleting, R"("containers":[{"name":"main"}])"},
           "Failed",
           "PodDeleted",
           "somebody deleted the Pod; it had no node yet",
           "likewise"},
          {{Status("Running", Runs("main")), kGone},
           "Failed",
           "PodDeleted",
           "somebody deleted the Pod; nobody confirmed the end of its containers: they may still "
           "be running",
           "kubectl delete --force"},
      },
      {});
}

TEST(PodOutcome, SaysHowAPodEndedThatWasDeletedForAReason) {
  const std::string cut = Ended("main", 143, "10:00:40");
  ExpectRows(
      {
          {{Status("Running",
                   Ended("main", 143, "10:00:40") + "," + Ended("other", 143, "10:00:40"),
                   Ended("init", 0) + "," + Ended("side", 0)),
            kDeleting},
           "Failed",
           "PodDeleted",
           "somebody deleted the Pod; container `main` ended with exit code 143",
           "the node has said of all that they ended"},
          {{Status("Running", Ended("main", 0, "10:00:40") + "," + Ended("other", 0, "10:00:40"),
                   Ended("init", 0) + "," + Ended("side", 0)),
            kDeleting},
           "Succeeded",
           "",
           "",
           "the node has only not said yet that it succeeded"},
          {{Status("Failed", cut, "", Disruption("EvictionByEvictionAPI", "drain")), kDeleting},
           "Failed",
           "EvictionByEvictionAPI",
           "drain; container `main` ended with exit code 143",
           "its node was drained"},
          {{Status("Running", Runs("main"), "", Disruption("DeletionByTaintManager", "no node")),
            kGone},
           "Failed",
           "DeletionByTaintManager",
           "no node; nobody confirmed the end of its containers: they may still be running",
           "its node was lost"},
          {{R"("phase":"Failed","reason":"Evicted","message":"low on disk")", kGone},
           "Failed",
           "Evicted",
           "low on disk",
           "somebody tidied up behind the node"},
          {{Status("Pending", Waits("main", "ContainerCreating")), kGone},
           "Failed",
           "PodDeleted",
           "somebody deleted the Pod; none of its main containers ran",
           "deleted before it began"},
      },
      {});
}

TEST(PodOutcome, SaysThatItWasKilledWhereThatWasAskedFor) {
  ExpectRows(
      {
          {{Status("Running", Runs("main"))},
           "Running",
           "",
           "",
           "asked for, but the server has not said so yet"},
          {{Status("Running", Runs("main"), "", Disruption("EvictionByEvictionAPI", "d")),
            kDeleting},
           "Killing",
           "UserRequested",
           "the Pod is being deleted; its containers have until 2026-11-20T10:01:00Z to end",
           "our wish is the reason"},
          {{Status("Failed", Ended("main", 143, "10:00:40")), kDeleting},
           "Killed",
           "UserRequested",
           "container `main` ended with exit code 143",
           "by our wish"},
          {{Status("Succeeded", Ended("main", 0, "10:00:40")), kDeleting},
           "Killed",
           "UserRequested",
           "container `main` ended with exit code 0",
           "it obeyed, however it did"},
          {{Status("Succeeded", Ended("main", 0, "10:00:29")), kDeleting},
           "Succeeded",
           "",
           "",
           "it had ended by itself before"},
          {{Status("Succeeded", Ended("main", 0, "10:00:30")), kDeleting},
           "Killed",
           "UserRequested",
           "container `main` ended with exit code 0",
           "in the same second nobody can tell"},
          {{Status("Failed", Ended("main", 3))},
           "Failed",
           "ExitCode",
           "container `main` ended with exit code 3",
           "not deleted at all"},
          {{R"("phase":"Pending")", kGone, R"("containers":[{"name":"main"}])"},
           "Killed",
           "UserRequested",
           "it had no node yet",
           "before it began"},
          {{Status("Running", Runs("main")), kGone},
           "Killed",
           "UserRequested",
           "nobody confirmed the end of its containers: they may still be running",
           "by force"},
      },
      {true, "UserRequested"});
}

TEST(PodOutcome, TakesTimesAndExitCodeFromWhereTheyBelong) {
  const auto at = [](const char* time) {
    return *ParseTime(std::string("2026-11-20T") + time + "Z");
  };
  const auto run = Describe(PodOf({Status("Running", Runs("main"), Ended("init", 0))}), {});
  EXPECT_EQ(run.created_ns, at("10:00:00"));
  EXPECT_EQ(run.running_ns, at("10:00:05")) << "init containers do not count";
  EXPECT_EQ(run.flags & DETENT_TASK_EXITED, 0u);

  const auto pending = Describe(PodOf({Status("Pending", Waits("main", "x"), Runs("init"))}), {});
  EXPECT_EQ(pending.running_ns, 0);

  const auto good =
      Describe(PodOf({Status("Succeeded", Ended("main", 0) + "," + Ended("other", 0, "10:00:30"),
                             Ended("side", 0, "10:00:50"))}),
               {});
  EXPECT_EQ(good.finished_ns, at("10:00:30")) << "sidecars do not count";
  EXPECT_NE(good.flags & DETENT_TASK_EXITED, 0u);
  EXPECT_EQ(good.exit_code, 0);

  const auto bad = Describe(PodOf({Status("Failed", Ended("main", 137))}), {});
  EXPECT_EQ(bad.exit_code, 137);
  EXPECT_EQ(bad.signal, 0) << "the runtime named none";

  const auto signal =
      Describe(PodOf({Status("Failed", Ended("main", 0, "10:00:20", R"(,"signal":11)"))}), {});
  EXPECT_EQ(signal.exit_code, -1);
  EXPECT_EQ(signal.signal, 11);

  const auto deadline = Describe(
      PodOf({R"("phase":"Failed","reason":"DeadlineExceeded","startTime":"2026-11-20T10:00:00Z")",
             "", R"("nodeName":"n","activeDeadlineSeconds":60,"containers":[{"name":"main"}])"}),
      {});
  EXPECT_EQ(deadline.finished_ns, at("10:01:00"));

  const auto unplaced =
      Describe(PodOf({R"("phase":"Pending")", kGone, R"("containers":[{"name":"main"}])"}), {});
  EXPECT_EQ(unplaced.finished_ns, at("10:00:30"));
  EXPECT_NE(unplaced.flags & DETENT_TASK_RERUN_SAFE, 0u) << "nothing of it ever ran";
}

TEST(PodOutcome, ShowsEachContainerInItsDetails) {
  const auto status = Describe(
      PodOf({Status("Failed", Ended("main", 3, "10:00:20", R"(,"reason":"Error")"),
                    Ended("init", 0, "10:00:04") + "," + Runs("side"), R"(,"podIP":"10.0.0.1")")}),
      {});
  EXPECT_EQ(status.extra,
            R"({"phase":"Failed","node":"n1","podIP":"10.0.0.1","containers":[)"
            R"({"name":"init","kind":"init","state":"terminated","exitCode":0},)"
            R"({"name":"side","kind":"sidecar","state":"running"},)"
            R"({"name":"main","kind":"main","state":"terminated","exitCode":3,"reason":"Error"},)"
            R"({"name":"other","kind":"main","state":"unknown"}]})");
}

TEST(PodOutcome, KeepsWithinTheLimitsOfAStatus) {
  const std::string longest(5000, 'x');
  std::string spec = R"("nodeName":"n","containers":[)";
  for (int i = 0; i < 200; ++i) {
    spec += std::string(i == 0 ? "" : ",") + R"({"name":"container-)" + std::to_string(i) + "\"}";
  }
  const auto status =
      Describe(PodOf({R"("phase":"Failed","reason":"Evicted","message":")" + longest + "\"", "",
                      spec + "]"}),
               {});
  EXPECT_LE(status.message.size(), 1024u);
  EXPECT_LE(status.extra.size(), kDetailsMost);
  EXPECT_NE(status.extra.find("containersOmitted"), std::string::npos);
  EXPECT_TRUE(ParseJson(status.extra));
  EXPECT_EQ(Front("\xC3\xA9\xC3\xA9", 3), "\xC3\xA9") << "not in the middle of a character";
  EXPECT_EQ(ReasonOr(std::string(65, 'A'), "F"), "F");
  EXPECT_EQ(ReasonOr("9Lives", "F"), "F");
}

TEST(PodOutcome, NeverLosesATaskWithoutAWord) {
  sdk::TaskStatus last;
  last.phase = DETENT_PHASE_RUNNING;
  last.running_ns = 5;
  const auto failed = DescribeGone(last, {});
  EXPECT_STREQ(NameOf(failed), "Failed");
  EXPECT_EQ(failed.reason, "PodDeleted");
  EXPECT_EQ(failed.running_ns, 5);
  EXPECT_STREQ(NameOf(DescribeGone(last, {true, "JobDeleted"})), "Killed");
  EXPECT_EQ(DescribeGone(last, {true, "JobDeleted"}).reason, "JobDeleted");
  EXPECT_STREQ(NameOf(DescribeNeverMade({true, ""})), "Killed");
  EXPECT_EQ(DescribeNeverMade({true, ""}).reason, "Killed");
}

}  // namespace
}  // namespace detent::pod
