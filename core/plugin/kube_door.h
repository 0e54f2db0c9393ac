// The cluster that a host lends to its plugins: one client, one hub of watches, what is known of
// its kinds, and the marks by which the host finds again what it made.
//
// The services detent.kube/1 and detent.watch/1 go through it, and nothing else of a plugin does.
// Any thread. It must outlive every instance that was given it, and its callbacks come on the
// client's thread, but for those of the destructor.

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "core/kube/client.h"
#include "core/kube/discovery.h"
#include "core/kube/resource.h"
#include "core/kube/tracking.h"
#include "core/kube/watch_hub.h"

namespace detent {

class LetGoQueue;

struct KubeDoorOptions {
  // The value of labels::kTrackedBy: this host's, the same in every life of it, and of no other
  // host that works in the same cluster. A label's value.
  std::string host_id;
  // Jobs are objects of this very cluster, hence the controllers of what is made for their tasks.
  bool jobs_are_there = false;
  std::string field_manager = "detent";
  int let_go_at_a_time = 64;  // Objects that are being let go of at the same time.
  // After an object could not be let go of; doubles up to a minute, with jitter.
  std::chrono::milliseconds let_go_again{1'000};
};

class KubeDoor {
 public:
  // `client` and `hub` are borrowed.
  KubeDoor(KubeClient& client, WatchHub& hub, KubeDoorOptions options);
  ~KubeDoor();  // What was not let go of is left to the next life.
  KubeDoor(const KubeDoor&) = delete;
  KubeDoor& operator=(const KubeDoor&) = delete;

  KubeClient& client() { return client_; }
  WatchHub& hub() { return hub_; }
  KubeDiscovery& discovery() { return discovery_; }
  const KubeDoorOptions& options() const { return options_; }

  // Sends a request that changes something, as this host (field_manager). All changes go this way,
  // those of Ensure and LetGo too. The answer names it for the client's Cancel.
  //
  // That a host which does not lead any more changes nothing is the client's work: it asks
  // KubeClientOptions::may_write before each try, also of what has waited here or there meanwhile.
  uint64_t Write(KubeRequest request, KubeCallback callback);

  // The marks of a task's object, for WithTracking.
  TrackingMarks MarksOf(const TrackedTask& task) const;

  struct EnsureOrder {
    KubeResource resource;
    std::string ns;
    std::string body;   // The object; it carries its marks already.
    std::string query;  // Of the creation, without "?".
    std::string accept = "application/json";
    std::chrono::milliseconds timeout{30'000};  // Of each of its requests.
  };
  struct Ensured {
    KubeReply reply;  // Of kOk the body is the object.
    bool adopted = false;
  };
  // Creates the object, or finds the one that an earlier try made: `adopted` says which.
  // kAlreadyExists, NameTaken: the name belongs to somebody else's object, which is left alone.
  // `done` is called once. The answer names it for CancelEnsure.
  uint64_t Ensure(EnsureOrder order, std::function<void(Ensured&& ensured)> done);
  // `done` still comes once. Harmless for one that has ended.
  void CancelEnsure(uint64_t id);

  struct LetGoOrder {
    KubeResource resource;
    std::string ns, name;
    std::string uid;      // Empty: whatever has the name.
    bool remove = false;  // Delete it as well.
    bool ended = false;   // As LetGoPatch has it.
  };
  // Takes the marks of tracking off an object, as often as it needs. `done` is called once with kOk
  // (also where there is no such object any more, or it is another host's) or, when the door
  // closes, kCancelled.
  void LetGo(LetGoOrder order, std::function<void(KubeOutcome outcome)> done);
  // Objects that are still to be let go of.
  size_t letting_go() const;

 private:
  class Ensurer;
  KubeClient& client_;
  WatchHub& hub_;
  const KubeDoorOptions options_;
  KubeDiscovery discovery_;
  std::shared_ptr<Ensurer> ensurer_;
  std::shared_ptr<LetGoQueue> let_go_;
};

}  // namespace detent
