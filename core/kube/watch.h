// Follows the objects of one resource: everything that is there, then every change, over lost
// connections, expired versions and silent servers.
//
// The server is asked for a streaming list first (sendInitialEvents, KEP-3157) and for pages where
// it does not offer that. Bookmarks carry the version forward; 410 leads to a new list, of which
// only differences are told. What is told is a level: the newest state of each object. One watch
// belongs to one sink; its calls come from one thread at a time, in order, and must not block.
//
// Source: Kubernetes API concepts, "Efficient detection of changes", "Streaming lists".

#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include "core/kube/client.h"
#include "core/kube/watch_event.h"
#include "core/kube/watch_scope.h"
#include "core/kube/watched_set.h"

namespace detent {

class WatchSink {
 public:
  virtual ~WatchSink() = default;
  virtual void OnUpsert(const WatchedObjectPtr& object) = 0;
  // Its last known state, which may be the one before its last.
  virtual void OnDelete(const WatchedObjectPtr& object) = 0;
  // All that was there when the (new) list began has been told, and so has what vanished meanwhile.
  virtual void OnSynced() = 0;
  // The watch does not work at present, and why ("pods is forbidden: ..."); it keeps trying. A
  // refusal (kDenied, kNotFound, kInvalid) is told at once; a server that cannot be reached, or
  // fails, when it has done so several times in a row. Told again only when the reason changes, and
  // over with the next OnSynced.
  virtual void OnFailed(const KubeReply& reply) = 0;
};

struct WatchOptions {
  bool streaming = true;  // Ask for a streaming list first; false: for pages at once.
  int page_size = 500;    // Of a list in pages.
  // Ask for events in protobuf where all that the scope keeps can be read so (IsReadAsProto);
  // false: for JSON always.
  bool protobuf = true;
  // The server is asked to end a watch after so long (between one and two times that, at random),
  // so that watches spread over its replicas.
  std::chrono::seconds lifetime{300};
  // So long after its last list a watch that ends is followed by a new list, of which differences
  // alone are told: a change that was lost on its way, by whomever, is noticed then. 0: never.
  std::chrono::microseconds relist = std::chrono::minutes(30);
  // A bookmark comes about once a minute: silence for longer means a dead peer.
  std::chrono::milliseconds silence{90'000};
  // After a failure; doubles up to `backoff_most`, with jitter.
  std::chrono::milliseconds backoff_first{250};
  std::chrono::milliseconds backoff_most{30'000};
};

// Keeps the newest state of each object, to tell differences after a new list. Its sink is called
// on the client's thread.
class KubeWatch {
 public:
  // `client` and `sink` are borrowed; the sink is called until Stop returns, and not before Start.
  KubeWatch(KubeClient& client, WatchScope scope, WatchOptions options, WatchSink& sink);
  ~KubeWatch();  // Stops.
  KubeWatch(const KubeWatch&) = delete;
  KubeWatch& operator=(const KubeWatch&) = delete;

  void Start();
  // No call to the sink is under way or comes once it returned. Not from within the sink.
  void Stop();

  struct View {
    const WatchedSet& objects;
    bool synced = false;                 // OnSynced was called, and no OnFailed since then.
    const KubeReply* failure = nullptr;  // Of an OnFailed that holds still.
  };
  // Calls `look` between two calls of the sink, so that what it sees is what has been told. It must
  // be short. Any thread, but not from within the sink.
  void Look(const std::function<void(const View&)>& look) const;

 private:
  class Core;
  std::shared_ptr<Core> core_;
};

}  // namespace detent
