// Lets Furiko's JobConfigs and Jobs run in a cluster where Detent leads: ours are made for them and
// follow them, and their status says how ours stand. Jobs that our schedules make of them are shown
// among Furiko's Jobs as well.
//
// The leading host runs one, whether or not the cluster serves Furiko's kinds: they may come later.
// It works only where they are those of `detent install`, by the mark on their definitions: a real
// Furiko's are let alone. A thread of its own decides (furiko_plan.h) and never waits for an
// answer; all requests go through the given client, whose may_write withholds a deposed host's.

#pragma once

#include <memory>
#include <string>
#include <thread>

#include "core/api/admission.h"
#include "core/base/log.h"
#include "core/kube/client.h"

namespace detent {

struct FurikoBridgeOptions {
  std::string default_timezone = "UTC";
  std::chrono::milliseconds poll{10'000};         // How often the kinds are looked for.
  std::chrono::milliseconds status_every{1'000};  // Of one object at the most.
  size_t in_flight_max = 16;                      // The host's own requests go by the same client.
};

class FurikoBridge {
 public:
  // All but the options are borrowed.
  FurikoBridge(KubeClient& client, const SpecValidator& validator, FurikoBridgeOptions options,
               Logger& log);
  ~FurikoBridge();  // Stops.
  FurikoBridge(const FurikoBridge&) = delete;
  FurikoBridge& operator=(const FurikoBridge&) = delete;

  void Start();
  // What was sent goes its way, and nothing is done about its answer. Idempotent. Not from the
  // client's thread.
  void Stop();

 private:
  class Core;
  std::unique_ptr<Core> core_;
  std::thread thread_;
};

}  // namespace detent
