// What one instance follows through detent.watch/1: its subscriptions, and what of each it has not
// been told yet.
//
// Any thread subscribes and ends; news comes on the client's thread, is kept by its newest state,
// and is told on the strand, so many events a turn. An instance that is slow costs no more than the
// objects there are: where objects vanish faster than it hears, what is kept is dropped, and all is
// said again (RESTARTED). It belongs to its instance, and like that it is never freed.

#pragma once

#include <memory>
#include <mutex>

#include "core/kube/watch_scope.h"
#include "core/plugin/handle_table.h"
#include "core/plugin/kube_door.h"
#include "core/plugin/service_watch_strays.h"
#include "detent/services/watch.h"

namespace detent {

class Instance;

class WatchFeeds {
 public:
  // Both are borrowed.
  WatchFeeds(Instance& instance, KubeDoor& door)
      : instance_(instance), door_(door), strays_(instance, door) {}

  KubeDoor& door() { return door_; }
  WatchStrays& strays() { return strays_; }  // The strand's.

  // What to follow, and whom to tell. `tracked`: the scope selects what this host tracks.
  struct Order {
    WatchScope scope;  // It has been checked.
    bool tracked = false;
    detent_watch_cb cb = nullptr;
    void* ctx = nullptr;
  };
  detent_status Start(Order order, detent_watch* out);
  bool empty();  // Nothing is followed. Any thread.
  detent_status Stop(detent_watch watch);
  // Ends all, without a last event. The strand.
  void CloseAll();

 private:
  class Feed;
  std::shared_ptr<Feed> Take(detent_watch watch);

  Instance& instance_;
  KubeDoor& door_;
  WatchStrays strays_;
  std::mutex mutex_;
  HandleTable<std::shared_ptr<Feed>, NoMutex, 1> feeds_;  // Guarded by mutex_.
};

}  // namespace detent
