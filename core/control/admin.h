// What the outside may ask of a running host beside reading and writing objects: the reasons, the
// plugins, the output of tasks. The HTTP server sees the core through this header alone.
//
// Every call may come from any thread and may wait for the loop or a plugin, 5 seconds at most
// (kUnavailable after that).

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/api/object.h"
#include "core/base/json.h"
#include "core/base/result.h"
#include "core/plugin/plugin_info.h"

namespace detent {

class Admin {
 public:
  virtual ~Admin() = default;

  // Why an object is where it is: lines from the outermost reason inwards, for a person.
  // kNotFound where there is no such object.
  virtual Result<std::vector<std::string>> Explain(const ObjectKey& key) = 0;

  virtual std::vector<PluginInfo> Plugins() = 0;

  // Tries a plugin that is not usable again, from its file. kNotFound for an unknown kind.
  virtual Result<void> ReloadPlugin(std::string_view kind) = 0;

  // A piece of a task's output. kUnsupported where the executor keeps none; kNotFound where it
  // knows no such task.
  virtual Result<LogChunk> ReadLog(const LogQuery& query) = 0;

  // JSON Schemas of the executors' specs by kind, for OpenAPI.
  virtual std::vector<std::pair<std::string, Json>> ExecutorSchemas() = 0;
};

}  // namespace detent
