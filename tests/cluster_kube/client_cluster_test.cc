// The client in front of a real API server: what it sends is understood, what comes back is too,
// and an API server that dies, stalls or forgets is lived through.

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>
#include <map>
#include <mutex>
#include <sstream>

#include "core/base/json.h"
#include "core/kube/client.h"
#include "core/kube/discovery.h"
#include "tests/cluster_kube/real_server.h"

namespace detent {
namespace {

using std::chrono::milliseconds;

std::string PodNamed(const std::string& name) {
  return R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")" + name +
         R"(","finalizers":["detent.dev/task-tracking"]},"spec":{"schedulerName":"nobody",)"
         R"("restartPolicy":"Never","containers":[{"name":"c","image":"localhost/busybox:1"}]}})";
}

// Follows a path, and keeps what each line of it says.
class Follower {
 public:
  Follower(KubeClient& client, const std::string& path, milliseconds silence = milliseconds(0))
      : client_(client) {
    KubeStream stream;
    stream.on_data = [this](std::string_view piece) { Take(piece); };
    stream.on_end = [this](KubeReply&& reply) {
      std::lock_guard lock(mutex_);
      end_ = std::move(reply);
      changed_.notify_all();
    };
    stream.silence = silence;
    id_ = client.Stream(Ask("GET", path), std::move(stream));
  }
  ~Follower() {
    client_.Cancel(id_);
    AwaitEnd();
  }

  // Waits until so many events came that begin so ("ADDED pod-1"); false after a minute.
  bool Await(size_t count, const std::string& begin = "") {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(60), [&] {
      const auto begins = [&](const std::string& event) { return event.starts_with(begin); };
      return static_cast<size_t>(std::count_if(events_.begin(), events_.end(), begins)) >= count;
    });
  }
  std::optional<KubeReply> AwaitEnd() {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::seconds(60), [&] { return end_.has_value(); });
    return end_;
  }
  std::vector<std::string> events() {
    std::lock_guard lock(mutex_);
    return events_;
  }

 private:
  void Take(std::string_view piece) {
    std::lock_guard lock(mutex_);
    for (rest_ += piece; rest_.find('\n') != rest_.npos;) {
      const size_t end = rest_.find('\n');
      const auto event = ParseJson(rest_.substr(0, end));
      rest_.erase(0, end + 1);
      const Json* type = event ? event->Find("type") : nullptr;
      const Json* name = event ? event->At("/object/metadata/name") : nullptr;
      events_.push_back((type == nullptr ? "?" : type->as_string()) + " " +
                        (name == nullptr ? "" : name->as_string()));
    }
    changed_.notify_all();
  }

  KubeClient& client_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string rest_;  // Guarded by mutex_, as are the next two.
  std::vector<std::string> events_;
  std::optional<KubeReply> end_;
  uint64_t id_ = 0;
};

class KubeCluster : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string path = FromEnvironment("DETENT_TEST_KUBECONFIG");
    if (path.empty()) GTEST_SKIP() << kNoCluster;
    const auto access = AccessOf(path);
    ASSERT_TRUE(access);
    access_ = *access;
    options_.user_agent = "detent-test";
    client_ = MakeClient(access_);
    const std::string ns = "test-" + std::to_string(getpid()) + "-" +
                           std::to_string(clock_.Mono().time_since_epoch().count());
    namespace_ = "/api/v1/namespaces/" + ns;
    const KubeReply made =
        client_->Fetch(Ask("POST", "/api/v1/namespaces", R"({"metadata":{"name":")" + ns + "\"}}"));
    ASSERT_EQ(made.outcome, KubeOutcome::kOk) << made.message;
  }
  void TearDown() override {
    if (client_ != nullptr) client_->Fetch(Ask("DELETE", namespace_));
  }

  std::unique_ptr<KubeClient> MakeClient(const ClusterAccess& access) {
    return std::make_unique<KubeClient>(access, options_, clock_, log_);
  }

  // Sends all at once, and counts what came of them.
  std::map<std::string, int> All(const std::vector<KubeRequest>& requests) {
    std::mutex mutex;
    std::condition_variable changed;
    std::map<std::string, int> outcomes;
    size_t done = 0;
    for (const KubeRequest& request : requests) {
      client_->Send(request, [&](KubeReply&& reply) {
        std::lock_guard lock(mutex);
        ++outcomes[NameOf(reply.outcome)];
        ++done;
        changed.notify_all();
      });
    }
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return done == requests.size(); });
    return outcomes;
  }

  int Component(const std::string& what) const {
    const std::string command = FromEnvironment("DETENT_TEST_COMPONENT") + " " +
                                FromEnvironment("DETENT_TEST_CLUSTER") + " " + what;
    return std::system(command.c_str());
  }
  pid_t PidOf(const std::string& component) const {
    const std::string command =
        FromEnvironment("DETENT_TEST_COMPONENT") + " " + FromEnvironment("DETENT_TEST_CLUSTER");
    FILE* const out = popen(command.c_str(), "r");
    char name[64] = {}, pid[64] = {};
    pid_t found = -1;
    while (fscanf(out, "%63s %63s", name, pid) == 2) {
      if (name == component) found = std::atoi(pid);
    }
    pclose(out);
    return found;
  }

  size_t Logged(const std::string& text) {
    std::lock_guard lock(log_mutex_);
    return static_cast<size_t>(
        std::count_if(lines_.begin(), lines_.end(),
                      [&](const std::string& line) { return line.find(text) != line.npos; }));
  }

  SystemClock clock_;
  std::mutex log_mutex_;
  std::vector<std::string> lines_;  // Guarded by log_mutex_.
  Logger log_{LogLevel::kInfo, [this](std::string_view line) {
                std::lock_guard lock(log_mutex_);
                lines_.emplace_back(line);
              }};
  ClusterAccess access_;
  KubeClientOptions options_;
  std::string namespace_;  // Its path; each test has its own.
  std::unique_ptr<KubeClient> client_;
};

TEST_F(KubeCluster, CarriesObjectsThroughTheirLivesAndTellsOfEachChangeOnce) {
  constexpr size_t kMaps = 200;
  const std::string maps = namespace_ + "/configmaps";
  Follower follower(*client_, maps + "?watch=1&labelSelector=ours");
  std::vector<KubeRequest> create, patch, remove;
  for (size_t i = 0; i < kMaps; ++i) {
    const std::string name = "map-" + std::to_string(i);
    create.push_back(
        Ask("POST", maps, R"({"metadata":{"name":")" + name + R"(","labels":{"ours":""}}})"));
    patch.push_back(Ask("PATCH", maps + "/" + name, R"({"data":{"a":"b"}})"));
    remove.push_back(Ask("DELETE", maps + "/" + name));
  }
  const std::map<std::string, int> all_well = {{"Ok", kMaps}};
  rusage before{}, after{};
  getrusage(RUSAGE_SELF, &before);
  EXPECT_EQ(All(create), all_well);
  EXPECT_EQ(All(create), (std::map<std::string, int>{{"AlreadyExists", kMaps}}));
  EXPECT_EQ(All(patch), all_well);
  EXPECT_EQ(All(remove), all_well);
  getrusage(RUSAGE_SELF, &after);
  ASSERT_TRUE(follower.Await(kMaps, "DELETED ")) << follower.events().size();
  std::map<std::string, int> counts;
  for (const std::string& event : follower.events()) ++counts[event];
  for (size_t i = 0; i < kMaps; ++i) {
    for (const char* type : {"ADDED", "MODIFIED", "DELETED"}) {
      EXPECT_EQ(counts[std::string(type) + " map-" + std::to_string(i)], 1) << type << i;
    }
  }
  const auto micros = [](const rusage& usage) {
    return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1'000'000 + usage.ru_utime.tv_usec +
           usage.ru_stime.tv_usec;
  };
  std::printf("%ld us of cpu a request, with its share of the watch\n",
              (micros(after) - micros(before)) / static_cast<long>(4 * kMaps));
}

TEST_F(KubeCluster, SaysWhatTheServerSays) {
  const std::string pods = namespace_ + "/pods";
  EXPECT_EQ(client_->Fetch(Ask("POST", pods, PodNamed("a"))).status, 201);
  struct Row {
    KubeRequest request;
    KubeOutcome outcome;
    const char *reason, *says;
  };
  const Row rows[] = {
      {Ask("GET", pods + "/none"), KubeOutcome::kNotFound, "NotFound", "pods \"none\" not found"},
      {Ask("GET", "/apis/acme.com/v1/things"), KubeOutcome::kNotFound, "NotFound", "404"},
      {Ask("POST", pods, PodNamed("a")), KubeOutcome::kAlreadyExists, "AlreadyExists", "\"a\""},
      {Ask("POST", pods, PodNamed("B")), KubeOutcome::kInvalid, "Invalid", "metadata.name"},
      {Ask("POST", pods, "{"), KubeOutcome::kInvalid, "BadRequest", ""},
      {Ask("PATCH", pods + "/a", R"({"metadata":{"resourceVersion":"1","labels":{"a":"b"}}})"),
       KubeOutcome::kConflict, "Conflict", "modified"},
      {Ask("GET", pods + "?watch=1&resourceVersion=1&resourceVersionMatch=x"),
       KubeOutcome::kInvalid, "Invalid", "resourceVersionMatch"},
  };
  for (const Row& row : rows) {
    const KubeReply reply = client_->Fetch(row.request);
    EXPECT_EQ(NameOf(reply.outcome), std::string(NameOf(row.outcome))) << reply.message;
    EXPECT_EQ(reply.reason, row.reason);
    EXPECT_NE(reply.message.find(row.says), std::string::npos) << reply.message;
  }
  client_->Fetch(Ask("PATCH", pods + "/a", R"({"metadata":{"finalizers":null}})"));
}

TEST_F(KubeCluster, ReadsListsThatTheServerCompresses) {
  const std::string maps = namespace_ + "/configmaps";
  for (int i = 0; i < 5; ++i) {
    const std::string name = "big-" + std::to_string(i);
    const KubeReply made =
        client_->Fetch(Ask("POST", maps,
                           R"({"metadata":{"name":")" + name + R"("},"data":{"x":")" +
                               std::string(100'000, 'x') + "\"}}"));
    ASSERT_EQ(made.outcome, KubeOutcome::kOk) << made.message;
  }
  const KubeReply list = client_->Fetch(Ask("GET", maps + "?limit=3"));
  EXPECT_GT(list.body.size(), 300'000u);
  EXPECT_TRUE(ParseJson(list.body));
  // Of a watch too the server would compress what there is at its begin.
  Follower follower(*client_, maps + "?watch=1");
  EXPECT_TRUE(follower.Await(5));
}

TEST_F(KubeCluster, IsWhoItsTokenOrItsImpersonationSaysAndNobodyElse) {
  const std::string account = namespace_ + "/serviceaccounts/asker";
  ASSERT_EQ(
      client_
          ->Fetch(Ask("POST", namespace_ + "/serviceaccounts", R"({"metadata":{"name":"asker"}})"))
          .outcome,
      KubeOutcome::kOk);
  const KubeReply issued = client_->Fetch(Ask("POST", account + "/token", R"({"spec":{}})"));
  ASSERT_EQ(issued.outcome, KubeOutcome::kOk) << issued.message;
  const std::string token = ParseJson(issued.body)->At("/status/token")->as_string();
  const auto directory =
      std::filesystem::temp_directory_path() / ("detent-cluster-" + std::to_string(getpid()));
  std::filesystem::create_directories(directory);
  const std::string file = directory / "token";
  std::ofstream(file) << "nonsense";

  ClusterAccess access = access_;
  access.tls.client.reset();
  access.credentials = BearerTokenFile{file, ""};
  const auto asker = MakeClient(access);
  const KubeReply unknown = asker->Fetch(Ask("GET", namespace_ + "/pods"));
  EXPECT_EQ(unknown.status, 401);
  EXPECT_EQ(unknown.outcome, KubeOutcome::kDenied);
  const auto other = MakeClient(access);
  std::ofstream(file) << token;
  const KubeReply known = other->Fetch(Ask("GET", namespace_ + "/pods"));
  EXPECT_EQ(known.status, 403);
  EXPECT_NE(known.message.find("system:serviceaccount:"), std::string::npos) << known.message;

  std::ofstream script(directory / "plugin");
  script << "#!/bin/sh\nprintf '{\"kind\":\"ExecCredential\",\"apiVersion\":\"%s\",\"status\":{"
            "\"token\":\"%s\"}}' client.authentication.k8s.io/v1 \"$(cat "
         << file << ")\"\n";
  script.close();
  std::filesystem::permissions(directory / "plugin", std::filesystem::perms::owner_all);
  ExecPlugin plugin;
  plugin.command = directory / "plugin";
  plugin.api_version = "client.authentication.k8s.io/v1";
  access.credentials = plugin;
  EXPECT_EQ(MakeClient(access)->Fetch(Ask("GET", namespace_ + "/pods")).message, known.message);

  access = access_;
  access.impersonation.user = "somebody";
  access.impersonation.groups = {"some group"};
  const KubeReply somebody = MakeClient(access)->Fetch(Ask("GET", namespace_ + "/pods"));
  EXPECT_EQ(somebody.status, 403);
  EXPECT_NE(somebody.message.find("User \"somebody\""), std::string::npos) << somebody.message;
  std::filesystem::remove_all(directory);
}

TEST_F(KubeCluster, LivesThroughAServerThatDies) {
  Follower follower(*client_, namespace_ + "/pods?watch=1&allowWatchBookmarks=true");
  ASSERT_TRUE(follower.Await(1)) << "the watch is there once its first bookmark is";
  ASSERT_EQ(Component("kill apiserver"), 0);
  const auto end = follower.AwaitEnd();
  ASSERT_TRUE(end);
  EXPECT_EQ(end->outcome, KubeOutcome::kUnavailable) << end->message;
  KubeRequest once = Ask("POST", namespace_ + "/pods", PodNamed("a"));
  for (int i = 0; i < 2; ++i) {
    const KubeReply reply = client_->Fetch(once);
    EXPECT_EQ(reply.outcome, KubeOutcome::kUnavailable) << reply.message;
    EXPECT_TRUE(reply.not_sent);
  }
  EXPECT_EQ(Logged("kubernetes api server cannot be reached"), 1u);
  ASSERT_EQ(Component("start apiserver"), 0);
  EXPECT_EQ(client_->Fetch(Ask("GET", namespace_ + "/pods")).outcome, KubeOutcome::kOk);
  EXPECT_EQ(Logged("kubernetes api server is reachable again"), 1u);
}

TEST_F(KubeCluster, LivesThroughAServerThatStandsStill) {
  const pid_t server = PidOf("apiserver");
  ASSERT_GT(server, 0);
  Follower follower(*client_, namespace_ + "/pods?watch=1&allowWatchBookmarks=true");
  ASSERT_TRUE(follower.Await(1));
  ASSERT_EQ(kill(server, SIGSTOP), 0);
  KubeRequest hasty = Ask("POST", namespace_ + "/pods", PodNamed("a"));
  hasty.timeout = milliseconds(500);
  const KubeReply late = client_->Fetch(hasty);
  EXPECT_EQ(late.outcome, KubeOutcome::kDeadline) << late.message;
  const auto end = follower.AwaitEnd();
  kill(server, SIGCONT);
  ASSERT_TRUE(end) << "nothing is left waiting on that connection";
  EXPECT_EQ(end->outcome, KubeOutcome::kUnavailable) << end->message;
  EXPECT_EQ(client_->Fetch(Ask("GET", namespace_ + "/pods")).outcome, KubeOutcome::kOk);
}

class DiscoveryCluster : public KubeCluster {
 protected:
  void SetUp() override {
    KubeCluster::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    discovery_ = std::make_unique<KubeDiscovery>(*client_, kinds_);
  }
  void TearDown() override {
    discovery_.reset();
    KubeCluster::TearDown();
  }

  Result<KubeKind> Find(const std::string& api_version, const std::string& kind) {
    std::promise<Result<KubeKind>> answer;
    discovery_->Find(api_version, kind,
                     [&](const Result<KubeKind>& found) { answer.set_value(found); });
    return answer.get_future().get();
  }
  std::string WhyNot(const std::string& api_version, const std::string& kind) {
    const auto found = Find(api_version, kind);
    return found ? "" : found.error().message();
  }
  // Asks without a pause; false after a minute.
  bool Until(const std::function<bool()>& holds) const {
    const MonoTime give_up = clock_.Mono() + std::chrono::seconds(60);
    while (!holds()) {
      if (clock_.Mono() > give_up) return false;
    }
    return true;
  }

  // What is missing is looked for each time.
  const KubeDiscoveryOptions kinds_{std::chrono::minutes(10), milliseconds(0)};
  std::unique_ptr<KubeDiscovery> discovery_;
};

TEST_F(DiscoveryCluster, FindsTheKindsThatTheServerHas) {
  using Texts = std::vector<std::string>;
  const auto pod = Find("v1", "Pod");
  ASSERT_TRUE(pod) << pod.error().message();
  EXPECT_EQ(ToString(pod->resource), "v1/pods");
  EXPECT_TRUE(pod->namespaced);
  EXPECT_EQ(pod->verbs, (Texts{"create", "delete", "deletecollection", "get", "list", "patch",
                               "update", "watch"}));
  const auto has = [&](const char* name) {
    return std::count(pod->subresources.begin(), pod->subresources.end(), name) == 1;
  };
  EXPECT_TRUE(has("log") && has("status") && has("eviction"));
  const auto deployment = Find("apps/v1", "Deployment");
  ASSERT_TRUE(deployment) << deployment.error().message();
  EXPECT_EQ(ToString(deployment->resource), "apps/v1/deployments");
  EXPECT_EQ(deployment->subresources, (Texts{"scale", "status"}));
  const auto ns = Find("v1", "Namespace");
  ASSERT_TRUE(ns) << ns.error().message();
  EXPECT_FALSE(ns->namespaced);
  EXPECT_EQ(client_->Fetch(Ask("GET", PathOf(deployment->resource, "", ""))).status, 200);

  const char* const near_it = " (did you mean 'Deployment'?)";
  EXPECT_EQ(WhyNot("apps/v1", "deployments"),
            std::string("the server has no kind 'deployments' in apps/v1") + near_it);
  EXPECT_EQ(WhyNot("apps/v1", "deploy"),
            std::string("the server has no kind 'deploy' in apps/v1") + near_it);
  EXPECT_EQ(WhyNot("v1", "Deployment"), "the server has no kind 'Deployment' in v1");
  EXPECT_EQ(WhyNot("apps/v2", "Deployment"),
            "the server does not have apps/v2; of group 'apps' it has v1");
  EXPECT_EQ(WhyNot("v2", "Pod"), "the server does not have v2; of the core group it has v1");
  EXPECT_EQ(WhyNot("nothing.test/v1", "Pod"),
            "the server does not have nothing.test/v1, nor anything else of group 'nothing.test'");
}

TEST_F(DiscoveryCluster, FindsAKindThatComesWhileItRunsAndNotOneThatIsGone) {
  const std::string group = namespace_.substr(namespace_.rfind('/') + 1) + ".test";
  const std::string version = group + "/v1";
  EXPECT_EQ(Find(version, "Thing").error().code(), Code::kNotFound);
  const std::string definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
  const KubeReply defined = client_->Fetch(
      Ask("POST", definitions,
          R"({"metadata":{"name":"things.)" + group + R"("},"spec":{"group":")" + group +
              R"(","scope":"Cluster","names":{"plural":"things","singular":"thing","kind":)"
              R"("Thing"},"versions":[{"name":"v1","served":true,"storage":true,)"
              R"("subresources":{"status":{},"scale":{"specReplicasPath":".spec.replicas",)"
              R"("statusReplicasPath":".status.replicas"}},"schema":{"openAPIV3Schema":)"
              R"({"type":"object","x-kubernetes-preserve-unknown-fields":true}}}]}})"));
  ASSERT_EQ(defined.outcome, KubeOutcome::kOk) << defined.message;
  ASSERT_TRUE(Until([&] { return Find(version, "Thing").has_value(); }));
  const auto thing = Find(version, "Thing");
  EXPECT_EQ(ToString(thing->resource), version + "/things");
  EXPECT_FALSE(thing->namespaced);
  EXPECT_EQ(thing->subresources, (std::vector<std::string>{"scale", "status"}));

  client_->Fetch(Ask("DELETE", definitions + "/things." + group));
  ASSERT_TRUE(Until([&] { return client_->Fetch(Ask("GET", "/apis/" + version)).status == 404; }));
  EXPECT_TRUE(Find(version, "Thing")) << "nobody said that it is gone";
  discovery_->Forget(version);
  EXPECT_EQ(Find(version, "Thing").error().code(), Code::kNotFound);
}

TEST_F(KubeCluster, WaitsForASilentStreamAsLongAsItIsToldTo) {
  Follower follower(*client_, namespace_ + "/configmaps?watch=1", milliseconds(300));
  const auto end = follower.AwaitEnd();
  ASSERT_TRUE(end);
  EXPECT_EQ(end->outcome, KubeOutcome::kDeadline) << end->message;
  EXPECT_EQ(end->status, 200);
  Follower other(*client_, namespace_ + "/pods?watch=1&timeoutSeconds=1");
  const auto in_order = other.AwaitEnd();
  ASSERT_TRUE(in_order);
  EXPECT_EQ(in_order->outcome, KubeOutcome::kOk) << in_order->message;
}

}  // namespace
}  // namespace detent
