#include "core/plugin/kube_door.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <future>
#include <optional>

#include "core/api/labels.h"
#include "tests/kube/watch_fixture.h"

namespace detent::testing {
namespace {

using std::chrono::milliseconds;

class KubeDoorTest : public WatchFixture {
 protected:
  KubeDoorTest() {
    options_.host_id = "host-1";
    options_.let_go_again = milliseconds(2);
    Reopen();
  }
  ~KubeDoorTest() override {
    place_.reset();
    door_.reset();
    hub_.reset();
  }
  void Reopen() {
    door_.reset();
    if (hub_ == nullptr) hub_ = std::make_unique<WatchHub>(*client_, watch_options_);
    door_ = std::make_unique<KubeDoor>(*client_, *hub_, options_);
  }
  // From here on the hub knows the things there are.
  void Watch() {
    place_ = hub_->Subscribe(scope_, told_);
    ASSERT_TRUE(told_.WaitSynced());
  }

  TrackedTask Task(const std::string& key = "uid.0.1") {
    return {key, "job-0-1", "ns", "job", "uid", 0, 1};
  }
  std::string Marked(const TrackedTask& task, const std::string& host = "host-1") {
    TrackingMarks marks = door_->MarksOf(task);
    marks.host_id = host;
    const auto body = WithTracking(R"({"kind":"Thing","apiVersion":"v1","spec":{"n":1}})", marks);
    EXPECT_TRUE(body);
    return body ? *body : "";
  }
  KubeDoor::Ensured Ensure(const TrackedTask& task) {
    KubeDoor::EnsureOrder order;
    order.resource = scope_.resource;
    order.ns = "ns";
    order.body = Marked(task);
    order.accept = accept_;
    std::promise<KubeDoor::Ensured> ensured;
    door_->Ensure(std::move(order),
                  [&](KubeDoor::Ensured&& answer) { ensured.set_value(std::move(answer)); });
    return ensured.get_future().get();
  }
  std::future<KubeOutcome> LetGo(const std::string& name, const std::string& uid = "",
                                 bool remove = false) {
    auto outcome = std::make_shared<std::promise<KubeOutcome>>();
    door_->LetGo({scope_.resource, "ns", name, uid, remove},
                 [outcome](KubeOutcome how) { outcome->set_value(how); });
    return outcome->get_future();
  }
  std::string At(const std::string& name, const std::string& pointer) {
    const Json object = server_.Get(ThingPath(name));
    const Json* value = object.At(pointer);
    return value == nullptr ? "" : value->is_string() ? value->as_string() : DumpJson(*value);
  }
  bool IsMarked(const std::string& name) {
    return !At(name, "/metadata/labels/detent.dev~1tracked-by").empty();
  }

  std::string accept_ = "application/json";
  KubeDoorOptions options_;
  WatchListener told_;
  std::unique_ptr<WatchHub> hub_;
  std::unique_ptr<KubeDoor> door_;
  std::unique_ptr<WatchSubscription> place_;
};

TEST_F(KubeDoorTest, CreatesAnObjectThenFindsItAgain) {
  const KubeDoor::Ensured first = Ensure(Task());
  ASSERT_EQ(first.reply.outcome, KubeOutcome::kOk) << first.reply.message;
  EXPECT_FALSE(first.adopted);
  const auto made = ReadTracked(first.reply.body);
  ASSERT_TRUE(made);
  EXPECT_EQ(made->name, "job-0-1");
  EXPECT_EQ(made->task_key, "uid.0.1");
  EXPECT_EQ(made->tracked_by, "host-1");
  const KubeDoor::Ensured second = Ensure(Task());
  ASSERT_EQ(second.reply.outcome, KubeOutcome::kOk) << second.reply.message;
  EXPECT_TRUE(second.adopted);
  EXPECT_EQ(ReadTracked(second.reply.body)->uid, made->uid);
  EXPECT_EQ(server_.size(), 1u);
  EXPECT_GE(server_.Count("POST", "fieldManager=detent"), 2);
  EXPECT_EQ(server_.Count("GET", "resourceVersion"), 0) << "a read that no cache answers";
}

TEST_F(KubeDoorTest, AsksForLessOfWhatItMakesThanOfWhatItFinds) {
  std::string made, found;
  const ScopedHook hook(server_, [&](const ApiCall& call) -> std::optional<ApiAnswer> {
    (call.method == "POST" ? made : found) = call.head;
    return std::nullopt;
  });
  accept_ = "application/json;as=Less";
  Ensure(Task());
  EXPECT_NE(made.find("application/json;as=Less"), std::string::npos) << made;
  EXPECT_TRUE(Ensure(Task()).adopted);
  EXPECT_EQ(found.find("as=Less"), std::string::npos) << found;
}

TEST_F(KubeDoorTest, LeavesAStrangersObjectAlone) {
  const struct {
    std::string object;
    const char* words;
  } rows[] = {
      {"{}", "was not made by Detent"},
      {Marked(Task("uid.0.2")), "another task (uid.0.2)"},
      {Marked(Task(), "host-2"), "another host (host-2)"},
      {R"({"metadata":{"labels":{"detent.dev/task":"uid.0.1"}}})", "was let go of"},
  };
  for (const auto& row : rows) {
    server_.Put(ThingPath("job-0-1"), row.object);
    const std::string before = VersionOf("job-0-1");
    const KubeDoor::Ensured ensured = Ensure(Task());
    EXPECT_EQ(ensured.reply.outcome, KubeOutcome::kAlreadyExists);
    EXPECT_EQ(ensured.reply.reason, "NameTaken");
    EXPECT_NE(ensured.reply.message.find(row.words), std::string::npos) << ensured.reply.message;
    EXPECT_EQ(VersionOf("job-0-1"), before) << "it is not touched";
    server_.Remove(ThingPath("job-0-1"));
  }
}

TEST_F(KubeDoorTest, CreatesAgainWhatHasVanishedMeanwhile) {
  std::atomic<int> taken{2};
  const ScopedHook hook(server_, [&](const ApiCall& call) -> std::optional<ApiAnswer> {
    if (call.method != "POST" || taken-- <= 0) return std::nullopt;
    return Refuse(409, "AlreadyExists", "it is there, for a moment");
  });
  const KubeDoor::Ensured ensured = Ensure(Task());
  EXPECT_EQ(ensured.reply.outcome, KubeOutcome::kOk) << ensured.reply.message;
  EXPECT_FALSE(ensured.adopted);
  EXPECT_EQ(server_.Count("POST", ""), 3);
  taken = 1000;
  server_.Remove(ThingPath("job-0-1"));
  EXPECT_EQ(Ensure(Task()).reply.outcome, KubeOutcome::kConflict) << "but not for ever";
}

TEST_F(KubeDoorTest, PassesOnWhyAnObjectCannotBeMade) {
  const ScopedHook hook(server_, [](const ApiCall&) -> std::optional<ApiAnswer> {
    return Refuse(422, "Invalid", "spec.n: must be even");
  });
  const KubeDoor::Ensured ensured = Ensure(Task());
  EXPECT_EQ(ensured.reply.outcome, KubeOutcome::kInvalid);
  EXPECT_EQ(ensured.reply.message, "spec.n: must be even");
}

TEST_F(KubeDoorTest, MakesJobsControllersOnlyWhereTheyAreObjectsOfTheCluster) {
  EXPECT_EQ(door_->MarksOf(Task()).job_api_version, "");
  options_.jobs_are_there = true;
  Reopen();
  EXPECT_EQ(door_->MarksOf(Task()).job_api_version, "execution.detent.dev/v1alpha1");
}

TEST_F(KubeDoorTest, LetsGoByOnePatchOfWhatTheWatchKnows) {
  Ensure(Task());
  Watch();
  const int before = static_cast<int>(server_.calls().size());
  EXPECT_EQ(LetGo("job-0-1").get(), KubeOutcome::kOk);
  EXPECT_EQ(server_.calls().size(), static_cast<size_t>(before) + 1) << "a patch and no read";
  EXPECT_FALSE(IsMarked("job-0-1"));
  EXPECT_EQ(At("job-0-1", "/metadata/finalizers"), "[]");
  EXPECT_EQ(At("job-0-1", "/metadata/labels/detent.dev~1task"), "uid.0.1");
  EXPECT_EQ(At("job-0-1", "/spec/n"), "1");
  EXPECT_EQ(LetGo("job-0-1").get(), KubeOutcome::kOk) << "again: harmless";
}

TEST_F(KubeDoorTest, ReadsWhatNoWatchKnows) {
  Ensure(Task());
  EXPECT_EQ(LetGo("job-0-1", At("job-0-1", "/metadata/uid")).get(), KubeOutcome::kOk);
  EXPECT_FALSE(IsMarked("job-0-1"));
  EXPECT_EQ(server_.Count("GET", ThingPath("job-0-1")), 1);
}

TEST_F(KubeDoorTest, ReadsAgainWhenTheObjectHasChangedMeanwhile) {
  Ensure(Task());
  Watch();
  // Between our look and our patch somebody else changes the object, three times in a row.
  std::atomic<int> changes{3};
  const ScopedHook hook(server_, [&](const ApiCall& call) -> std::optional<ApiAnswer> {
    if (call.method != "PATCH" || changes-- <= 0) return std::nullopt;
    Json object = server_.Get(ThingPath("job-0-1"));
    object.Set("status", "changed " + std::to_string(changes));
    server_.Put(ThingPath("job-0-1"), DumpJson(object));
    return std::nullopt;
  });
  EXPECT_EQ(LetGo("job-0-1").get(), KubeOutcome::kOk);
  EXPECT_FALSE(IsMarked("job-0-1"));
  EXPECT_EQ(At("job-0-1", "/status"), "changed 0") << "what the others wrote is kept";
  EXPECT_EQ(server_.Count("PATCH", ""), 4);
}

TEST_F(KubeDoorTest, HasNothingToDoForWhatIsGoneOrNotOurs) {
  EXPECT_EQ(LetGo("nobody").get(), KubeOutcome::kOk);
  Ensure(Task());
  EXPECT_EQ(LetGo("job-0-1", "another-uid").get(), KubeOutcome::kOk);
  EXPECT_TRUE(IsMarked("job-0-1")) << "another object of that name";
  server_.Put(ThingPath("theirs"), Marked(Task(), "host-2"));
  EXPECT_EQ(LetGo("theirs").get(), KubeOutcome::kOk);
  EXPECT_TRUE(IsMarked("theirs")) << "another host's";
  server_.Put(ThingPath("plain"));
  EXPECT_EQ(LetGo("plain").get(), KubeOutcome::kOk);
  EXPECT_EQ(server_.Count("PATCH", ""), 0);
}

TEST_F(KubeDoorTest, RepeatsWhatFailsUntilItSucceeds) {
  Ensure(Task());
  std::atomic<int> failing{6};
  const ScopedHook hook(server_, [&](const ApiCall& call) -> std::optional<ApiAnswer> {
    const int left = failing--;
    if (left <= 0) return std::nullopt;
    if (left % 3 == 0) return ApiAnswer{0, "", true};  // The connection breaks.
    if (left % 3 == 1) return Refuse(503, "ServiceUnavailable", "not now");
    return call.method == "GET" ? Refuse(403, "Forbidden", "no") : Refuse(422, "Invalid", "no");
  });
  EXPECT_EQ(LetGo("job-0-1").get(), KubeOutcome::kOk);
  EXPECT_FALSE(IsMarked("job-0-1"));
}

TEST_F(KubeDoorTest, DeletesWhatIsToBeRemovedBeforeItLetsGo) {
  Ensure(Task());
  EXPECT_EQ(LetGo("job-0-1", "", true).get(), KubeOutcome::kOk);
  EXPECT_EQ(server_.size(), 0u);
  std::vector<std::string> writes;
  for (const std::string& call : server_.calls()) {
    if (call.starts_with("DELETE") || call.starts_with("PATCH")) {
      writes.push_back(call.substr(0, call.find(' ')));
    }
  }
  EXPECT_EQ(writes, (std::vector<std::string>{"DELETE", "PATCH"}))
      << "so that a host which ends in between finds it again";
  server_.Put(ThingPath("plain"));
  EXPECT_EQ(LetGo("plain", "", true).get(), KubeOutcome::kOk);
  EXPECT_EQ(server_.size(), 0u) << "without marks it is deleted alone";
}

TEST_F(KubeDoorTest, DoesNotDeleteAnotherObjectThatHasTakenTheName) {
  Ensure(Task());
  std::atomic<bool> replaced{false};
  const ScopedHook hook(server_, [&](const ApiCall& call) -> std::optional<ApiAnswer> {
    if (call.method != "DELETE" || replaced.exchange(true)) return std::nullopt;
    server_.Remove(ThingPath("job-0-1"));
    server_.Put(ThingPath("job-0-1"), R"({"spec":"another"})");
    return std::nullopt;
  });
  EXPECT_EQ(LetGo("job-0-1", "", true).get(), KubeOutcome::kOk);
  EXPECT_EQ(At("job-0-1", "/spec"), "another");
}

TEST_F(KubeDoorTest, LetsGoOfABoundedNumberAtATime) {
  options_.let_go_at_a_time = 4;
  Reopen();
  constexpr int kCount = 60;
  for (int i = 0; i < kCount; ++i) {
    TrackedTask task = Task("uid." + std::to_string(i) + ".1");
    task.name = "t" + std::to_string(i);
    server_.Put(ThingPath(task.name), Marked(task));
  }
  Watch();
  std::atomic<int> at_a_time{0}, most{0};
  const ScopedHook hook(server_, [&](const ApiCall&) -> std::optional<ApiAnswer> {
    most = std::max<int>(most, ++at_a_time);
    std::this_thread::yield();
    --at_a_time;
    return std::nullopt;
  });
  std::vector<std::future<KubeOutcome>> all;
  for (int i = 0; i < kCount; ++i) all.push_back(LetGo("t" + std::to_string(i)));
  for (auto& one : all) EXPECT_EQ(one.get(), KubeOutcome::kOk);
  EXPECT_LE(most, 4);
  EXPECT_EQ(door_->letting_go(), 0u);
  EXPECT_EQ(server_.Count("PATCH", ""), kCount) << "one write for each";
}

TEST_F(KubeDoorTest, AnswersWhatIsLeftWhenItCloses) {
  Ensure(Task());
  server_.GoAway();
  auto one = LetGo("job-0-1"), two = LetGo("other");
  door_.reset();
  EXPECT_EQ(one.get(), KubeOutcome::kCancelled);
  EXPECT_EQ(two.get(), KubeOutcome::kCancelled);
  server_.ComeBack();
  Reopen();
  EXPECT_EQ(LetGo("job-0-1").get(), KubeOutcome::kOk) << "the next life does it";
}

}  // namespace
}  // namespace detent::testing
