// The store over a real API server: the contract of all stores, and what is particular to this one.

#include <gtest/gtest.h>

#include <future>

#include "core/api/labels.h"
#include "core/base/json.h"
#include "core/kube/client.h"
#include "core/kube_store/kube_store.h"
#include "tests/cluster_kube/real_server.h"
#include "tests/store/store_contract.h"

namespace detent {
namespace {

using std::chrono::milliseconds;

constexpr const char* kNamespaces[] = {"default", "one", "two", "other"};

std::string CollectionPath(Kind kind, const std::string& ns) {
  return PathOf({kApiGroup, kApiVersion, PluralOf(kind), ""}, ns, "");
}

// The server that the environment names, and a client of it. Null client: it names none.
struct Server {
  explicit Server(const char* variable) {
    const auto access = AccessOf(FromEnvironment(variable));
    if (access) client = std::make_unique<KubeClient>(*access, KubeClientOptions{}, clock, log);
  }

  SystemClock clock;
  Logger log{LogLevel::kError, [](std::string_view) {}};
  std::unique_ptr<KubeClient> client;
};

void Eventually(Server& server, const std::function<bool()>& holds) {
  const MonoTime give_up = server.clock.Mono() + std::chrono::minutes(1);
  while (!holds()) {
    ASSERT_LT(server.clock.Mono(), give_up);
    std::promise<void> later;
    server.client->After(milliseconds(5), [&] { later.set_value(); });
    later.get_future().wait();
  }
}

// Whatever an earlier test has left, finalizers and all.
void Wipe(Server& server) {
  for (const Kind kind : kKinds) {
    const KubeReply list = server.client->Fetch(Ask("GET", CollectionPath(kind, "")));
    ASSERT_EQ(list.outcome, KubeOutcome::kOk) << list.message;
    const Json items = *ParseJson(list.body);
    for (const Json& item : items.Find("items")->as_array()) {
      const std::string path = CollectionPath(kind, item.At("/metadata/namespace")->as_string()) +
                               "/" + item.At("/metadata/name")->as_string();
      server.client->Fetch(Ask("PATCH", path, R"({"metadata":{"finalizers":null}})"));
      server.client->Fetch(Ask("DELETE", path));
    }
  }
}

class KubernetesHolder final : public StoreHolder {
 public:
  explicit KubernetesHolder(const char* variable = "DETENT_TEST_KUBECONFIG") : server_(variable) {
    for (const char* ns : kNamespaces) {
      const std::string body = std::string(R"({"metadata":{"name":")") + ns + "\"}}";
      server_.client->Fetch(Ask("POST", "/api/v1/namespaces", body));
    }
    Wipe(server_);
    store_ = std::make_unique<KubeStore>(*server_.client, KubeStoreOptions{}, server_.log);
    store_->Start();
    Eventually(server_, [this] { return store_->Ready().has_value(); });
  }
  Store& store() override { return *store_; }
  Server& server() { return server_; }

 private:
  Server server_;
  std::unique_ptr<KubeStore> store_;
};

INSTANTIATE_TEST_SUITE_P(Stores, StoreContract,
                         testing::Values(StoreMaker{
                             "Kubernetes", [] { return std::make_unique<KubernetesHolder>(); }}),
                         [](const auto& info) { return info.param.name; });

TEST(KubeStoreCluster, WritesMetadataSpecAndStatusAsOneWrite) {
  KubernetesHolder holder;
  Store& store = holder.store();
  const ObjectPtr created = MustCreate(store, MakeObject("a"));
  auto change = CopyOf(created);
  change->meta.finalizers = {labels::kDeleteDependents};
  change->meta.annotations = {{"note", "x"}};
  change->meta.labels.clear();
  change->meta.owners = {{kGroupVersion, "JobConfig", "c", "uid-c", true, true}};
  change->spec = R"({"killTimestamp":"2027-01-01T00:00:00Z",)" + change->spec.substr(1);
  change->status = StatusSaying("all at once");
  const auto changed = Submit(store, UpdateOf(change, created->meta.resource_version));
  ASSERT_TRUE(changed) << changed.error().message();
  const ObjectPtr read = *store.Read(created->key());
  EXPECT_EQ(*read, *changed->objects[0]);
  EXPECT_EQ(read->meta.finalizers, change->meta.finalizers);
  EXPECT_EQ(read->meta.annotations, change->meta.annotations);
  EXPECT_TRUE(read->meta.labels.empty());
  EXPECT_EQ(read->meta.owners, change->meta.owners);
  EXPECT_EQ(*ParseJson(read->spec), *ParseJson(change->spec));
  EXPECT_EQ(read->status, change->status);
  // The same again is no write.
  const auto again = Submit(store, UpdateOf(CopyOf(read), read->meta.resource_version));
  ASSERT_TRUE(again) << again.error().message();
  EXPECT_EQ(again->objects[0]->meta.resource_version, read->meta.resource_version);
}

TEST(KubeStoreCluster, DeletesInTwoStepsWhereAFinalizerHolds) {
  KubernetesHolder holder;
  Store& store = holder.store();
  auto object = MakeObject("held");
  object->meta.finalizers = {labels::kDeleteDependents, "example.com/other"};
  const ObjectPtr created = MustCreate(store, object);

  auto marked = CopyOf(created);
  marked->meta.deleted = FromUnixSeconds(1'790'000'000);
  const auto deleting = Submit(store, UpdateOf(marked, created->meta.resource_version));
  ASSERT_TRUE(deleting) << deleting.error().message();
  ASSERT_TRUE((*store.Read(created->key()))->meta.deleted);

  // Ours comes off, the other's holds on.
  auto let_go = CopyOf(deleting->objects[0]);
  RemoveFinalizer(let_go->meta, labels::kDeleteDependents);
  const auto ours = Submit(store, UpdateOf(let_go, let_go->meta.resource_version));
  ASSERT_TRUE(ours) << ours.error().message();
  ASSERT_TRUE(store.Read(created->key()));

  // The end: the last finalizer goes, with a last status, and so does the object.
  auto last = CopyOf(ours->objects[0]);
  last->meta.finalizers.clear();
  last->status = StatusSaying("gone");
  const auto gone =
      Submit(store, {WriteOp::kDelete, last, ours->objects[0]->meta.resource_version, nullptr});
  ASSERT_TRUE(gone) << gone.error().message();
  EXPECT_EQ(gone->objects[0]->status, StatusSaying("gone"));
  EXPECT_FALSE(store.Read(created->key()));
}

TEST(KubeStoreCluster, TakesWhatAnEarlierTryOfACreationMadeForIt) {
  KubernetesHolder holder;
  Store& store = holder.store();
  const auto attempt = [](const std::string& owner) {
    auto task = MakeOwned("t-0-1", owner);
    task->meta.labels = {{labels::kIndex, "0"}, {labels::kAttempt, "1"}};
    return task;
  };
  const ObjectPtr first = MustCreate(store, attempt("job-1"));
  const ObjectPtr second = MustCreate(store, attempt("job-1"));
  EXPECT_EQ(first->meta.uid, second->meta.uid);
  const auto other = Submit(store, CreateOf(attempt("job-2")));
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code(), Code::kAlreadyExists);
}

TEST(KubeStoreCluster, SaysConflictOnceTheWatchShowsWithWhat) {
  KubernetesHolder holder;
  Store& store = holder.store();
  const ObjectPtr created = MustCreate(store, MakeObject("a"));
  for (int i = 0; i < 50; ++i) {
    const ObjectPtr before = *store.Read(created->key());
    // Past the store, as kubectl does; the watch may show it before or after our own write.
    const std::string path = CollectionPath(Kind::kJob, "default") + "/a";
    const std::string label = R"({"metadata":{"labels":{"i":")" + std::to_string(i) + "\"}}}";
    ASSERT_EQ(holder.server().client->Fetch(Ask("PATCH", path, label)).outcome, KubeOutcome::kOk);
    auto change = CopyOf(before);
    change->status = StatusSaying(std::to_string(i));
    const auto refused = Submit(store, UpdateOf(change, before->meta.resource_version));
    ASSERT_FALSE(refused);
    ASSERT_EQ(refused.error().code(), Code::kConflict) << refused.error().message();
    ASSERT_GT((*store.Read(created->key()))->meta.resource_version, before->meta.resource_version);
  }
}

TEST(KubeStoreCluster, SaysWhatTheServerWouldNotTake) {
  KubernetesHolder holder;
  auto bad = MakeObject("a");
  bad->spec = R"({"template":{"maxAttempts":-1,"taskTemplate":{"exec":{"command":["true"]}}}})";
  const auto refused = Submit(holder.store(), CreateOf(bad));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Code::kInvalid);
  EXPECT_NE(refused.error().message().find("maxAttempts"), std::string::npos)
      << refused.error().message();
  EXPECT_FALSE(holder.store().Read(bad->key()));
}

TEST(KubeStoreCluster, RefusesWhatIsNotDoneWhenItCloses) {
  Server server("DETENT_TEST_KUBECONFIG");
  std::promise<Result<Committed>> promise;
  {
    KubeStore store(*server.client, KubeStoreOptions{}, server.log);
    store.Start();
    Transaction transaction;
    transaction.push_back(CreateOf(MakeObject("late")));
    store.Submit(std::move(transaction),
                 [&](Result<Committed> result) { promise.set_value(std::move(result)); });
  }
  const auto result = promise.get_future().get();
  EXPECT_TRUE(result || result.error().code() == Code::kUnavailable);
}

}  // namespace
}  // namespace detent
