// A host that runs: on one machine with a store of its own, or as one of several in a cluster.
//
// Not thread-safe; main() owns it. The destructor stops it in good order.

#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/app/config.h"
#include "core/base/clock.h"
#include "core/base/result.h"

namespace detent {

class Host {
 public:
  virtual ~Host() = default;
  // "http://127.0.0.1:7420" and so on.
  virtual const std::vector<std::string>& urls() const = 0;
};

// Starts everything and serves. A plugin that is refused does not stop it. `clock` is borrowed.
// Errors: the data directory is in use or damaged, the cluster's access cannot be read, the address
// is taken or not allowed.
Result<std::unique_ptr<Host>> StartStandaloneHost(const HostConfig& config, const Clock& clock);

// The same in a cluster. It serves health and metrics from the start, and does its work once it
// leads. `on_deposed` is called if it does not lead any more (any thread, at most once): what it
// knows is no longer what is, so the process has to end at once, and another one to begin.
Result<std::unique_ptr<Host>> StartClusterHost(const HostConfig& config, const Clock& clock,
                                               std::function<void()> on_deposed);

}  // namespace detent
