// Leader election among hosts by a Lease: one leads, the others wait, and whoever leads knows for
// certain until when.
//
// A leader may act only while Fence() says so. It answers from the monotonic clock alone, so that a
// host which was stopped (SIGSTOP) finds itself deposed before it does anything, whatever its
// network says; core/kube/lease_election.h says why there are never two. The epoch of a leadership
// rises with each: what a leader writes can carry it. A leader that is killed is followed within
// `duration` and half of `retry_period`, one that stops in good order at once. The first leader by
// a new Lease waits for `duration`.
//
// Fence() speaks of the instant at which it is asked. A write that is sent then has the rest of
// `duration - renew_deadline` to arrive before another may lead. So it is to be asked right before
// the first byte of every try, which the client of a host's writes does where Fence() is its
// KubeClientOptions::may_write; and what must not happen twice names the version that it replaces.
//
// The elector has a thread of its own. Its client is another one than that of the host's writes: it
// has no may_write, since the Lease is how a host comes to lead, and nothing else to do, so that a
// renewal never waits behind other requests.
//
// Source: Kubernetes API reference, coordination.k8s.io/v1 Lease; client-go's leaderelection for
// the periods' names and defaults.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "core/kube/client.h"
#include "core/kube/lease_election.h"

namespace detent {

// Called from the elector's thread; must not block, nor stop the elector.
class LeadershipSink {
 public:
  virtual ~LeadershipSink() = default;
  // These two alternate. Fence() answers before the first is called, and no more before the second.
  virtual void OnElected(int64_t epoch) = 0;
  virtual void OnDeposed(const std::string& why) = 0;
  // Another holds the Lease, or (empty) nobody does: for people, it may be out of date. Not after
  // Stop.
  virtual void OnLeader(const std::string& identity) = 0;
};

class LeaseElector {
 public:
  // Requires: CheckLeaseOptions(options). `client` and `sink` are borrowed.
  LeaseElector(KubeClient& client, LeaseOptions options, LeadershipSink& sink);
  ~LeaseElector();  // Stops.
  LeaseElector(const LeaseElector&) = delete;
  LeaseElector& operator=(const LeaseElector&) = delete;

  // Once. Throws what the standard library does where threads have run out.
  void Start();
  // Deposes, and gives the Lease back where it is ours: stop writing first, another may lead before
  // this returns. Waits for that a second at most; no call of the sink comes afterwards.
  void Stop();

  // The epoch, if at this instant nobody else can be leading. Ask before every write. Any thread;
  // never blocks, asks no server.
  std::optional<int64_t> Fence() const;

  // Why the Lease cannot be read or written at present, in the server's words where it has some;
  // empty: it can be, as far as is known. Any thread.
  std::string Trouble() const;

  // What the Lease says while this host holds it: "IDENTITY_UUID", new with each elector.
  const std::string& holder() const;

 private:
  class Core;
  std::shared_ptr<Core> core_;
};

}  // namespace detent
