#include "core/kube/resource.h"

#include <gtest/gtest.h>

namespace detent {
namespace {

TEST(KubeResource, IsReadAndWrittenInEachForm) {
  const struct {
    const char* text;
    KubeResource resource;
    const char* path;
  } rows[] = {
      {"v1/pods", {"", "v1", "pods", ""}, "/api/v1/namespaces/ns/pods/name"},
      {"v1/pods/status", {"", "v1", "pods", "status"}, "/api/v1/namespaces/ns/pods/name/status"},
      {"v2beta1/things", {"", "v2beta1", "things", ""}, "/api/v2beta1/namespaces/ns/things/name"},
      {"apps/v1/deployments",
       {"apps", "v1", "deployments", ""},
       "/apis/apps/v1/namespaces/ns/deployments/name"},
      {"argoproj.io/v1alpha1/workflows/status",
       {"argoproj.io", "v1alpha1", "workflows", "status"},
       "/apis/argoproj.io/v1alpha1/namespaces/ns/workflows/name/status"},
      {"vendor/one/things",
       {"vendor", "one", "things", ""},
       "/apis/vendor/one/namespaces/ns/things/name"},
  };
  for (const auto& row : rows) {
    const auto resource = ParseKubeResource(row.text);
    ASSERT_TRUE(resource) << resource.error().message();
    EXPECT_EQ(*resource, row.resource) << row.text;
    EXPECT_EQ(ToString(*resource), row.text);
    EXPECT_EQ(PathOf(*resource, "ns", "name"), row.path);
  }
}

TEST(KubeResource, SaysWhatIsWrongWithAText) {
  const struct {
    const char* text;
    const char* because;
  } rows[] = {
      {"", "nothing at all"},
      {"pods", "no version"},
      {"v1", "no plural"},
      {"apps/v1", "a group and no plural"},
      {"v1/pods/status/deep", "more than a subresource"},
      {"apps/v1/deployments/scale/deep", "the same with a group"},
      {"/v1/pods", "begins with a slash"},
      {"v1/pods/", "ends with one"},
      {"v1//pods", "an empty part"},
      {"v1/Pods", "the kind, not the plural"},
      {"Apps/v1/deployments", "upper case"},
      {"v1/po ds", "a space"},
      {"a..b/v1/pods", "no DNS name"},
  };
  for (const auto& row : rows) {
    const auto resource = ParseKubeResource(row.text);
    ASSERT_FALSE(resource) << row.because;
    EXPECT_EQ(resource.error().code(), Code::kInvalid);
    EXPECT_NE(resource.error().message().find("'" + std::string(row.text) + "'"), std::string::npos)
        << resource.error().message();
  }
}

TEST(KubeResource, LeavesOutOfAPathWhatIsNotGiven) {
  const KubeResource pods{"", "v1", "pods", "status"};
  EXPECT_EQ(PathOf(pods, "", ""), "/api/v1/pods") << "a collection has no subresource";
  EXPECT_EQ(PathOf(pods, "ns", ""), "/api/v1/namespaces/ns/pods");
  EXPECT_EQ(PathOf({"", "v1", "nodes", ""}, "", "n1"), "/api/v1/nodes/n1");
  EXPECT_EQ(PathOf({"rbac.authorization.k8s.io", "v1", "clusterroles", ""}, "", "system:x/y?"),
            "/apis/rbac.authorization.k8s.io/v1/clusterroles/system%3Ax%2Fy%3F");
}

TEST(KubeResource, EncodesTheValuesOfAQuery) {
  EXPECT_EQ(QueryPart("labelSelector", "a=b,c in (d)"), "labelSelector=a%3Db%2Cc%20in%20%28d%29");
  EXPECT_EQ(QueryPart("x", "aZ09-._~\xC3\xA4"), "x=aZ09-._~%C3%A4");
}

}  // namespace
}  // namespace detent
