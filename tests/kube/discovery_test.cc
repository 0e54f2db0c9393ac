#include "core/kube/discovery.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "core/base/log.h"
#include "tests/kube/fake_api_server.h"

namespace detent::testing {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

// The system's time, and what the test adds.
class AheadClock final : public Clock {
 public:
  WallTime Now() const override { return system_.Now(); }
  MonoTime Mono() const override { return system_.Mono() + ahead_.load(); }
  void Pass(milliseconds time) { ahead_ = ahead_.load() + time; }

 private:
  SystemClock system_;
  std::atomic<std::chrono::nanoseconds> ahead_{std::chrono::nanoseconds(0)};
};

// As an API server of version 1.34 writes them, with less of them.
constexpr const char* kCore = R"([
  {"name":"bindings","singularName":"binding","namespaced":true,"kind":"Binding",
   "verbs":["create"]},
  {"name":"namespaces","singularName":"namespace","namespaced":false,"kind":"Namespace",
   "verbs":["create","delete","get","list"],"shortNames":["ns"]},
  {"name":"namespaces/finalize","singularName":"","namespaced":false,"kind":"Namespace",
   "verbs":["update"]},
  {"name":"pods","singularName":"pod","namespaced":true,"kind":"Pod",
   "verbs":["watch","get","create","list"],"shortNames":["po"],"categories":["all"]},
  {"name":"pods/log","singularName":"","namespaced":true,"kind":"Pod","verbs":["get"]},
  {"name":"pods/eviction","singularName":"","namespaced":true,"group":"policy","version":"v1",
   "kind":"Eviction","verbs":["create"]}])";
constexpr const char* kApps = R"([
  {"name":"deployments/status","singularName":"","namespaced":true,"kind":"Deployment",
   "verbs":["get","patch","update"]},
  {"name":"deployments","singularName":"deployment","namespaced":true,"kind":"Deployment",
   "verbs":["create","get"],"shortNames":["deploy"]},
  {"name":"deployments/scale","singularName":"","namespaced":true,"group":"autoscaling",
   "version":"v1","kind":"Scale","verbs":["get","patch","update"]},
  {"name":"statefulsets","singularName":"statefulset","namespaced":true,"kind":"StatefulSet",
   "verbs":["get"]}])";
constexpr const char* kThings =
    R"([{"name":"things","namespaced":true,"kind":"Thing","verbs":["get"]}])";

class Discovery : public ::testing::Test {
 protected:
  using Answer = std::promise<Result<KubeKind>>;

  Discovery() {
    ClusterAccess access;
    access.server = server_.Url();
    KubeClientOptions options;
    options.tries_max = 1;
    client_ = std::make_unique<KubeClient>(access, options, clock_, log_);
    discovery_ = std::make_unique<KubeDiscovery>(*client_);
    server_.Install("v1", kCore);
    server_.Install("apps/v1", kApps);
  }

  // Its answer is waited for by Await.
  std::future<Result<KubeKind>> Begin(const std::string& api_version, const std::string& kind) {
    const auto answer = std::make_shared<Answer>();
    discovery_->Find(api_version, kind,
                     [answer](const Result<KubeKind>& found) { answer->set_value(found); });
    return answer->get_future();
  }
  static Result<KubeKind> Await(std::future<Result<KubeKind>> answer) {
    if (answer.wait_for(seconds(20)) == std::future_status::ready) return answer.get();
    ADD_FAILURE() << "no answer came";
    return Error(Code::kInternal, "no answer came");
  }
  Result<KubeKind> Find(const std::string& api_version, const std::string& kind) {
    return Await(Begin(api_version, kind));
  }
  // The resource of a kind that is found, or the name of the code.
  std::string Of(const std::string& api_version, const std::string& kind) {
    const auto found = Find(api_version, kind);
    return found ? ToString(found->resource) : NameOf(found.error().code());
  }
  int Asked(const std::string& path = "") const { return server_.Count("GET", path); }
  // Returns when the client's thread is through with all that it was given until now.
  void Settle() {
    std::promise<void> reached;
    client_->After(milliseconds(0), [&] { reached.set_value(); });
    reached.get_future().wait();
  }

  AheadClock clock_;
  Logger log_{LogLevel::kError, [](std::string_view) {}};
  FakeApiServer server_;
  std::unique_ptr<KubeClient> client_;
  std::unique_ptr<KubeDiscovery> discovery_;
};

TEST_F(Discovery, FindsWhatAManifestNames) {
  using Texts = std::vector<std::string>;
  const auto pod = Find("v1", "Pod");
  ASSERT_TRUE(pod) << pod.error().message();
  EXPECT_EQ(pod->resource, (KubeResource{"", "v1", "pods", ""}));
  EXPECT_EQ(pod->kind, "Pod");
  EXPECT_TRUE(pod->namespaced);
  EXPECT_EQ(pod->verbs, (Texts{"create", "get", "list", "watch"}));
  EXPECT_EQ(pod->subresources, (Texts{"eviction", "log"}));
  const auto deployment = Find("apps/v1", "Deployment");
  ASSERT_TRUE(deployment) << deployment.error().message();
  EXPECT_EQ(deployment->resource, (KubeResource{"apps", "v1", "deployments", ""}));
  EXPECT_EQ(deployment->subresources, (Texts{"scale", "status"}));
  const auto ns = Find("v1", "Namespace");
  ASSERT_TRUE(ns) << ns.error().message();
  EXPECT_FALSE(ns->namespaced);
  EXPECT_EQ(Of("apps/v1", "Scale"), "NotFound") << "it is a kind of another group";
  EXPECT_EQ(server_.calls(), (Texts{"GET /api/v1", "GET /apis/apps/v1"}));
}

TEST_F(Discovery, KeepsAnAnswerForAsLongAsItIsFresh) {
  EXPECT_EQ(Of("apps/v1", "Deployment"), "apps/v1/deployments");
  server_.Install("apps/v1", R"([{"name":"deploys","namespaced":true,"kind":"Deployment"}])");
  clock_.Pass(minutes(9));
  EXPECT_EQ(Of("apps/v1", "Deployment"), "apps/v1/deployments");
  EXPECT_EQ(Asked(), 1);
  clock_.Pass(minutes(2));
  EXPECT_EQ(Of("apps/v1", "Deployment"), "apps/v1/deploys");
  EXPECT_EQ(Asked(), 2);
}

TEST_F(Discovery, SharesOneRequestAmongAllWhoAskAtTheSameTime) {
  server_.Hold();
  std::vector<std::future<Result<KubeKind>>> pods, deployments;
  for (int i = 0; i < 20; ++i) {
    pods.push_back(Begin("v1", i % 2 == 0 ? "Pod" : "Namespace"));
    deployments.push_back(Begin("apps/v1", "Deployment"));
  }
  server_.LetPass();
  for (auto& answer : pods) EXPECT_TRUE(Await(std::move(answer)));
  for (auto& answer : deployments) EXPECT_TRUE(Await(std::move(answer)));
  EXPECT_EQ(Asked(), 2);
}

TEST_F(Discovery, LooksAgainForAKindThatIsMissingButOnlySoOften) {
  EXPECT_EQ(Of("apps/v1", "Thing"), "NotFound");
  server_.Install("apps/v1", kThings);
  clock_.Pass(seconds(4));
  EXPECT_EQ(Of("apps/v1", "Thing"), "NotFound");
  EXPECT_EQ(Of("apps/v1", "Deployment"), "apps/v1/deployments");
  EXPECT_EQ(Asked(), 1);
  clock_.Pass(seconds(2));
  EXPECT_EQ(Of("apps/v1", "Deployment"), "apps/v1/deployments") << "what is there is fresh still";
  EXPECT_EQ(Asked(), 1);
  EXPECT_EQ(Of("apps/v1", "Thing"), "apps/v1/things");
  EXPECT_EQ(Asked(), 2);
}

TEST_F(Discovery, FindsAGroupThatComesLaterWithoutARestart) {
  EXPECT_EQ(Of("acme.com/v1", "Thing"), "NotFound");
  EXPECT_EQ(Of("acme.com/v1", "Other"), "NotFound");
  EXPECT_EQ(Asked("/apis/acme.com/v1"), 1);
  server_.Install("acme.com/v1", kThings);
  clock_.Pass(seconds(4));
  EXPECT_EQ(Of("acme.com/v1", "Thing"), "NotFound");
  EXPECT_EQ(Asked("/apis/acme.com/v1"), 1);
  clock_.Pass(seconds(2));
  EXPECT_EQ(Of("acme.com/v1", "Thing"), "acme.com/v1/things");
}

TEST_F(Discovery, SaysWhatTheServerHasInstead) {
  server_.Install("acme.com/v1beta1", kThings);
  server_.Install("acme.com/v2", kThings);
  const struct {
    const char *api_version, *kind, *says;
  } rows[] = {
      {"apps/v1", "deployment",
       "the server has no kind 'deployment' in apps/v1 (did you mean 'Deployment'?)"},
      {"apps/v1", "deployments",
       "the server has no kind 'deployments' in apps/v1 (did you mean 'Deployment'?)"},
      {"apps/v1", "deploy",
       "the server has no kind 'deploy' in apps/v1 (did you mean 'Deployment'?)"},
      {"apps/v1", "Deploymnet",
       "the server has no kind 'Deploymnet' in apps/v1 (did you mean 'Deployment'?)"},
      {"apps/v1", "Volcano", "the server has no kind 'Volcano' in apps/v1"},
      {"acme.com/v1", "Thing",
       "the server does not have acme.com/v1; of group 'acme.com' it has v1beta1, v2"},
      {"other.com/v1", "Thing",
       "the server does not have other.com/v1, nor anything else of group 'other.com'"},
      {"v2", "Pod", "the server does not have v2; of the core group it has v1"},
  };
  for (const auto& row : rows) {
    const auto found = Find(row.api_version, row.kind);
    ASSERT_FALSE(found) << row.says;
    EXPECT_EQ(found.error().code(), Code::kNotFound) << row.says;
    EXPECT_EQ(found.error().message(), row.says);
  }
}

TEST_F(Discovery, SaysNoMoreThanItCouldLearnOfAVersionThatIsMissing) {
  const ScopedHook hook(server_, [](const ApiCall& call) -> std::optional<ApiAnswer> {
    if (call.path != "/apis/acme.com") return std::nullopt;
    return Refuse(503, "ServiceUnavailable", "not now");
  });
  EXPECT_EQ(Find("acme.com/v1", "Thing").error().message(), "the server does not have acme.com/v1");
}

TEST_F(Discovery, RefusesWhatCannotBeAKindAndAsksNobody) {
  const struct {
    const char *api_version, *kind, *says;
  } rows[] = {
      {"", "Pod", "'' is no apiVersion: write VERSION or GROUP/VERSION"},
      {"apps", "Deployment", "'apps' is no apiVersion"},
      {"apps/v1/deployments", "Deployment", "'apps/v1/deployments' is no apiVersion"},
      {"v1/pods", "Pod", "'v1/pods' is no apiVersion"},
      {"apps/../v1", "Deployment", "'apps/../v1' is no apiVersion"},
      {"apps/v1?x=y", "Deployment", "is no apiVersion"},
      {"v1", "", "'' is no kind: write its name in letters and digits"},
      {"v1", "Pod/status", "'Pod/status' is no kind"},
      {"v1", "A Pod", "'A Pod' is no kind"},
  };
  for (const auto& row : rows) {
    const auto found = Find(row.api_version, row.kind);
    ASSERT_FALSE(found) << row.says;
    EXPECT_EQ(found.error().code(), Code::kInvalid) << row.says;
    EXPECT_NE(found.error().message().find(row.says), std::string::npos) << found.error().message();
  }
  EXPECT_EQ(Asked(), 0);
}

TEST_F(Discovery, GoesOnAnsweringWhatItKnowsWhileTheServerIsAway) {
  EXPECT_EQ(Of("apps/v1", "Deployment"), "apps/v1/deployments");
  clock_.Pass(minutes(11));
  server_.GoAway();
  EXPECT_EQ(Of("apps/v1", "Deployment"), "apps/v1/deployments");
  EXPECT_EQ(Of("apps/v1", "Thing"), "Unavailable") << "it may be there by now";
  EXPECT_EQ(Of("v1", "Pod"), "Unavailable") << "nothing is known of it";
  server_.ComeBack();
  EXPECT_EQ(Of("v1", "Pod"), "v1/pods");
  EXPECT_EQ(Of("apps/v1", "Thing"), "NotFound");
}

TEST_F(Discovery, DoesNotWaitForAServerInTroubleEachTime) {
  EXPECT_EQ(Of("apps/v1", "Deployment"), "apps/v1/deployments");
  clock_.Pass(minutes(11));
  std::atomic<bool> in_trouble{true};
  const ScopedHook hook(server_, [&](const ApiCall&) -> std::optional<ApiAnswer> {
    return in_trouble ? std::optional(Refuse(503, "ServiceUnavailable", "x")) : std::nullopt;
  });
  for (int i = 0; i < 5; ++i) EXPECT_EQ(Of("apps/v1", "Deployment"), "apps/v1/deployments");
  EXPECT_EQ(Asked(), 2);
  in_trouble = false;
  server_.Install("apps/v1", R"([{"name":"deploys","namespaced":true,"kind":"Deployment"}])");
  clock_.Pass(seconds(6));
  EXPECT_EQ(Of("apps/v1", "Deployment"), "apps/v1/deploys");
}

TEST_F(Discovery, SaysWhyTheServerCouldNotBeAsked) {
  const struct {
    ApiAnswer answer;
    Code code;
    const char* says;
  } rows[] = {
      {Refuse(403, "Forbidden", "you may not"), Code::kForbidden,
       "ask for the kinds of apps/v1: you may not"},
      {Refuse(500, "InternalError", "it broke"), Code::kUnavailable, "it broke"},
      {{200, "<html>"}, Code::kUnavailable, "the answer is no APIResourceList: "},
      {{200, R"({"kind":"Status"})"}, Code::kUnavailable, "its kind is 'Status'"},
  };
  for (const auto& row : rows) {
    const ScopedHook hook(server_,
                          [&](const ApiCall&) -> std::optional<ApiAnswer> { return row.answer; });
    const auto found = Find("apps/v1", "Deployment");
    ASSERT_FALSE(found) << row.says;
    EXPECT_EQ(found.error().code(), row.code) << row.says;
    EXPECT_NE(found.error().message().find(row.says), std::string::npos) << found.error().message();
  }
  EXPECT_EQ(Of("apps/v1", "Deployment"), "apps/v1/deployments") << "no failure is kept";
}

TEST_F(Discovery, AsksAnewForWhatWasForgotten) {
  server_.Install("acme.com/v1", kThings);
  EXPECT_EQ(Of("acme.com/v1", "Thing"), "acme.com/v1/things");
  server_.Uninstall("acme.com/v1");
  EXPECT_EQ(Of("acme.com/v1", "Thing"), "acme.com/v1/things") << "nobody said that it is gone";
  discovery_->Forget("acme.com/v1");
  EXPECT_EQ(Of("acme.com/v1", "Thing"), "NotFound");
  server_.Install("acme.com/v1", kThings);
  discovery_->Forget("acme.com/v1");
  EXPECT_EQ(Of("acme.com/v1", "Thing"), "acme.com/v1/things") << "sooner than it would by itself";
  discovery_->Forget("acme.com/v1");
  server_.GoAway();
  EXPECT_EQ(Of("acme.com/v1", "Thing"), "acme.com/v1/things") << "all that is known";
  discovery_->Forget("never.asked/v1");
  discovery_->Forget("no apiVersion");
}

TEST_F(Discovery, DoesNotAnswerAfterForgetWhatWasAskedForBeforeIt) {
  std::atomic<int> asked{0};
  const ScopedHook hook(server_, [&](const ApiCall&) -> std::optional<ApiAnswer> {
    if (++asked > 1) return std::nullopt;
    return ApiAnswer{200, R"({"kind":"APIResourceList","resources":[]})"};
  });
  server_.Hold();
  auto before = Begin("apps/v1", "Deployment");
  discovery_->Forget("apps/v1");
  auto after = Begin("apps/v1", "Deployment");
  server_.LetPass();
  EXPECT_FALSE(Await(std::move(before)));
  EXPECT_TRUE(Await(std::move(after)));
  EXPECT_EQ(asked, 2);
  EXPECT_EQ(Of("apps/v1", "Deployment"), "apps/v1/deployments");
  EXPECT_EQ(asked, 2);
}

TEST_F(Discovery, RemembersOnlySoManyVersionsThatTheServerDoesNotHave) {
  constexpr int kVersions = 80;
  const auto name = [](int i) { return "group-" + std::to_string(i) + ".test/v1"; };
  EXPECT_EQ(Of("apps/v1", "Deployment"), "apps/v1/deployments");
  for (int i = 0; i < kVersions; ++i) EXPECT_EQ(Of(name(i), "Thing"), "NotFound");
  EXPECT_EQ(Of(name(kVersions - 1), "Thing"), "NotFound");
  EXPECT_EQ(Asked("/apis/" + name(kVersions - 1)), 1) << "a late one is remembered";
  EXPECT_EQ(Of(name(0), "Thing"), "NotFound");
  EXPECT_EQ(Asked("/apis/" + name(0)), 2) << "the first one was not";
  EXPECT_EQ(Of("apps/v1", "Deployment"), "apps/v1/deployments");
  EXPECT_EQ(Asked("/apis/apps/v1"), 1) << "what is there is not pushed out";
}

TEST_F(Discovery, CallsOnTheClientsThreadAndNeverInsideFind) {
  std::promise<std::thread::id> promised;
  client_->After(milliseconds(0), [&] { promised.set_value(std::this_thread::get_id()); });
  const std::thread::id clients = promised.get_future().get();
  // Unknown, known, missing, and refused; each asked for on the client's thread itself.
  const std::pair<const char*, const char*> rows[] = {
      {"v1", "Pod"}, {"v1", "Pod"}, {"v1", "Thing"}, {"", "Pod"}};
  for (const auto& [api_version, kind] : rows) {
    std::promise<std::thread::id> called;
    std::atomic<bool> was_called{false}, inside{false};
    client_->After(milliseconds(0), [&, version = api_version, name = kind] {
      discovery_->Find(version, name, [&](const Result<KubeKind>&) {
        was_called = true;
        called.set_value(std::this_thread::get_id());
      });
      inside = was_called.load();
    });
    EXPECT_EQ(called.get_future().get(), clients);
    Settle();
    EXPECT_FALSE(inside) << api_version << " " << kind;
  }
}

TEST_F(Discovery, LetsACallbackAskAgain) {
  std::promise<std::string> second;
  discovery_->Find("v1", "Pod", [&](const Result<KubeKind>&) {
    discovery_->Forget("v1");
    discovery_->Find("v1", "Namespace", [&](const Result<KubeKind>& found) {
      second.set_value(found ? ToString(found->resource) : found.error().message());
    });
  });
  EXPECT_EQ(second.get_future().get(), "v1/namespaces");
  EXPECT_EQ(Asked(), 2);
}

TEST_F(Discovery, CallsNobodyOnceItIsGone) {
  EXPECT_EQ(Of("v1", "Pod"), "v1/pods");
  std::atomic<int> called{0};
  const auto count = [&](const Result<KubeKind>&) { ++called; };
  // The client's thread stands still, so that none of the answers can come before the end.
  std::promise<void> go;
  client_->After(milliseconds(0), [held = go.get_future().share()] { held.wait(); });
  server_.Hold();
  discovery_->Find("v1", "Pod", count);
  discovery_->Find("", "Pod", count);
  discovery_->Find("apps/v1", "Deployment", count);
  discovery_.reset();
  go.set_value();
  server_.LetPass();
  Settle();
  client_.reset();
  EXPECT_EQ(called, 0);
}

TEST_F(Discovery, CanEndAtAnyTime) {
  for (int round = 0; round < 100; ++round) {
    auto discovery = std::make_unique<KubeDiscovery>(*client_);
    // What the callbacks touch ends right behind it: the sanitizers would see a late one.
    auto called = std::make_unique<int>(0);
    const auto count = [at = called.get()](const Result<KubeKind>&) { ++*at; };
    const int before = Asked();
    discovery->Find("v1", "Pod", count);
    discovery->Find("apps/v1", "Thing", count);
    discovery->Find("acme.com/v1", "Thing", count);
    discovery->Find("", "", count);
    const int begun = round % 5;
    ASSERT_TRUE(server_.WaitFor([&] { return Asked() >= before + begun; }));
    discovery.reset();
    called.reset();
  }
}

}  // namespace
}  // namespace detent::testing
