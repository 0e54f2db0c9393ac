// The API server of the plugins' tests does with Pods what a real one does.

#include <gtest/gtest.h>

#include "tests/plugins/fake_kube_server.h"

namespace detent::testing {
namespace {

Json PodNamed(const std::string& name, const char* more = "") {
  return *ParseJson(R"({"metadata":{"name":")" + name + "\"" + more +
                    R"(},"spec":{"containers":[{"name":"c","image":"i"}]}})");
}

class FakeKubeServerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    server_.on_change = [this](const PodChange& change) { changes_ += Word(change.kind); };
  }
  static char Word(PodChange::Kind kind) {
    return kind == PodChange::Kind::kAdded ? 'A' : kind == PodChange::Kind::kModified ? 'M' : 'D';
  }
  std::string Grace(const std::string& name) {
    const Json* const grace = server_.Find(name)->At("/metadata/deletionGracePeriodSeconds");
    return grace == nullptr ? "none" : DumpJson(*grace);
  }
  uint32_t DeleteStatus(const std::string& name, const std::string& options) {
    return server_.Delete("default", name, options).status;
  }

  FakeKubeServer server_;
  std::string changes_;
};

TEST_F(FakeKubeServerTest, GivesANameOnceAndEachObjectAUidAndAVersion) {
  EXPECT_EQ(server_.Create("default", PodNamed("p")).status, 201u);
  const std::string uid = TextAt(*server_.Find("p"), "/metadata/uid");
  const std::string version = TextAt(*server_.Find("p"), "/metadata/resourceVersion");
  const KubeResponse again = server_.Create("default", PodNamed("p"));
  EXPECT_EQ(again.status, 409u);
  EXPECT_EQ(again.reason, "AlreadyExists");
  EXPECT_EQ(server_.Create("other", PodNamed("p")).status, 201u) << "in another namespace";
  server_.Schedule("p");
  EXPECT_EQ(TextAt(*server_.Find("p"), "/metadata/uid"), uid);
  EXPECT_NE(TextAt(*server_.Find("p"), "/metadata/resourceVersion"), version);
}

TEST_F(FakeKubeServerTest, RefusesByQuotaEvenWhatIsThereAlready) {
  server_.quota["default"] = 1;
  server_.Create("default", PodNamed("p"));
  EXPECT_EQ(server_.Create("default", PodNamed("p")).status, 403u) << "admission comes first";
  server_.End("p", 0);
  EXPECT_EQ(server_.Create("default", PodNamed("q")).status, 201u)
      << "what has ended is not counted";
}

TEST_F(FakeKubeServerTest, SaysWhatIsInvalid) {
  Json pod = PodNamed("p");
  pod.Find("spec")->Set("containers", Json(Json::Array{}));
  const KubeResponse refused = server_.Create("default", pod);
  EXPECT_EQ(refused.status, 422u);
  EXPECT_EQ(refused.message, "Pod \"p\" is invalid: spec.containers: Required value");
}

TEST_F(FakeKubeServerTest, DeletesAtOnceWhatHasNoNodeOrHasEnded) {
  server_.Create("default", PodNamed("p"));
  EXPECT_EQ(DeleteStatus("p", ""), 200u);
  EXPECT_EQ(server_.Find("p"), nullptr);
  server_.Create("default", PodNamed("q"));
  server_.Run("q");
  server_.End("q", 0);
  EXPECT_EQ(DeleteStatus("q", R"({"gracePeriodSeconds":60})"), 200u);
  EXPECT_EQ(server_.Find("q"), nullptr);
  EXPECT_EQ(DeleteStatus("q", ""), 404u);
}

TEST_F(FakeKubeServerTest, WaitsForTheNodeOfWhatRuns) {
  server_.Create("default", PodNamed("p"));
  server_.Run("p");
  DeleteStatus("p", "");
  EXPECT_EQ(Grace("p"), "30") << "the Pod's own";
  DeleteStatus("p", R"({"gracePeriodSeconds":60})");
  EXPECT_EQ(Grace("p"), "30") << "never longer";
  DeleteStatus("p", R"({"gracePeriodSeconds":5})");
  EXPECT_EQ(Grace("p"), "5");
  EXPECT_EQ(TextAt(*server_.Find("p"), "/metadata/deletionTimestamp"), "2026-11-20T10:00:05Z");
  server_.ConfirmDeletion("p", 143);
  EXPECT_EQ(server_.Find("p"), nullptr);
  EXPECT_EQ(changes_, "AMMMMMD");
}

TEST_F(FakeKubeServerTest, HoldsWhatIsDeletedAsLongAsItHasAFinalizer) {
  server_.Create("default", PodNamed("p", R"(,"labels":{"l":"x"},"finalizers":["f","g"])"));
  DeleteStatus("p", R"({"gracePeriodSeconds":0})");
  EXPECT_EQ(Grace("p"), "0");
  server_.LetGo("default", "p", "another uid", "l", "f");
  EXPECT_NE(server_.Find("p")->At("/metadata/labels/l"), nullptr) << "that is another's";
  server_.LetGo("default", "p", "", "l", "f");
  ASSERT_NE(server_.Find("p"), nullptr) << "the other one holds it";
  server_.LetGo("default", "p", "", "l", "g");
  EXPECT_EQ(server_.Find("p"), nullptr);
}

TEST_F(FakeKubeServerTest, ChecksWhichObjectIsMeant) {
  server_.Create("default", PodNamed("p"));
  EXPECT_EQ(DeleteStatus("p", R"({"preconditions":{"uid":"x"}})"), 409u);
  const std::string version = TextAt(*server_.Find("p"), "/metadata/resourceVersion");
  const std::string patch = R"({"metadata":{"uid":"uid-1","resourceVersion":")" + version +
                            R"(","annotations":{"a":"b"}}})";
  EXPECT_EQ(server_.Annotate("default", "p", patch).status, 200u);
  EXPECT_EQ(server_.Annotate("default", "p", patch).status, 409u) << "it has changed";
}

TEST_F(FakeKubeServerTest, GivesPartsOfALog) {
  server_.Create("default", PodNamed("p"));
  EXPECT_EQ(server_.Log("default", "p", "container=c").status, 400u) << "it waits to start";
  for (const char* line : {"a", "b", "c"}) {
    server_.Write("p", "c", line);
    server_.Advance(1);
  }
  const std::string c = "container=c&";
  EXPECT_EQ(server_.Log("default", "p", c + "tailLines=1").body,
            "2026-11-20T10:00:02.000000000Z c\n");
  EXPECT_EQ(server_.Log("default", "p", c + "sinceTime=2026-11-20T10:00:01Z").body.size(), 66u);
  EXPECT_EQ(server_.Log("default", "p", c + "limitBytes=10").body, "2026-11-20");
}

TEST_F(FakeKubeServerTest, ListsByLabel) {
  server_.Create("default", PodNamed("p", R"(,"labels":{"k":"1"})"));
  server_.Create("other", PodNamed("q", R"(,"labels":{"k":"2"})"));
  const auto count = [&](const std::string& ns, const std::string& selector) {
    return ParseJson(server_.List(ns, selector).body)->Find("items")->as_array().size();
  };
  EXPECT_EQ(count("", ""), 2u);
  EXPECT_EQ(count("default", ""), 1u);
  EXPECT_EQ(count("", "k in (2,3)"), 1u);
  EXPECT_EQ(count("", "other in (2)"), 0u);
}

}  // namespace
}  // namespace detent::testing
