// What people may know of plugins and of the output their tasks left. Values.

#pragma once

#include <cstdint>
#include <string>

namespace detent {

// One configured plugin, as `detent plugin list` shows it.
struct PluginInfo {
  std::string kind;
  std::string id;  // The plugin's own, e.g. "dev.detent.exec"; empty if it never loaded.
  std::string version;
  std::string path;
  std::string state;    // Ready, Loading, Refused, Unhealthy.
  std::string message;  // Of Refused and Unhealthy: why, and what to do.
  std::string sha256;
  int64_t active_tasks = 0;
};

struct LogQuery {
  std::string kind;      // Executor kind.
  std::string task_key;  // TaskKey().
  int64_t offset = 0;    // Bytes from the beginning of all output ever written.
  size_t bytes_max = 256 * 1024;
};

struct LogChunk {
  std::string lines;        // CRI format, whole lines: "<RFC 3339 nanos> stdout F text\n".
  int64_t next_offset = 0;  // Where to go on.
  bool skipped = false;     // Output before `lines` was rotated away.
};

}  // namespace detent
