// From a line of configuration to a plugin that may be used, or a sentence that says why not.
//
// Each plugin is tried out first: a short-lived child process loads it, shakes hands and reads its
// tables, within five seconds. What kills the child (a static initialiser that throws or never
// returns, a table full of garbage) costs the host nothing. Blocks; any thread.

#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/base/result.h"
#include "core/plugin/permissions.h"
#include "core/plugin/plugin_file.h"
#include "core/plugin/shared_object.h"
#include "detent/plugin.h"

namespace detent {

struct PluginLimits {
  size_t tasks = 100'000;       // Live at a time; more are put off, not refused.
  size_t ops_in_flight = 1024;  // Starts and recovers at a time; more wait in the host.
  size_t http_in_flight = 1024;
  size_t offload_in_flight = 16;
};

struct PluginConfig {
  std::string path;  // Absolute.
  std::string kind;
  std::string sha256;  // Empty: not pinned.
  std::string isolation = "in_process";
  std::string name;  // Of the instance; empty: the kind.
  Json config{Json::Object{}};
  PluginLimits limits;
};

// Static tables inside the image; valid until the process ends.
struct LoadedPlugin {
  const detent_plugin* plugin = nullptr;
  const detent_executor* executor = nullptr;  // Of the configured kind.
  std::string id;
  std::string version;
  std::string sha256;
  std::vector<DeclaredPermission> permissions;  // What that executor needs of a cluster.
};

struct LoaderOptions {
  std::chrono::milliseconds probe_limit{5000};
};

// The error is a whole sentence that begins with the plugin's path and ends with what to do.
Result<LoadedPlugin> LoadPlugin(const PluginConfig& config, const LoaderOptions& options = {});

// Judges a descriptor by rules D-SIZE-1 and D-LOAD-1; null as the entry function may answer null.
// The error follows the plugin's path in a sentence.
Result<const detent_executor*> CheckDescriptor(const detent_plugin* plugin,
                                               const std::string& kind);

}  // namespace detent
