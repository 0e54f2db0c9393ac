// Furiko's kinds beside ours: only where they are asked for, and where no Furiko is.

#include <gtest/gtest.h>

#include "core/api/furiko.h"
#include "core/install/furiko_signs.h"
#include "core/install/installer.h"
#include "tests/install/fake_cluster.h"

namespace detent {
namespace {

using testing::FakeCluster;

constexpr const char* kFurikoJobsCrd =
    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/jobs.execution.furiko.io";

InstallOptions WithFuriko(bool furiko_group = true) {
  InstallOptions options;
  options.version = "1.2.3";
  options.furiko_group = furiko_group;
  return options;
}

// What it says went wrong; empty: nothing.
std::string Apply(FakeCluster& cluster, const InstallOptions& options = WithFuriko()) {
  const auto done = Installer(cluster.Port(), options, [](const std::string&) {}).Run();
  return done ? "" : done.error().message();
}

TEST(FurikoGroup, IsInstalledWhereItIsAskedForAndLeftAloneElse) {
  FakeCluster cluster;
  EXPECT_EQ(Apply(cluster), "");
  ASSERT_TRUE(cluster.objects.contains(kFurikoJobsCrd));
  const Json before = cluster.objects[kFurikoJobsCrd];
  EXPECT_EQ(*before.At("/metadata/annotations/detent.dev~1version"), Json("1.2.3"));
  cluster.applied.clear();
  EXPECT_EQ(Apply(cluster, WithFuriko(false)), "");
  EXPECT_EQ(cluster.objects[kFurikoJobsCrd], before);
  for (const KubeRequest& request : cluster.applied) {
    EXPECT_EQ(request.path.find("furiko"), std::string::npos) << request.path;
  }
  EXPECT_EQ(Apply(cluster), "") << "what is there is ours";
}

TEST(FurikoGroup, IsRefusedWhereTheDefinitionsAreNotOurs) {
  FakeCluster cluster;
  cluster.objects[kFurikoJobsCrd] =
      Json::Object{{"metadata", Json::Object{{"name", "jobs.execution.furiko.io"}}}};
  EXPECT_EQ(Apply(cluster),
            "a Furiko is installed in this cluster: customresourcedefinition "
            "jobs.execution.furiko.io is not one that Detent has put there; it and Detent would "
            "both run its Jobs, so remove it first, or install without --with-furiko-group");
  EXPECT_EQ(cluster.applied.size(), 0u);
  EXPECT_EQ(Apply(cluster, WithFuriko(false)), "");
}

TEST(FurikoGroup, IsRefusedWhereItsDeploymentOrAWebhookIs) {
  FakeCluster cluster;
  cluster.objects["/apis/apps/v1/namespaces/furiko-system/deployments/execution-controller"] =
      Json(Json::Object{});
  const Json rule(Json::Object{{"apiGroups", Json::Array{kFurikoGroup}}});
  const Json webhook(Json::Object{{"rules", Json::Array{rule}}});
  const Json item(
      Json::Object{{"metadata", Json::Object{{"name", "w"}}}, {"webhooks", Json::Array{webhook}}});
  const Json other(Json::Object{{"metadata", Json::Object{{"name", "other"}}}});
  cluster.objects["/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"] =
      Json::Object{{"items", Json::Array{other, item}}};
  const std::string error = Apply(cluster);
  EXPECT_NE(error.find("validatingwebhookconfigurations 'w' ask about its objects and deployment "
                       "furiko-system/execution-controller is there;"),
            std::string::npos)
      << error;
  EXPECT_EQ(cluster.applied.size(), 0u);
}

TEST(FurikoGroup, AsksForTheRightsThatLookingTakes) {
  FakeCluster cluster;
  cluster.denied_to_us = {"list mutatingwebhookconfigurations.admissionregistration.k8s.io"};
  EXPECT_NE(Apply(cluster).find("you may not list mutatingwebhookconfigurations"),
            std::string::npos);
  EXPECT_EQ(Apply(cluster, WithFuriko(false)), "");
}

TEST(FurikoGroup, TheHostIsAskedForItsRightsThere) {
  FakeCluster cluster;
  cluster.denied_to_host = {"patch jobs.execution.furiko.io/status"};
  EXPECT_NE(Apply(cluster).find("may not patch jobs.execution.furiko.io/status"),
            std::string::npos);
}

}  // namespace
}  // namespace detent
