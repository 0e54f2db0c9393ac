#include "detent/services/watch.h"

#include <gtest/gtest.h>

#include <atomic>

#include "tests/plugin/kube_instance.h"

namespace detent::testing {
namespace {

struct Event {
  uint32_t kind = 0;
  detent_task task = 0;
  std::string name, ns, uid, version, json, message;
};

// What one subscription was told. Any thread asks.
class Subscriber {
 public:
  static void Callback(void* ctx, const detent_watch_event* event) {
    auto* self = static_cast<Subscriber*>(ctx);
    if (self->on_event) self->on_event(*event);
    Event seen{event->kind,
               event->task,
               std::string(Text(event->name)),
               std::string(Text(event->namespace_)),
               std::string(Text(event->uid)),
               std::string(Text(event->resource_version)),
               "",
               std::string(Text(event->message))};
    detent_bytes json{};
    if (HostTable()->buf_view(event->object, &json) == DETENT_OK) seen.json = Text(json);
    std::lock_guard lock(self->mutex_);
    self->all_.push_back(std::move(seen));
    self->came_.notify_all();
  }

  // The next event; fails the test after ten seconds.
  Event Next() {
    std::unique_lock lock(mutex_);
    const bool came =
        came_.wait_for(lock, std::chrono::seconds(10), [&] { return taken_ < all_.size(); });
    EXPECT_TRUE(came) << "no event came";
    return came ? all_[taken_++] : Event{};
  }
  // Events up to one of that kind, that one included.
  std::vector<Event> Until(uint32_t kind) {
    std::vector<Event> events;
    while (!::testing::Test::HasFailure()) {
      events.push_back(Next());
      if (events.back().kind == kind) break;
    }
    return events;
  }
  size_t count() {
    std::lock_guard lock(mutex_);
    return all_.size();
  }
  std::function<void(const detent_watch_event&)> on_event;  // On the strand.

 private:
  std::mutex mutex_;
  std::condition_variable came_;
  std::deque<Event> all_;
  size_t taken_ = 0;
};

struct Wanted {
  std::string gvr = "v1/things", ns = "ns", labels, fields;
  uint32_t flags = 0;
};

class ServiceWatch : public KubeInstance {
 protected:
  ~ServiceWatch() override { Close(); }

  detent_status Start(const Wanted& wanted, detent_watch* out) {
    detent_watch_request request{};
    request.size = sizeof request;
    request.flags = wanted.flags;
    request.gvr = View(wanted.gvr);
    request.namespace_ = View(wanted.ns);
    request.label_selector = View(wanted.labels);
    request.field_selector = View(wanted.fields);
    return Watches().start(inst(), &request, Subscriber::Callback, &told_, out);
  }
  detent_watch Start(const Wanted& wanted = {}) {
    detent_watch watch = 0;
    EXPECT_EQ(Start(wanted, &watch), DETENT_OK);
    return watch;
  }
  // An object that carries the marks of task `id`.
  void PutMarked(const std::string& name, TaskId id, const std::string& host = "host-1") {
    TrackedTask task;
    task.key = "uid.0." + std::to_string(id);
    TrackingMarks marks = door_.MarksOf(task);
    marks.host_id = host;
    server_.Put(ThingPath(name), *WithTracking("{}", marks));
  }

  Subscriber told_;
};

TEST_F(ServiceWatch, TellsWhatThereIsThenSyncedThenChanges) {
  server_.Put(ThingPath("a"), R"({"spec":1})");
  std::atomic<bool> on_strand{true};
  told_.on_event = [&](const detent_watch_event&) {
    if (HostTable()->where(inst()) != DETENT_ON_STRAND) on_strand = false;
  };
  Start();
  const Event there = told_.Next();
  EXPECT_EQ(there.kind, DETENT_WATCH_UPSERT);
  EXPECT_EQ(there.ns + "/" + there.name, "ns/a");
  EXPECT_EQ(there.version, VersionOf("a"));
  EXPECT_EQ(there.uid, "uid-1");
  EXPECT_NE(there.json.find("\"spec\":1"), std::string::npos);
  EXPECT_EQ(told_.Next().kind, DETENT_WATCH_SYNCED);
  server_.Put(ThingPath("b"));
  EXPECT_EQ(told_.Next().name, "b");
  server_.Remove(ThingPath("a"));
  const Event gone = told_.Next();
  EXPECT_EQ(gone.kind, DETENT_WATCH_DELETE);
  EXPECT_NE(gone.json.find("\"spec\":1"), std::string::npos) << "its last known state";
  EXPECT_TRUE(on_strand);
}

TEST_F(ServiceWatch, NamesTheTaskThatAnObjectBelongsTo) {
  const detent_task task = StartTask(1);
  PutMarked("mine", 1);
  PutMarked("unknown", 2);
  server_.Put(ThingPath("plain"));
  Start();
  for (const Event& event : told_.Until(DETENT_WATCH_SYNCED)) {
    EXPECT_EQ(event.task, event.name == "mine" ? task : 0) << event.name;
  }
  const detent_task later = StartTask(2);
  PutMarked("unknown", 2);
  EXPECT_EQ(told_.Next().task, later) << "from the moment on at which it is in hand";
  ReleaseTask(1);
  PutMarked("mine", 1);
  EXPECT_EQ(told_.Next().task, 0u) << "and until it is let go of";
}

TEST_F(ServiceWatch, FollowsOnlyWhatThisHostTracksWhereAskedTo) {
  PutMarked("mine", 1);
  PutMarked("theirs", 1, "host-2");
  server_.Put(ThingPath("plain"));
  Wanted wanted;
  wanted.flags = DETENT_WATCH_TRACKED;
  Start(wanted);
  const std::vector<Event> events = told_.Until(DETENT_WATCH_SYNCED);
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].name, "mine");
  server_.Put(ThingPath("mine"), "{}");  // Without its marks.
  EXPECT_EQ(told_.Next().kind, DETENT_WATCH_DELETE) << "what is no longer tracked is gone";
}

TEST_F(ServiceWatch, TellsTheControllersOfTrackedObjectsWithoutATask) {
  StartTask(1);
  PutMarked("mine", 1);
  PutMarked("stray", 2);
  Wanted wanted;
  wanted.flags = DETENT_WATCH_TRACKED;
  Start(wanted);
  told_.Until(DETENT_WATCH_SYNCED);
  const StrayObject stray = events_.Wait<StrayObject>([](const StrayObject&) { return true; });
  EXPECT_EQ(stray.kind, "thing");
  EXPECT_EQ(stray.task_key, "uid/0/2");
  EXPECT_EQ(events_.Count<StrayObject>(), 1u) << "what is in hand is no stray";
  std::vector<TaskCommand> commands;
  commands.emplace_back(LetGoCommand{"uid/0/1", true});  // It is in hand by now.
  commands.emplace_back(LetGoCommand{"uid/0/2", true});
  instance_->Submit(std::move(commands));
  EXPECT_TRUE(server_.WaitFor([&] { return server_.Get(ThingPath("stray")).is_null(); }));
  EXPECT_EQ(told_.Next().name, "stray");
  EXPECT_FALSE(server_.Get(ThingPath("mine")).is_null());
}

TEST_F(ServiceWatch, TellsOfStraysAgainAtEveryResync) {
  PutMarked("stray", 2);
  Wanted wanted;
  wanted.flags = DETENT_WATCH_TRACKED;
  Start(wanted);
  told_.Until(DETENT_WATCH_SYNCED);
  OnStrand([&] { instance_->watch_feeds()->strays().TellAgain(); });
  OnStrand([] {});
  EXPECT_EQ(events_.Count<StrayObject>(), 2u);
  StartTask(2);
  OnStrand([&] { instance_->watch_feeds()->strays().TellAgain(); });
  OnStrand([] {});
  EXPECT_EQ(events_.Count<StrayObject>(), 2u);
}

TEST_F(ServiceWatch, SharesOneWatchBetweenSubscriptions) {
  server_.Put(ThingPath("a"));
  const detent_watch first = Start();
  told_.Until(DETENT_WATCH_SYNCED);
  const detent_watch second = Start();
  told_.Until(DETENT_WATCH_SYNCED);
  EXPECT_NE(first, second);
  EXPECT_EQ(server_.Count("GET", ""), 1);
  server_.Put(ThingPath("b"));
  EXPECT_EQ(told_.Next().name + told_.Next().name, "bb");
}

TEST_F(ServiceWatch, EndsASubscription) {
  server_.Put(ThingPath("a"));
  const detent_watch watch = Start();
  told_.Until(DETENT_WATCH_SYNCED);
  size_t before = 0;
  OnStrand([&] {
    EXPECT_EQ(Watches().stop(inst(), watch), DETENT_OK);
    before = told_.count();
  });
  EXPECT_EQ(Watches().stop(inst(), watch), DETENT_E_STALE);
  Start();
  told_.Until(DETENT_WATCH_SYNCED);
  server_.Put(ThingPath("b"));
  EXPECT_EQ(told_.Next().name, "b");
  EXPECT_EQ(told_.count(), before + 3) << "a, SYNCED and b of the second, nothing of the first";
}

TEST_F(ServiceWatch, CanBeEndedFromWithinItsCallback) {
  PutThings(10);
  detent_watch watch = 0;
  told_.on_event = [&](const detent_watch_event&) {
    EXPECT_EQ(Watches().stop(inst(), watch), DETENT_OK);
  };
  OnStrand([&] { EXPECT_EQ(Start({}, &watch), DETENT_OK); });
  told_.Next();
  OnStrand([] {});
  EXPECT_EQ(told_.count(), 1u);
}

TEST_F(ServiceWatch, TellsARefusalAndThatItIsOver) {
  std::atomic<bool> refuses{true};
  const ScopedHook hook(server_, [&](const ApiCall&) -> std::optional<ApiAnswer> {
    return refuses ? std::optional(Refuse(403, "Forbidden", "things is forbidden")) : std::nullopt;
  });
  Start();
  const Event failed = told_.Next();
  EXPECT_EQ(failed.kind, DETENT_WATCH_FAILED);
  EXPECT_EQ(failed.message, "things is forbidden");
  refuses = false;
  EXPECT_EQ(told_.Next().kind, DETENT_WATCH_SYNCED);
}

TEST_F(ServiceWatch, DoesNotCallAServerThatIsAwayARefusal) {
  server_.Put(ThingPath("a"));
  Start();
  told_.Until(DETENT_WATCH_SYNCED);
  WatchListener hub_told;  // The hub's other subscribers hear of it.
  const auto place = hub_.Subscribe(scope_, hub_told);
  server_.GoAway();
  ASSERT_TRUE(hub_told.WaitFailed());
  server_.ComeBack();
  server_.Put(ThingPath("b"));
  ASSERT_TRUE(hub_told.WaitSynced(2));
  const Event next = told_.Next();
  EXPECT_EQ(next.kind, DETENT_WATCH_UPSERT);
  EXPECT_EQ(next.name, "b");
}

TEST_F(ServiceWatch, RefusesAtOnceWhatCannotBeFollowed) {
  const auto with = [](auto&& change) {
    Wanted wanted;
    change(wanted);
    return wanted;
  };
  const struct {
    Wanted wanted;
    detent_status code;
    const char* because;
  } rows[] = {
      {with([](Wanted& w) { w.gvr = "things"; }), DETENT_E_INVALID, "no version"},
      {with([](Wanted& w) { w.gvr = "v1/pods/status"; }), DETENT_E_INVALID, "a subresource"},
      {with([](Wanted& w) { w.ns = "a b"; }), DETENT_E_INVALID, "no namespace"},
      {with([](Wanted& w) { w.labels = "a in"; }), DETENT_E_INVALID, "no selector"},
      {with([](Wanted& w) { w.fields = "x"; }), DETENT_E_INVALID, "no selector"},
      {with([](Wanted& w) { w.flags = 2; }), DETENT_E_UNSUPPORTED, "an unknown flag"},
  };
  detent_watch watch = 0;
  for (const auto& row : rows) EXPECT_EQ(Start(row.wanted, &watch), row.code) << row.because;
  EXPECT_EQ(Start({}, nullptr), DETENT_E_INVALID);
  for (int i = 0; i < 32; ++i) EXPECT_EQ(Start({}, &watch), DETENT_OK) << i;
  EXPECT_EQ(Start({}, &watch), DETENT_E_BUSY);
  EXPECT_EQ(Watches().stop(inst(), watch), DETENT_OK);
  EXPECT_EQ(Start({}, &watch), DETENT_OK);
}

TEST_F(ServiceWatch, ASlowPluginIsToldTheNewestStateOnly) {
  PutThings(1);
  std::atomic<bool> open{false};
  told_.on_event = [&](const detent_watch_event& event) {
    while (event.kind == DETENT_WATCH_SYNCED && !open) std::this_thread::yield();
  };
  Start();
  WatchListener hub_told;
  const auto place = hub_.Subscribe(scope_, hub_told);
  ASSERT_TRUE(hub_told.WaitSynced());
  for (int i = 0; i < 500; ++i) {
    server_.Put(ThingPath("t0"), R"({"spec":)" + std::to_string(i) + "}");
  }
  ASSERT_TRUE(hub_told.Wait([&] { return true; }));
  const std::string last = VersionOf("t0");
  ASSERT_TRUE(server_.WaitFor([&] { return hub_told.There() == "t0=" + last; }));
  open = true;
  told_.Until(DETENT_WATCH_SYNCED);
  EXPECT_EQ(told_.Next().version, last) << "the 499 before were overtaken";
}

TEST_F(ServiceWatch, SaysEverythingAgainWhereMoreEndedThanCanBeKept) {
  PutThings(2);
  std::atomic<bool> open{false};
  told_.on_event = [&](const detent_watch_event& event) {
    while (event.kind == DETENT_WATCH_SYNCED && !open) std::this_thread::yield();
  };
  Start();
  WatchListener hub_told;
  const auto place = hub_.Subscribe(scope_, hub_told);
  ASSERT_TRUE(hub_told.WaitSynced());
  for (int i = 0; i < 5000; ++i) {
    server_.Put(ThingPath("short-lived"));
    server_.Remove(ThingPath("short-lived"));
  }
  server_.Put(ThingPath("last"));
  ASSERT_TRUE(hub_told.WaitTold("+last"));
  open = true;
  told_.Until(DETENT_WATCH_SYNCED);
  EXPECT_EQ(told_.Next().kind, DETENT_WATCH_RESTARTED);
  std::string said;
  for (const Event& event : told_.Until(DETENT_WATCH_SYNCED)) said += event.name + " ";
  EXPECT_EQ(said.find("short-lived"), std::string::npos);
  for (const char* name : {"t0 ", "t1 ", "last "}) {
    EXPECT_NE(said.find(name), std::string::npos) << said;
  }
  server_.Put(ThingPath("after"));
  EXPECT_EQ(told_.Next().name, "after");
}

TEST_F(ServiceWatch, EndsAllWithoutALastEventWhenTheInstanceCloses) {
  PutThings(3);
  Start();
  told_.Until(DETENT_WATCH_SYNCED);
  const detent_instance before = inst();
  Close();
  const size_t told = told_.count();
  server_.Put(ThingPath("late"));
  EXPECT_TRUE(server_.WaitFor([&] {
    server_.SendBookmarks();
    return server_.watches() == 0;
  })) << "nobody follows any more";
  EXPECT_EQ(told_.count(), told);
  detent_watch watch = 0;
  detent_watch_request request{};
  request.size = sizeof request;
  EXPECT_EQ(Watches().start(before, &request, Subscriber::Callback, &told_, &watch),
            DETENT_E_STALE);
}

}  // namespace
}  // namespace detent::testing
