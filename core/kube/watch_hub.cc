#include "core/kube/watch_hub.h"

#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

namespace detent {
namespace {

// One subscriber. Its mutex is held over each call of its sink, so that End waits for one.
class Listener {
 public:
  explicit Listener(WatchSink& sink) : sink_(sink) {}

  template <typename Tell>
  void Call(Tell&& tell) {
    std::lock_guard lock(mutex_);
    if (!ended_) tell(sink_);
  }
  void End() {
    std::lock_guard lock(mutex_);
    ended_ = true;
  }

 private:
  WatchSink& sink_;
  std::mutex mutex_;
  bool ended_ = false;  // Guarded by mutex_.
};
using ListenerPtr = std::shared_ptr<Listener>;

// One watch and those who listen to it. Lock order: the watch's own, mutex_, a listener's.
class SharedWatch final : public WatchSink {
 public:
  SharedWatch(KubeClient& client, const WatchScope& scope, WatchOptions options)
      : scope_(scope), watch_(client, scope, options, *this) {}

  const WatchScope& scope() const { return scope_; }
  KubeWatch& watch() { return watch_; }

  void OnUpsert(const WatchedObjectPtr& object) override {
    ForEach([&](WatchSink& sink) { sink.OnUpsert(object); });
  }
  void OnDelete(const WatchedObjectPtr& object) override {
    ForEach([&](WatchSink& sink) { sink.OnDelete(object); });
  }
  void OnSynced() override {
    ForEach([](WatchSink& sink) { sink.OnSynced(); });
  }
  void OnFailed(const KubeReply& reply) override {
    ForEach([&](WatchSink& sink) { sink.OnFailed(reply); });
  }

  // Tells all there is, and from here on what changes. On the client's thread, as all calls.
  void Attach(const ListenerPtr& listener) {
    watch_.Look([&](const KubeWatch::View& view) {
      view.objects.Each([&](const WatchedObjectPtr& object) {
        listener->Call([&](WatchSink& sink) { sink.OnUpsert(object); });
      });
      listener->Call([&](WatchSink& sink) {
        if (view.synced) sink.OnSynced();
        if (view.failure != nullptr) sink.OnFailed(*view.failure);
      });
      std::lock_guard lock(mutex_);
      if (subscribed_.count(listener) > 0) listeners_.push_back(listener);
    });
  }

  void Add(const ListenerPtr& listener) {
    std::lock_guard lock(mutex_);
    subscribed_.insert(listener);
  }
  // False: it was the last.
  bool Remove(const ListenerPtr& listener) {
    std::lock_guard lock(mutex_);
    std::erase(listeners_, listener);
    subscribed_.erase(listener);
    return !subscribed_.empty();
  }

 private:
  template <typename Tell>
  void ForEach(Tell&& tell) {
    std::lock_guard lock(mutex_);
    for (const ListenerPtr& listener : listeners_) listener->Call(tell);
  }

  const WatchScope scope_;
  std::mutex mutex_;
  std::set<ListenerPtr> subscribed_;    // Guarded by mutex_, as is the next.
  std::vector<ListenerPtr> listeners_;  // Those of them that have been told what there is.
  KubeWatch watch_;                     // Last: it calls all of the above.
};
using SharedWatchPtr = std::shared_ptr<SharedWatch>;

class Place final : public WatchSubscription {
 public:
  explicit Place(std::function<void()> leave) : leave_(std::move(leave)) {}
  ~Place() override { leave_(); }

 private:
  std::function<void()> leave_;
};

}  // namespace

class WatchHub::Core : public std::enable_shared_from_this<Core> {
 public:
  Core(KubeClient& client, WatchOptions options, std::chrono::milliseconds linger)
      : client_(client), options_(options), linger_(linger) {}

  std::unique_ptr<WatchSubscription> Subscribe(const WatchScope& scope, WatchSink& sink);
  void EndAll();
  std::vector<SharedWatchPtr> All() const;

 private:
  void Unsubscribe(const SharedWatchPtr& shared, const ListenerPtr& listener);
  void EndIdle(const SharedWatchPtr& shared);

  KubeClient& client_;
  const WatchOptions options_;
  const std::chrono::milliseconds linger_;
  mutable std::mutex mutex_;                      // Taken before a SharedWatch's.
  std::map<WatchScope, SharedWatchPtr> watches_;  // Guarded by mutex_, as is the next.
  // When each watch without subscribers lost its last one.
  std::map<SharedWatchPtr, MonoTime> idle_since_;
};

std::unique_ptr<WatchSubscription> WatchHub::Core::Subscribe(const WatchScope& scope,
                                                             WatchSink& sink) {
  const auto listener = std::make_shared<Listener>(sink);
  SharedWatchPtr shared;
  {
    std::lock_guard lock(mutex_);
    SharedWatchPtr& place = watches_[scope];
    if (place == nullptr) place = std::make_shared<SharedWatch>(client_, scope, options_);
    shared = place;
    shared->Add(listener);
    idle_since_.erase(shared);
  }
  client_.After(std::chrono::milliseconds(0), [shared, listener] {
    shared->Attach(listener);
    shared->watch().Start();
  });
  return std::make_unique<Place>(
      [core = shared_from_this(), shared, listener] { core->Unsubscribe(shared, listener); });
}

void WatchHub::Core::Unsubscribe(const SharedWatchPtr& shared, const ListenerPtr& listener) {
  listener->End();
  std::lock_guard lock(mutex_);
  if (shared->Remove(listener)) return;
  idle_since_[shared] = client_.clock().Mono();
  client_.After(linger_, [core = weak_from_this(), shared] {
    if (const auto self = core.lock()) self->EndIdle(shared);
  });
}

void WatchHub::Core::EndIdle(const SharedWatchPtr& shared) {
  {
    std::lock_guard lock(mutex_);
    const auto idle = idle_since_.find(shared);
    // Somebody has come since then; he may even have left again, and then this is asked once more.
    if (idle == idle_since_.end() || client_.clock().Mono() - idle->second < linger_) return;
    idle_since_.erase(idle);
    watches_.erase(shared->scope());
  }
  shared->watch().Stop();
}

std::vector<SharedWatchPtr> WatchHub::Core::All() const {
  std::lock_guard lock(mutex_);
  std::vector<SharedWatchPtr> all;
  for (const auto& [scope, shared] : watches_) all.push_back(shared);
  return all;
}

void WatchHub::Core::EndAll() {
  std::map<WatchScope, SharedWatchPtr> watches;
  {
    std::lock_guard lock(mutex_);
    watches.swap(watches_);
    idle_since_.clear();
  }
  for (const auto& [scope, shared] : watches) shared->watch().Stop();
}

WatchHub::WatchHub(KubeClient& client, WatchOptions options, std::chrono::milliseconds linger)
    : core_(std::make_shared<Core>(client, options, linger)) {}

WatchHub::~WatchHub() {
  core_->EndAll();
}

std::unique_ptr<WatchSubscription> WatchHub::Subscribe(const WatchScope& scope, WatchSink& sink) {
  return core_->Subscribe(scope, sink);
}

WatchedObjectPtr WatchHub::Known(const KubeResource& resource, std::string_view ns,
                                 std::string_view name) const {
  WatchedObjectPtr found;
  for (const SharedWatchPtr& shared : core_->All()) {
    const WatchScope& scope = shared->scope();
    if (scope.resource != resource || (!scope.ns.empty() && scope.ns != ns)) continue;
    shared->watch().Look([&](const KubeWatch::View& view) { found = view.objects.Find(ns, name); });
    if (found != nullptr) break;
  }
  return found;
}

WatchHubStats WatchHub::stats() const {
  WatchHubStats stats;
  for (const SharedWatchPtr& shared : core_->All()) {
    ++stats.scopes;
    shared->watch().Look([&](const KubeWatch::View& view) {
      stats.objects += view.objects.size();
      stats.bytes += view.objects.bytes();
    });
  }
  return stats;
}

}  // namespace detent
