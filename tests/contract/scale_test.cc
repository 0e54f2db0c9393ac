// The Scale of a JobConfig, as whoever speaks autoscaling/v1 expects it.

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "tests/contract/contract_server.h"

namespace detent::testing {
namespace {

constexpr const char* kMergeScale = "application/merge-patch+json";

// Makes a JobConfig with this concurrency, and returns its name.
std::string MadeWith(const std::string& concurrency) {
  const std::string name = FreshName("scale");
  std::string text = JobConfigText(name);
  const std::string allow = R"({"policy":"Allow"})";
  text.replace(text.find(allow), allow.size(), concurrency);
  const HttpAnswer made = Do("POST", PathOf("jobconfigs"), text);
  EXPECT_EQ(made.status, 201) << made.body << made.error;
  return name;
}

std::string ScalePath(const std::string& name) {
  return PathOf("jobconfigs", name) + "/scale";
}

std::string LimitIn(const std::string& name) {
  return Do("GET", PathOf("jobconfigs", name)).Text("/spec/concurrency/maxConcurrency");
}

constexpr const char* kThree = R"({"policy":"Forbid","maxConcurrency":3})";

TEST(Scale, SaysWhoseItIsWhatIsWantedAndWhatIsSo) {
  const std::string name = MadeWith(kThree);
  const HttpAnswer status = Do("PATCH", PathOf("jobconfigs", name) + "/status",
                               R"({"status":{"active":2}})", kMergeScale);
  EXPECT_EQ(status.status, 200) << status.body;
  const HttpAnswer scale = Do("GET", ScalePath(name));
  ASSERT_EQ(scale.status, 200) << scale.body;
  EXPECT_EQ(scale.Text("/apiVersion"), "autoscaling/v1");
  EXPECT_EQ(scale.Text("/kind"), "Scale");
  EXPECT_EQ(scale.Text("/spec/replicas"), "3");
  EXPECT_EQ(scale.Text("/status/replicas"), "2");
  EXPECT_EQ(scale.Text("/status/selector"), "");
  const HttpAnswer config = Do("GET", PathOf("jobconfigs", name));
  for (const std::string field :
       {"name", "namespace", "uid", "resourceVersion", "creationTimestamp"}) {
    EXPECT_NE(scale.Text("/metadata/" + field), "") << field;
    EXPECT_EQ(scale.Text("/metadata/" + field), config.Text("/metadata/" + field));
  }
}

TEST(Scale, IsWrittenByEachKindOfWrite) {
  const std::string name = MadeWith(kThree);
  const HttpAnswer merged = Do("PATCH", ScalePath(name), R"({"spec":{"replicas":4}})", kMergeScale);
  EXPECT_EQ(merged.status, 200) << merged.body;
  EXPECT_EQ(merged.Text("/kind"), "Scale");
  EXPECT_EQ(merged.Text("/spec/replicas"), "4");
  EXPECT_EQ(LimitIn(name), "4");
  const HttpAnswer edited =
      Do("PATCH", ScalePath(name), R"([{"op":"replace","path":"/spec/replicas","value":5}])",
         "application/json-patch+json");
  EXPECT_EQ(edited.status, 200) << edited.body;
  EXPECT_EQ(LimitIn(name), "5");
  Json scale = Do("GET", ScalePath(name)).json();
  scale.Find("spec")->Set("replicas", 6);
  const HttpAnswer replaced = Do("PUT", ScalePath(name), DumpJson(scale));
  EXPECT_EQ(replaced.status, 200) << replaced.body;
  EXPECT_EQ(replaced.Text("/spec/replicas"), "6");
  EXPECT_EQ(LimitIn(name), "6");
  EXPECT_EQ(Do("GET", PathOf("jobconfigs", name)).Text("/metadata/generation"), "4");
}

TEST(Scale, OfAnOlderVersionOrAnotherObjectIsAConflict) {
  const std::string name = MadeWith(kThree);
  Json scale = Do("GET", ScalePath(name)).json();
  EXPECT_EQ(Do("PATCH", ScalePath(name), R"({"spec":{"replicas":4}})", kMergeScale).status, 200);
  const HttpAnswer stale = Do("PUT", ScalePath(name), DumpJson(scale));
  EXPECT_EQ(stale.status, 409) << stale.body;
  EXPECT_EQ(stale.Text("/reason"), "Conflict");
  scale.Find("metadata")->Remove("resourceVersion");
  scale.Find("metadata")->Set("uid", "somebody-else");
  const HttpAnswer other = Do("PUT", ScalePath(name), DumpJson(scale));
  EXPECT_EQ(other.status, 409) << other.body;
  scale.Find("metadata")->Remove("uid");
  EXPECT_EQ(Do("PUT", ScalePath(name), DumpJson(scale)).status, 200) << "without either: no matter";
  EXPECT_EQ(LimitIn(name), "3");
}

TEST(Scale, OfADryRunStoresNothing) {
  const std::string name = MadeWith(kThree);
  const HttpAnswer dry =
      Do("PATCH", ScalePath(name) + "?dryRun=All", R"({"spec":{"replicas":9}})", kMergeScale);
  EXPECT_EQ(dry.status, 200) << dry.body;
  EXPECT_EQ(dry.Text("/spec/replicas"), "9");
  EXPECT_EQ(LimitIn(name), "3");
}

TEST(Scale, IsRefusedWithTheFieldThatItWouldSet) {
  const std::string limited = MadeWith(kThree);
  const std::string unlimited = MadeWith(R"({"policy":"Allow"})");
  struct Row {
    std::string name;
    const char* patch;
    const char* because;
  };
  const Row rows[] = {{limited, R"({"spec":{"replicas":0}})", "under 1"},
                      {unlimited, R"({"spec":{"replicas":2}})", "no limit with policy Allow"}};
  for (const Row& row : rows) {
    const HttpAnswer refused = Do("PATCH", ScalePath(row.name), row.patch, kMergeScale);
    EXPECT_EQ(refused.status, 422) << row.because << refused.body;
    EXPECT_EQ(refused.Text("/reason"), "Invalid") << row.because;
    EXPECT_NE(refused.Text("/message").find("spec.concurrency"), std::string::npos) << refused.body;
  }
  EXPECT_EQ(LimitIn(limited), "3");
  EXPECT_EQ(LimitIn(unlimited), "");
}

TEST(Scale, TakesNothingButAScale) {
  const std::string name = MadeWith(kThree);
  const HttpAnswer config = Do("GET", PathOf("jobconfigs", name));
  EXPECT_EQ(Do("PUT", ScalePath(name), config.body).status, 400);
  const HttpAnswer older =
      Do("PUT", ScalePath(name),
         R"({"apiVersion":"autoscaling/v9","kind":"Scale","spec":{"replicas":1}})");
  EXPECT_EQ(older.status, 400) << older.body;
  const HttpAnswer text =
      Do("PATCH", ScalePath(name), R"({"spec":{"replicas":"four"}})", kMergeScale);
  EXPECT_TRUE(text.status == 400 || text.status == 422) << text.body;
  EXPECT_EQ(LimitIn(name), "3");
}

TEST(Scale, IsOfJobConfigsAloneAndOnlyWhereThereIsOne) {
  EXPECT_EQ(Do("GET", ScalePath("nobody")).Text("/reason"), "NotFound");
  const std::string name = FreshName("scale");
  ASSERT_EQ(Do("POST", PathOf("jobs"), JobText(name)).status, 201);
  EXPECT_EQ(Do("GET", PathOf("jobs", name) + "/scale").status, 404);
  const std::string config = MadeWith(kThree);
  EXPECT_EQ(Do("DELETE", ScalePath(config)).status, 405);
  EXPECT_EQ(Do("GET", ScalePath(config) + "?watch=true").Text("/kind"), "Scale");
}

TEST(Scale, StandsInBothFormsOfDiscovery) {
  const Json list = Do("GET", "/apis/" + ContractGroup() + "/v1alpha1").json();
  const Json* found = nullptr;
  for (const Json& resource : list.Find("resources")->as_array()) {
    if (*resource.Find("name") == Json("jobconfigs/scale")) found = &resource;
  }
  ASSERT_NE(found, nullptr);
  for (const auto& [member, text] :
       {std::pair("group", R"("autoscaling")"), std::pair("version", R"("v1")"),
        std::pair("kind", R"("Scale")"), std::pair("verbs", R"(["get","patch","update"])")}) {
    const Json* value = found->Find(member);
    EXPECT_EQ(value == nullptr ? "" : DumpJson(*value), text) << member;
  }
  const HttpAnswer all = GetAs("/apis",
                               "application/json;g=apidiscovery.k8s.io;v=v2;"
                               "as=APIGroupDiscoveryList,application/json");
  EXPECT_NE(all.body.find(R"({"subresource":"scale","responseKind":{"group":"autoscaling",)"
                          R"("version":"v1","kind":"Scale"},)"),
            std::string::npos)
      << all.body;
}

}  // namespace
}  // namespace detent::testing
