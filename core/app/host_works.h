// What does a host's work on a store: plugins, the engine and its loop, and the server of the API.
// Both homes have it; they differ in the store, and in when the work may begin.
//
// Start order: plugins are loaded, the server may listen, then the engine, the plugins and the loop
// begin. Stop order: the reverse, so that nobody is asked who is gone already. One thread, but for
// what handlers do.

#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/app/host_admin.h"
#include "core/app/host_base.h"
#include "core/control/job_intake.h"
#include "core/control/loop.h"
#include "core/http/api_context.h"
#include "core/http/server.h"
#include "core/plugin/kube_door.h"
#include "core/plugin/plugin_host.h"

namespace detent {

// What the configuration says of plugins, as the plugin host takes it. Pure.
std::vector<PluginConfig> PluginsOf(const HostConfig& config);

class HostWorks {
 public:
  // Everything is borrowed; `door` may be null: there is no cluster.
  HostWorks(HostBase& base, KubeDoor* door);
  ~HostWorks() { Stop(); }
  HostWorks(const HostWorks&) = delete;
  HostWorks& operator=(const HostWorks&) = delete;

  PluginHost& plugins() { return plugins_; }
  ControlOptions& options() { return options_; }  // Not after Run.
  ApiContext& api() { return api_; }              // Whole after Run.
  const std::vector<std::string>& urls() const { return server_->urls(); }

  // Listens, as the configuration says. The handler is called until Stop.
  Result<void> Serve(Handler handler);
  // Has every change of the store told to the loop: before the store begins.
  void Follow(Store& store);
  // Reads all that is stored, takes up what was in hand, and begins.
  Result<void> Run(Store& store);
  // Idempotent.
  void Stop();

 private:
  HostBase& base_;
  ControlOptions options_;
  PluginHost plugins_;
  std::unique_ptr<JobIntake> intake_;  // The store as the API sees it.
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<Loop> loop_;
  std::unique_ptr<HostAdmin> admin_;
  ApiContext api_;
  std::unique_ptr<Server> server_;
};

}  // namespace detent
