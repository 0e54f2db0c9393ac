#include "core/plugin/service_watch_feeds.h"

#include <atomic>
#include <utility>
#include <vector>

#include "core/kube/watch_backlog.h"
#include "core/plugin/abi_convert.h"
#include "core/plugin/buffer.h"
#include "core/plugin/instance.h"

namespace detent {
namespace {

constexpr size_t kSubscriptionsMost = 32;
// Others on the strand get their turn in between.
constexpr size_t kEventsPerTurn = 128;
// Ends of objects that wait to be told. What exists bounds the rest, but not these.
constexpr size_t kEndsKept = 4096;

// What detent.watch/1 calls FAILED: the server knows of no such resource, or refuses.
bool IsFailureForPlugins(KubeOutcome outcome) {
  return outcome == KubeOutcome::kDenied || outcome == KubeOutcome::kNotFound ||
         outcome == KubeOutcome::kInvalid;
}

}  // namespace

class WatchFeeds::Feed final : public WatchSink, public std::enable_shared_from_this<Feed> {
 public:
  Feed(Instance& instance, WatchFeeds& feeds, Order order)
      : instance_(instance), feeds_(feeds), order_(std::move(order)) {}

  void Subscribe();
  // No event comes once it returned, if that is on the strand.
  void End();

  // On the client's thread.
  void OnUpsert(const WatchedObjectPtr& object) override {
    Add([&] { backlog_.Upsert(object); });
  }
  void OnDelete(const WatchedObjectPtr& object) override {
    Add([&] { backlog_.Delete(object); });
  }
  void OnSynced() override {
    Add([&] { backlog_.Synced(); });
  }
  void OnFailed(const KubeReply& reply) override {
    // A server that cannot be reached is no property of what is followed: requests tell that.
    if (IsFailureForPlugins(reply.outcome)) Add([&] { backlog_.Failed(reply); });
  }

 private:
  template <typename Write>
  void Add(Write&& write);
  void PostTurn();
  void PostTurnSoon();
  void Turn();
  void Restart();
  void Tell(const WatchNews& news);
  void TellObject(uint32_t kind, const WatchedObject& object);
  void TellState(uint32_t kind, const std::string& message = "");
  void Call(const detent_watch_event& event);

  Instance& instance_;
  WatchFeeds& feeds_;
  const Order order_;
  std::atomic<bool> ended_{false};
  bool synced_ = false;  // SYNCED was told, and nothing that takes it back. The strand's.

  std::mutex place_mutex_;                    // Taken before mutex_.
  std::unique_ptr<WatchSubscription> place_;  // Guarded by place_mutex_.

  std::mutex mutex_;  // Guards the next three.
  WatchBacklog backlog_;
  bool due_ = false;      // A turn is posted.
  bool overrun_ = false;  // What was kept was dropped; nothing is kept until all is said again.
};

void WatchFeeds::Feed::Subscribe() {
  std::lock_guard lock(place_mutex_);
  if (!ended_) place_ = feeds_.door().hub().Subscribe(order_.scope, *this);
}

void WatchFeeds::Feed::End() {
  ended_ = true;
  std::lock_guard lock(place_mutex_);
  place_.reset();
}

template <typename Write>
void WatchFeeds::Feed::Add(Write&& write) {
  std::lock_guard lock(mutex_);
  if (overrun_) return;
  write();
  if (backlog_.deletes() > kEndsKept) {
    backlog_.Clear();
    overrun_ = true;
  }
  PostTurnSoon();
}

// Under mutex_, as is the next.
void WatchFeeds::Feed::PostTurn() {
  if (due_ || (backlog_.empty() && !overrun_)) return;
  due_ = true;
  instance_.Post([self = shared_from_this()] { self->Turn(); });
}

// Once the client's thread is through with what has come: the strand wakes once for all of it.
void WatchFeeds::Feed::PostTurnSoon() {
  if (due_ || (backlog_.empty() && !overrun_)) return;
  due_ = true;
  feeds_.door().client().After(std::chrono::milliseconds(0), [self = shared_from_this()] {
    self->instance_.Post([self] { self->Turn(); });
  });
}

void WatchFeeds::Feed::Turn() {
  std::vector<WatchNews> news;
  bool restart = false;
  {
    std::lock_guard lock(mutex_);
    due_ = false;
    restart = overrun_;
    news = backlog_.Take(kEventsPerTurn);
    if (!restart) PostTurn();
  }
  if (ended_) return;
  if (restart) return Restart();
  for (const WatchNews& item : news) Tell(item);
}

void WatchFeeds::Feed::Restart() {
  synced_ = false;
  TellState(DETENT_WATCH_RESTARTED);
  {
    std::lock_guard lock(place_mutex_);
    place_.reset();  // Nothing is added from here on.
  }
  {
    std::lock_guard lock(mutex_);
    overrun_ = false;
  }
  Subscribe();
}

void WatchFeeds::Feed::Tell(const WatchNews& news) {
  switch (news.kind) {
    case WatchNews::Kind::kUpsert:
      return TellObject(DETENT_WATCH_UPSERT, *news.object);
    case WatchNews::Kind::kDelete:
      return TellObject(DETENT_WATCH_DELETE, *news.object);
    case WatchNews::Kind::kSynced:
      // After a new list the hub says so again, which is nothing new to who has heard it.
      if (!std::exchange(synced_, true)) TellState(DETENT_WATCH_SYNCED);
      return;
    case WatchNews::Kind::kFailed:
      synced_ = false;
      return TellState(DETENT_WATCH_FAILED, Repaired(news.failure->message, 1024));
    case WatchNews::Kind::kOvertaken:
      return;
  }
}

void WatchFeeds::Feed::TellObject(uint32_t kind, const WatchedObject& object) {
  detent_watch_event event{};
  event.size = sizeof event;
  event.kind = kind;
  event.task = instance_.desk().OfKey(object.task_key());
  if (order_.tracked && !object.task_key().empty()) {
    WatchStrays& strays = feeds_.strays();
    kind == DETENT_WATCH_DELETE ? strays.Gone(object) : strays.Saw(order_.scope.resource, object);
  }
  event.namespace_ = View(object.ns());
  event.name = View(object.name());
  event.uid = View(object.uid());
  event.resource_version = View(object.resource_version());
  event.object = NewBuffer(std::string(object.json()), &instance_.buffers());
  if (event.object == 0) instance_.Misbehaved("no buffer is left: they are kept, not freed", "");
  Call(event);
  ReleaseBuffer(event.object);
}

void WatchFeeds::Feed::TellState(uint32_t kind, const std::string& message) {
  detent_watch_event event{};
  event.size = sizeof event;
  event.kind = kind;
  event.message = View(message);
  Call(event);
}

void WatchFeeds::Feed::Call(const detent_watch_event& event) {
  if (ended_) return;  // By the callback before this one, perhaps.
  instance_.Guard("watch callback", [&] { order_.cb(order_.ctx, &event); });
}

detent_status WatchFeeds::Start(Order order, detent_watch* out) {
  if (instance_.closed()) return DETENT_E_CLOSING;
  const auto feed = std::make_shared<Feed>(instance_, *this, std::move(order));
  {
    std::lock_guard lock(mutex_);
    if (feeds_.live() >= kSubscriptionsMost) return DETENT_E_BUSY;
    *out = feeds_.Take([&](std::shared_ptr<Feed>& slot) { slot = feed; });
  }
  try {
    feed->Subscribe();
  } catch (...) {  // Memory or threads have run out: nothing was taken up.
    Take(*out);
    return DETENT_E_NO_MEMORY;
  }
  return DETENT_OK;
}

bool WatchFeeds::empty() {
  std::lock_guard lock(mutex_);
  return feeds_.live() == 0;
}

std::shared_ptr<WatchFeeds::Feed> WatchFeeds::Take(detent_watch watch) {
  std::lock_guard lock(mutex_);
  if (!feeds_.End(watch)) return nullptr;
  std::shared_ptr<Feed> feed = std::move(feeds_.Ended(watch));
  feeds_.Recycle(watch);
  return feed;
}

detent_status WatchFeeds::Stop(detent_watch watch) {
  const std::shared_ptr<Feed> feed = Take(watch);
  if (feed == nullptr) return DETENT_E_STALE;
  feed->End();
  return DETENT_OK;
}

void WatchFeeds::CloseAll() {
  std::vector<uint64_t> open;
  {
    std::lock_guard lock(mutex_);
    open = feeds_.Handles();
  }
  for (const uint64_t watch : open) Stop(watch);
}

}  // namespace detent
