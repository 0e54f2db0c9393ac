// Watches, and objects that are made and let go of, in front of a real API server: one that is
// killed, forgets, refuses, and does not know a resource yet.

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <future>
#include <map>
#include <thread>

#include "core/api/labels.h"
#include "core/base/json.h"
#include "core/kube/client.h"
#include "core/kube/watch_hub.h"
#include "core/plugin/kube_door.h"
#include "tests/cluster_kube/own_namespace.h"
#include "tests/kube/watch_listener.h"

namespace detent::testing {
namespace {

using std::chrono::milliseconds;

constexpr int kMaps = 1000;

class WatchCluster : public OwnNamespace {
 protected:
  void SetUp() override {
    OwnNamespace::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    maps_ = path_ + "/configmaps";
    // The controller manager puts one into each namespace, when it likes.
    ASSERT_TRUE(Eventually(
        [&] { return client_->Fetch(Ask("GET", maps_ + "/kube-root-ca.crt")).status == 200; }));
  }

  // Asks a server until it says so, for a minute.
  bool Eventually(const std::function<bool()>& holds) {
    const MonoTime give_up = clock_.Mono() + std::chrono::minutes(1);
    while (!holds()) {
      if (clock_.Mono() > give_up) return false;
      std::promise<void> later;
      client_->After(milliseconds(50), [&] { later.set_value(); });
      later.get_future().wait();
    }
    return true;
  }

  WatchScope Scope(const std::string& version, const std::string& plural) const {
    return {{"", version, plural, ""}, ns_, "", ""};
  }

  // Sends all of them at once and waits; how many were answered with kOk.
  int All(const std::vector<KubeRequest>& requests) {
    std::atomic<int> good{0};
    std::atomic<size_t> done{0};
    std::promise<void> all;
    for (const KubeRequest& request : requests) {
      client_->Send(request, [&](KubeReply&& reply) {
        if (reply.outcome == KubeOutcome::kOk) ++good;
        if (++done == requests.size()) all.set_value();
      });
    }
    all.get_future().wait();
    return good;
  }
  std::vector<KubeRequest> Creations(int count) const {
    std::vector<KubeRequest> requests;
    for (int i = 0; i < count; ++i) {
      requests.push_back(
          Ask("POST", maps_, R"({"metadata":{"name":"m)" + std::to_string(i) + "\"}}"));
    }
    return requests;
  }
  std::vector<KubeRequest> Updates(int from, int to, const std::string& value) const {
    std::vector<KubeRequest> requests;
    for (int i = from; i < to; ++i) {
      requests.push_back(
          Ask("PATCH", maps_ + "/m" + std::to_string(i), R"({"data":{"a":")" + value + "\"}}"));
    }
    return requests;
  }
  std::vector<KubeRequest> Deletions(int from, int to) const {
    std::vector<KubeRequest> requests;
    for (int i = from; i < to; ++i) {
      requests.push_back(Ask("DELETE", maps_ + "/m" + std::to_string(i)));
    }
    return requests;
  }

  std::map<std::string, std::string> FreshList() { return VersionsOf(maps_); }

  int Component(const std::string& what) const {
    const std::string command = FromEnvironment("DETENT_TEST_COMPONENT") + " " +
                                FromEnvironment("DETENT_TEST_CLUSTER") + " " + what;
    return std::system(command.c_str());
  }

  // From here on etcd has no version before the present one.
  void CompactEtcd() {
    ClusterAccess access;
    access.server = FromEnvironment("DETENT_TEST_ETCD");
    KubeClient etcd(access, {}, clock_, log_);
    const KubeReply now = etcd.Fetch(Ask("POST", "/v3/kv/range", R"({"key":"AA=="})"));
    ASSERT_EQ(now.outcome, KubeOutcome::kOk) << now.message;
    const std::string revision = ParseJson(now.body)->At("/header/revision")->as_string();
    const KubeReply done = etcd.Fetch(
        Ask("POST", "/v3/kv/compaction", R"({"revision":")" + revision + R"(","physical":true})"));
    EXPECT_EQ(done.outcome, KubeOutcome::kOk) << done.message;
  }

  // What a watch from a version is answered: 410, or that of its first line.
  int StatusOfWatchFrom(const std::string& version) {
    std::promise<int> status;
    std::atomic<bool> told{false};
    const auto tell = [&](int what) {
      if (!told.exchange(true)) status.set_value(what);
    };
    KubeStream stream;
    stream.silence = milliseconds(3'000);
    stream.on_data = [&](std::string_view piece) {
      tell(piece.find("\"code\":410") != piece.npos ? 410 : 200);
    };
    std::promise<void> ended;
    stream.on_end = [&](KubeReply&& reply) {
      tell(reply.status);
      ended.set_value();
    };
    client_->Stream(Ask("GET", maps_ + "?watch=1&timeoutSeconds=2&resourceVersion=" + version),
                    std::move(stream));
    const int answer = status.get_future().get();
    ended.get_future().wait();
    return answer;
  }

  std::string maps_;
};

TEST_F(WatchCluster, FollowsAThousandMapsOverAServerThatIsKilledAndHasForgotten) {
  WatchOptions streaming, paging;
  paging.streaming = false;
  paging.page_size = 100;
  WatchHub hub(*client_, streaming), pages(*client_, paging);
  WatchListener told, told_by_pages;
  const auto first = hub.Subscribe(Scope("v1", "configmaps"), told);
  const auto second = pages.Subscribe(Scope("v1", "configmaps"), told_by_pages);
  ASSERT_TRUE(told.WaitSynced());
  ASSERT_TRUE(told_by_pages.WaitSynced());
  EXPECT_EQ(All(Creations(kMaps)), kMaps);
  ASSERT_TRUE(told.WaitVersions(FreshList()));
  ASSERT_TRUE(told_by_pages.WaitVersions(FreshList()));

  const std::string before = last_version_;
  std::thread killer([&] {
    EXPECT_EQ(Component("kill apiserver"), 0);
    CompactEtcd();
    EXPECT_EQ(Component("start apiserver"), 0);
  });
  int changed = 0;
  for (int round = 0; round < 5; ++round) {
    changed += All(Updates(0, kMaps / 2, "round " + std::to_string(round)));
  }
  killer.join();
  changed += All(Deletions(kMaps / 4, kMaps / 2));
  EXPECT_GT(changed, kMaps / 4);
  EXPECT_EQ(StatusOfWatchFrom(before), 410) << "so the watches had to list again";
  const std::map<std::string, std::string> there = FreshList();
  EXPECT_LE(there.size(), kMaps + 1u);
  EXPECT_TRUE(told.WaitVersions(there));
  EXPECT_TRUE(told_by_pages.WaitVersions(there));
  EXPECT_EQ(All(Updates(kMaps / 2, kMaps, "after all that")), kMaps / 2);
  EXPECT_TRUE(told.WaitVersions(FreshList())) << "and they go on";
  EXPECT_TRUE(told_by_pages.WaitVersions(FreshList()));
  std::printf("%d changes were made around the kill; %zu maps are left\n", changed, there.size());
}

TEST_F(WatchCluster, ListsInPagesWhileVersionsAreForgotten) {
  ASSERT_EQ(All(Creations(kMaps)), kMaps);
  const KubeReply page = client_->Fetch(Ask("GET", maps_ + "?limit=10"));
  ASSERT_EQ(All(Updates(0, 1, "moves the version on")), 1);
  CompactEtcd();
  ASSERT_EQ(Component("restart apiserver"), 0);  // It kept that version in memory.
  const std::string token = ParseJson(page.body)->At("/metadata/continue")->as_string();
  const KubeReply next =
      client_->Fetch(Ask("GET", maps_ + "?limit=10&" + QueryPart("continue", token)));
  EXPECT_EQ(next.outcome, KubeOutcome::kGone) << "what a list in pages has to expect";
  EXPECT_EQ(next.reason, "Expired");

  std::atomic<bool> stop{false};
  std::thread forgetting([&] {
    for (int round = 0; !stop; ++round) {
      All(Updates(0, 1, "round " + std::to_string(round)));
      CompactEtcd();
    }
  });
  WatchOptions options;
  options.streaming = false;
  options.page_size = 10;
  WatchListener told;
  KubeWatch watch(*client_, Scope("v1", "configmaps"), options, told);
  watch.Start();
  EXPECT_TRUE(told.Wait([&] { return told.synced() > 0; }, std::chrono::seconds(60)));
  stop = true;
  forgetting.join();
  EXPECT_TRUE(told.WaitVersions(FreshList()));
}

TEST_F(WatchCluster, TellsThatItMayNotAndThenThatItMay) {
  ClusterAccess access = access_;
  access.impersonation.user = "nobody-" + ns_;
  KubeClient nobody(access, {}, clock_, log_);
  WatchListener told;
  KubeWatch watch(nobody, Scope("v1", "configmaps"), {}, told);
  watch.Start();
  ASSERT_TRUE(told.WaitFailed());
  EXPECT_EQ(told.TakeTold(), "failed: Forbidden");
  const std::string rbac = "/apis/rbac.authorization.k8s.io/v1/namespaces/" + ns_;
  const KubeReply bound = client_->Fetch(
      Ask("POST", rbac + "/rolebindings",
          R"({"metadata":{"name":"b"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io",)"
          R"("kind":"ClusterRole","name":"admin"},"subjects":[{"apiGroup":)"
          R"("rbac.authorization.k8s.io","kind":"User","name":")" +
              access.impersonation.user + "\"}]}"));
  ASSERT_EQ(bound.outcome, KubeOutcome::kOk) << bound.message;
  ASSERT_TRUE(told.Wait([&] { return told.synced() > 0; }, std::chrono::seconds(60)));
  EXPECT_TRUE(told.WaitVersions(FreshList()));
}

TEST_F(WatchCluster, WaitsForAResourceThatIsNotThereYet) {
  const std::string group = ns_ + ".test";
  WatchOptions options;
  options.backoff_most = milliseconds(1'000);
  WatchListener told;
  KubeWatch watch(*client_, {{group, "v1", "things", ""}, ns_, "", ""}, options, told);
  watch.Start();
  ASSERT_TRUE(told.WaitFailed());
  EXPECT_EQ(told.TakeTold(), "failed: NotFound");
  const std::string definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
  const KubeReply defined = client_->Fetch(
      Ask("POST", definitions,
          R"({"metadata":{"name":"things.)" + group + R"("},"spec":{"group":")" + group +
              R"(","scope":"Namespaced","names":{"plural":"things","singular":"thing","kind":)"
              R"("Thing"},"versions":[{"name":"v1","served":true,"storage":true,"schema":)"
              R"({"openAPIV3Schema":{"type":"object",)"
              R"("x-kubernetes-preserve-unknown-fields":true}}}]}})"));
  ASSERT_EQ(defined.outcome, KubeOutcome::kOk) << defined.message;
  ASSERT_TRUE(told.Wait([&] { return told.synced() > 0; }, std::chrono::seconds(60)));
  const KubeReply made = client_->Fetch(
      Ask("POST", "/apis/" + group + "/v1/namespaces/" + ns_ + "/things",
          R"({"apiVersion":")" + group + R"(/v1","kind":"Thing","metadata":{"name":"a"}})"));
  ASSERT_EQ(made.outcome, KubeOutcome::kOk) << made.message;
  EXPECT_TRUE(told.WaitTold("+a"));
  client_->Fetch(Ask("DELETE", definitions + "/things." + group));
}

class DoorCluster : public WatchCluster {
 protected:
  void SetUp() override {
    WatchCluster::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    hub_ = std::make_unique<WatchHub>(*client_, WatchOptions{});
    KubeDoorOptions options;
    options.host_id = "host-1";
    door_ = std::make_unique<KubeDoor>(*client_, *hub_, options);
  }

  static std::string NameOf(int number) { return "job-" + std::to_string(number) + "-1"; }
  KubeDoor::EnsureOrder Order(int number, const std::string& host = "host-1") {
    TrackedTask task{"uid." + std::to_string(number) + ".1",
                     NameOf(number),
                     ns_,
                     "job",
                     "uid",
                     static_cast<uint64_t>(number),
                     1};
    TrackingMarks marks = door_->MarksOf(task);
    marks.host_id = host;
    KubeDoor::EnsureOrder order;
    order.resource = {"", "v1", "pods", ""};
    order.ns = ns_;
    order.body = *WithTracking(
        R"({"apiVersion":"v1","kind":"Pod","spec":{"schedulerName":"nobody","containers":)"
        R"([{"name":"c","image":"localhost/busybox:1"}]}})",
        marks);
    return order;
  }
  KubeDoor::Ensured Ensure(int number) {
    std::promise<KubeDoor::Ensured> done;
    door_->Ensure(Order(number),
                  [&](KubeDoor::Ensured&& ensured) { done.set_value(std::move(ensured)); });
    return done.get_future().get();
  }
  KubeOutcome LetGo(const std::string& name, const std::string& uid = "", bool remove = false) {
    std::promise<KubeOutcome> done;
    door_->LetGo({{"", "v1", "pods", ""}, ns_, name, uid, remove},
                 [&](KubeOutcome outcome) { done.set_value(outcome); });
    return done.get_future().get();
  }
  TrackedObject PodAt(const std::string& name) {
    const KubeReply reply = client_->Fetch(Ask("GET", path_ + "/pods/" + name));
    return reply.outcome == KubeOutcome::kOk ? *ReadTracked(reply.body) : TrackedObject{};
  }

  std::unique_ptr<WatchHub> hub_;
  std::unique_ptr<KubeDoor> door_;
};

TEST_F(DoorCluster, MakesAnObjectOnceAndLeavesStrangersAlone) {
  const KubeDoor::Ensured first = Ensure(1);
  ASSERT_EQ(first.reply.outcome, KubeOutcome::kOk) << first.reply.message;
  EXPECT_FALSE(first.adopted);
  const KubeDoor::Ensured second = Ensure(1);
  ASSERT_EQ(second.reply.outcome, KubeOutcome::kOk) << second.reply.message;
  EXPECT_TRUE(second.adopted);
  EXPECT_EQ(ReadTracked(second.reply.body)->uid, ReadTracked(first.reply.body)->uid);
  const TrackedObject made = PodAt(NameOf(1));
  EXPECT_EQ(made.task_key, "uid.1.1");
  EXPECT_EQ(made.finalizers, (std::vector<std::string>{labels::kTaskTracking}));
  const std::string strangers = Order(2, "host-2").body;
  ASSERT_EQ(client_->Fetch(Ask("POST", path_ + "/pods", strangers)).status, 201);
  const KubeDoor::Ensured taken = Ensure(2);
  EXPECT_EQ(taken.reply.reason, "NameTaken") << taken.reply.message;
  EXPECT_EQ(LetGo(NameOf(2)), KubeOutcome::kOk);
  EXPECT_EQ(PodAt(NameOf(2)).tracked_by, "host-2");
}

TEST_F(DoorCluster, RefusesAPatchThatWasMadeForAnotherObjectOrAnOlderState) {
  ASSERT_EQ(Ensure(1).reply.outcome, KubeOutcome::kOk);
  const std::string path = path_ + "/pods/" + NameOf(1);
  TrackedObject object = PodAt(NameOf(1));
  ASSERT_EQ(client_->Fetch(Ask("PATCH", path, R"({"metadata":{"labels":{"a":"b"}}})")).status, 200);
  EXPECT_EQ(client_->Fetch(Ask("PATCH", path, LetGoPatch(object, false))).outcome,
            KubeOutcome::kConflict);
  object = PodAt(NameOf(1));
  object.uid = "another";
  const KubeReply other = client_->Fetch(Ask("PATCH", path, LetGoPatch(object, false)));
  EXPECT_TRUE(other.outcome == KubeOutcome::kConflict || other.outcome == KubeOutcome::kInvalid)
      << other.status << other.message;
  std::printf("a patch for another uid is answered with %d %s\n", other.status,
              other.reason.c_str());
  EXPECT_EQ(LetGo(NameOf(1)), KubeOutcome::kOk);
  const TrackedObject after = PodAt(NameOf(1));
  EXPECT_EQ(after.tracked_by, "");
  EXPECT_TRUE(after.finalizers.empty());
  EXPECT_EQ(after.task_key, "uid.1.1");
}

TEST_F(DoorCluster, LetsGoOfManyWhileTheyChangeAndRemovesWhatIsToGo) {
  constexpr int kPods = 200;
  std::atomic<int> made{0};
  std::promise<void> all_made;
  for (int i = 0; i < kPods; ++i) {
    door_->Ensure(Order(i), [&](KubeDoor::Ensured&& ensured) {
      EXPECT_EQ(ensured.reply.outcome, KubeOutcome::kOk) << ensured.reply.message;
      if (++made == kPods) all_made.set_value();
    });
  }
  all_made.get_future().wait();
  WatchScope scope = Scope("v1", "pods");
  scope.label_selector = std::string(labels::kTrackedBy) + "=host-1";
  WatchListener told;
  const auto place = hub_->Subscribe(scope, told);
  ASSERT_TRUE(told.Wait([&] { return told.there() == kPods; }, std::chrono::seconds(60)));
  // Somebody changes each of them at the same time.
  std::vector<KubeRequest> changes;
  for (int i = 0; i < kPods; ++i) {
    changes.push_back(
        Ask("PATCH", path_ + "/pods/" + NameOf(i), R"({"metadata":{"annotations":{"a":"b"}}})"));
  }
  std::thread changer([&] { All(changes); });
  std::atomic<int> let_go{0};
  std::promise<void> all_let_go;
  for (int i = 0; i < kPods; ++i) {
    door_->LetGo({scope.resource, ns_, NameOf(i), "", i % 2 == 1}, [&](KubeOutcome outcome) {
      EXPECT_EQ(outcome, KubeOutcome::kOk);
      if (++let_go == kPods) all_let_go.set_value();
    });
  }
  all_let_go.get_future().wait();
  changer.join();
  EXPECT_TRUE(told.Wait([&] { return told.there() == 0; }, std::chrono::seconds(60)))
      << "nothing is tracked any more";
  const KubeReply list = client_->Fetch(Ask("GET", path_ + "/pods"));
  const auto left = ReadListPage(list.body);
  ASSERT_TRUE(left);
  EXPECT_EQ(left->objects.size(), static_cast<size_t>(kPods / 2)) << "the others are gone";
  for (const WatchedObjectPtr& pod : left->objects) {
    EXPECT_TRUE(ReadTracked(pod->json())->finalizers.empty()) << pod->name();
  }
}

}  // namespace
}  // namespace detent::testing
