#include "core/install/installer.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/install/fake_cluster.h"

namespace detent {
namespace {

using testing::FakeCluster;

constexpr const char* kJobsCrd =
    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/jobs.execution.detent.dev";

struct Outcome {
  std::string error;  // Empty: it went well.
  Code code = Code::kInternal;
  std::vector<std::string> lines;

  size_t Count(const std::string& word) const {
    return static_cast<size_t>(
        std::count_if(lines.begin(), lines.end(),
                      [&](const std::string& line) { return line.find(word) != line.npos; }));
  }
};

InstallOptions Options() {
  InstallOptions options;
  options.version = "1.2.3";
  options.executors = {{"pod", {{"", {"pods"}, {"get", "list"}}, {"", {"pods/log"}, {"get"}}}}};
  return options;
}

Outcome Install(FakeCluster& cluster, const InstallOptions& options = Options()) {
  Outcome outcome;
  const auto tell = [&](const std::string& line) { outcome.lines.push_back(line); };
  const auto done = Installer(cluster.Port(), options, tell).Run();
  if (done) return outcome;
  outcome.error = done.error().message();
  outcome.code = done.error().code();
  return outcome;
}

TEST(Installer, CreatesEverythingOnceAndThenChangesNothing) {
  FakeCluster cluster;
  const size_t all = ObjectsOf(Options()).size();
  const Outcome first = Install(cluster);
  EXPECT_EQ(first.error, "");
  EXPECT_EQ(first.lines.size(), all);
  EXPECT_EQ(first.Count(" created"), all);
  EXPECT_EQ(first.lines[0], "namespace/detent created");
  EXPECT_EQ(first.lines[2],
            "customresourcedefinition.apiextensions.k8s.io/jobs.execution.detent.dev created");
  const Outcome second = Install(cluster);
  EXPECT_EQ(second.error, "");
  EXPECT_EQ(second.Count(" unchanged"), all);
}

TEST(Installer, AppliesAsItsOwnFieldManagerAndForcesNothing) {
  FakeCluster cluster;
  Install(cluster);
  for (const KubeRequest& request : cluster.applied) {
    EXPECT_EQ(request.method, "PATCH");
    EXPECT_EQ(request.content_type, "application/apply-patch+yaml");
    EXPECT_NE(request.path.find("?fieldManager=detent&fieldValidation=Strict"), std::string::npos);
    EXPECT_EQ(request.path.find("force"), std::string::npos);
  }
}

TEST(Installer, BringsOlderKindsUpToDate) {
  FakeCluster cluster;
  Install(cluster);
  InstallOptions newer = Options();
  newer.version = "1.10.0";
  const Outcome outcome = Install(cluster, newer);
  EXPECT_EQ(outcome.error, "");
  EXPECT_EQ(outcome.Count(" configured"), 3u);
  EXPECT_EQ(*cluster.objects[kJobsCrd].At("/metadata/annotations/detent.dev~1version"),
            Json("1.10.0"));
}

TEST(Installer, RefusesNewerKindsBeforeItChangesAnything) {
  FakeCluster cluster;
  InstallOptions newer = Options();
  newer.version = "1.10.0";
  Install(cluster, newer);
  cluster.applied.clear();
  const Outcome outcome = Install(cluster);
  EXPECT_EQ(outcome.error,
            "customresourcedefinition.apiextensions.k8s.io/jobconfigs.execution.detent.dev is of "
            "Detent 1.10.0, which is newer than this one (1.2.3), and may have fields that this "
            "one would drop; install with 1.10.0 or newer");
  EXPECT_EQ(outcome.code, Code::kConflict);
  EXPECT_EQ(cluster.applied.size(), 0u);
}

TEST(Installer, RefusesAVersionThatIsNone) {
  FakeCluster cluster;
  Install(cluster);
  cluster.objects[kJobsCrd].Find("metadata")->Find("annotations")->Set("detent.dev/version", "x");
  EXPECT_EQ(Install(cluster).error,
            "customresourcedefinition.apiextensions.k8s.io/jobs.execution.detent.dev has the "
            "annotation detent.dev/version: 'x', which is no version; correct it or remove it");
}

TEST(Installer, RefusesASecondHomeInOneCluster) {
  FakeCluster cluster;
  Install(cluster);
  InstallOptions other = Options();
  other.ns = "other";
  EXPECT_EQ(Install(cluster, other).error,
            "Detent is installed in namespace 'detent' "
            "(clusterrolebinding.rbac.authorization.k8s.io/detent), and a cluster has one; install "
            "with --namespace detent, or delete that one first");
}

TEST(Installer, NamesEachVerbAndResourceThatWeLack) {
  FakeCluster cluster;
  cluster.denied_to_us = {"patch customresourcedefinitions.apiextensions.k8s.io",
                          "create roles.rbac.authorization.k8s.io in namespace detent"};
  const Outcome outcome = Install(cluster);
  EXPECT_EQ(outcome.code, Code::kForbidden);
  const std::string rest =
      ", which an installation needs; ask for it, or have somebody install who has the cluster "
      "role cluster-admin";
  EXPECT_EQ(outcome.error, "you may not patch customresourcedefinitions.apiextensions.k8s.io" +
                               rest +
                               "\nyou may not create roles.rbac.authorization.k8s.io in namespace "
                               "detent" +
                               rest);
  EXPECT_EQ(cluster.applied.size(), 0u);
}

TEST(Installer, NamesEachVerbAndResourceThatTheHostLacks) {
  FakeCluster cluster;
  cluster.denied_to_host = {"list pods",
                            "patch leases.coordination.k8s.io 'detent' in namespace "
                            "detent"};
  const Outcome outcome = Install(cluster);
  EXPECT_EQ(outcome.code, Code::kForbidden);
  const std::string rest =
      ", which the host needs, although its roles are bound; look at the API server's "
      "--authorization-mode and its authorizers";
  EXPECT_EQ(outcome.error,
            "system:serviceaccount:detent:detent may not patch leases.coordination.k8s.io "
            "'detent' in namespace detent" +
                rest + "\nsystem:serviceaccount:detent:detent may not list pods" + rest);
  EXPECT_LE(cluster.passed, std::chrono::seconds(11)) << "caches need no longer";
}

constexpr const char* kClusterRoles = "/apis/rbac.authorization.k8s.io/v1/clusterroles/";

TEST(Installer, GivesEachExecutorARoleOfItsOwnAndAsksAboutThoseRights) {
  FakeCluster cluster;
  InstallOptions options = Options();
  options.executors.push_back(
      {"workflow", {{"argoproj.io", {"workflows", "workflows/status"}, {"get", "create"}}}});
  EXPECT_EQ(Install(cluster, options).error, "");
  const Json role = cluster.objects[std::string(kClusterRoles) + "detent-executor-workflow"];
  EXPECT_EQ(DumpJson(*role.Find("rules")),
            R"([{"apiGroups":["argoproj.io"],"resources":["workflows","workflows/status"],)"
            R"("verbs":["get","create"]}])");
  const std::string bindings = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/";
  const Json binding = cluster.objects[bindings + "detent-executor-workflow"];
  EXPECT_EQ(*binding.At("/roleRef/name"), Json("detent-executor-workflow"));
  EXPECT_EQ(DumpJson(*binding.Find("subjects")),
            R"([{"kind":"ServiceAccount","name":"detent","namespace":"detent"}])");
  std::vector<std::string> asked;
  for (const Json& review : cluster.reviews) {
    const Json& about = *review.At("/spec/resourceAttributes");
    if (*about.Find("group") != Json("argoproj.io")) continue;
    EXPECT_EQ(*review.At("/spec/user"), Json("system:serviceaccount:detent:detent"));
    const Json* under = about.Find("subresource");
    asked.push_back(about.Find("verb")->as_string() + (under != nullptr ? " status" : ""));
  }
  EXPECT_EQ(asked, (std::vector<std::string>{"get", "create", "get status", "create status"}));
  cluster.denied_to_host = {"create workflows.argoproj.io"};
  EXPECT_NE(Install(cluster, options)
                .error.find("may not create workflows.argoproj.io, which the "
                            "host needs"),
            std::string::npos);
}

TEST(Installer, GivesNoRoleToAnExecutorThatNeedsNothing) {
  FakeCluster cluster;
  InstallOptions options = Options();
  options.executors = {{"http", {}}};
  EXPECT_EQ(Install(cluster, options).Count("detent-executor-"), 0u);
}

TEST(Installer, LeavesTheRolesOfOtherExecutorsAsTheyAre) {
  FakeCluster cluster;
  Install(cluster);
  InstallOptions options = Options();
  options.executors.clear();
  cluster.applied.clear();
  const Outcome outcome = Install(cluster, options);
  EXPECT_EQ(outcome.error, "");
  EXPECT_EQ(outcome.Count("detent-executor-"), 0u);
  EXPECT_TRUE(cluster.objects.contains(std::string(kClusterRoles) + "detent-executor-pod"));
}

TEST(Installer, AsksForTheHostAsTheApiServerKnowsIt) {
  FakeCluster cluster;
  Install(cluster);
  const Json& last = cluster.reviews.back();
  EXPECT_EQ(*last.At("/spec/user"), Json("system:serviceaccount:detent:detent"));
  EXPECT_EQ(DumpJson(*last.At("/spec/groups")),
            R"(["system:serviceaccounts","system:serviceaccounts:detent","system:authenticated"])");
}

TEST(Installer, WaitsForWhatTheClusterDoesBehindIt) {
  FakeCluster cluster;
  cluster.pauses_until_established = 3;
  cluster.pauses_until_served = 5;
  cluster.pauses_until_allowed = 7;
  EXPECT_EQ(Install(cluster).error, "");
  EXPECT_EQ(cluster.pauses, 7);
}

TEST(Installer, SaysWhatHasNotComeInTime) {
  InstallOptions options = Options();
  options.timeout = std::chrono::seconds(2);
  FakeCluster slow;
  slow.pauses_until_established = 100'000;
  const Outcome outcome = Install(slow, options);
  EXPECT_EQ(outcome.error,
            "customresourcedefinition.apiextensions.k8s.io/jobconfigs.execution.detent.dev is not "
            "established, and the time to wait for it is over");
  EXPECT_EQ(outcome.code, Code::kDeadline);
  EXPECT_EQ(slow.passed, options.timeout);
  FakeCluster unserved;
  unserved.pauses_until_served = 100'000;
  EXPECT_EQ(Install(unserved, options).error,
            "jobconfigs of execution.detent.dev/v1alpha1 is not served, and the time to wait for "
            "it is over");
}

TEST(Installer, DoesNotWaitForNamesThatAreTaken) {
  FakeCluster cluster;
  cluster.name_conflict = "\"jc\" is already in use";
  EXPECT_EQ(Install(cluster).error,
            "wait for our kinds to be served: "
            "customresourcedefinition.apiextensions.k8s.io/jobconfigs.execution.detent.dev cannot "
            "be served: \"jc\" is already in use; delete the other definition that has the name");
  EXPECT_EQ(cluster.pauses, 0);
}

TEST(Installer, LeavesOthersFieldsAloneUnlessItIsTold) {
  FakeCluster cluster;
  cluster.others_fields = "conflict with \"kubectl\": .spec.versions";
  const Outcome outcome = Install(cluster);
  EXPECT_EQ(outcome.error,
            "apply namespace/detent: conflict with \"kubectl\": .spec.versions; --force-conflicts "
            "takes these fields over");
  InstallOptions options = Options();
  options.take_over = true;
  EXPECT_EQ(Install(cluster, options).error, "");
}

TEST(Installer, ADryRunChangesNothingAndSaysWhatWasNotChecked) {
  FakeCluster cluster;
  InstallOptions options = Options();
  options.dry_run = true;
  const Outcome fresh = Install(cluster, options);
  EXPECT_EQ(fresh.error, "");
  EXPECT_TRUE(cluster.objects.empty());
  EXPECT_EQ(fresh.lines[0], "namespace/detent created (dry run)");
  EXPECT_EQ(fresh.Count("the API server cannot check it before namespace detent is there"), 3u);
  Install(cluster);
  EXPECT_EQ(Install(cluster, options).Count(" unchanged (dry run)"), ObjectsOf(Options()).size());
}

TEST(Installer, NeedsAnApiServerThatChecksRules) {
  struct Row {
    const char* major;
    const char* minor;
    const char* error;
  };
  const Row rows[] = {
      {"1", "29+", ""},
      {"2", "0", ""},
      {"1", "28",
       "the API server is Kubernetes 1.28, and Detent needs 1.29 or newer, which check objects by "
       "rules"},
      {"", "", "the API server does not say which Kubernetes it is"},
  };
  for (const Row& row : rows) {
    FakeCluster cluster;
    cluster.major = row.major;
    cluster.minor = row.minor;
    EXPECT_EQ(Install(cluster).error, row.error);
  }
}

}  // namespace
}  // namespace detent
