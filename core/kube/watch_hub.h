// One watch of the API server for each scope, shared by all who want to know: plugins, and parts of
// the host.
//
// The watch keeps the newest state of every object, so that a later subscriber is told what exists
// without another list. The watch of a scope ends a while after its last subscriber. Any thread; a
// subscriber's calls come one at a time, in order, from the client's thread, hence never from
// within Subscribe. They must not block.

#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string_view>

#include "core/kube/watch.h"

namespace detent {

// Who has subscribed; owns its place. Destroying it unsubscribes: no call is under way or comes
// once the destructor returned. Not from within a call.
class WatchSubscription {
 public:
  virtual ~WatchSubscription() = default;
};

struct WatchHubStats {
  size_t scopes = 0;
  size_t objects = 0;
  size_t bytes = 0;  // Of the objects' text.
};

class WatchHub {
 public:
  // `client` is borrowed. `linger`: how long a watch without subscribers is kept.
  WatchHub(KubeClient& client, WatchOptions options,
           std::chrono::milliseconds linger = std::chrono::seconds(60));
  ~WatchHub();  // All subscriptions must have ended.
  WatchHub(const WatchHub&) = delete;
  WatchHub& operator=(const WatchHub&) = delete;

  // `sink` is borrowed until the subscription is destroyed. It is told every object that exists,
  // then OnSynced, then changes; after a failure OnFailed, and OnSynced once it works again.
  std::unique_ptr<WatchSubscription> Subscribe(const WatchScope& scope, WatchSink& sink);

  // The newest state of an object that any of the watches knows of, or null. It may be out of date.
  // Not from within a sink.
  WatchedObjectPtr Known(const KubeResource& resource, std::string_view ns,
                         std::string_view name) const;

  WatchHubStats stats() const;

 private:
  class Core;
  std::shared_ptr<Core> core_;
};

}  // namespace detent
