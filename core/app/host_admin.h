// What the API may ask of a running host, answered by its loop and its plugins. Any thread.

#pragma once

#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/control/admin.h"
#include "core/control/loop.h"
#include "core/plugin/plugin_host.h"

namespace detent {

class HostAdmin final : public Admin {
 public:
  // Borrowed.
  HostAdmin(Loop& loop, PluginHost& plugins) : loop_(loop), plugins_(plugins) {}

  Result<std::vector<std::string>> Explain(const ObjectKey& key) override;
  std::vector<PluginInfo> Plugins() override;
  Result<void> ReloadPlugin(std::string_view kind) override;
  Result<LogChunk> ReadLog(const LogQuery& query) override;
  std::vector<std::pair<std::string, Json>> ExecutorSchemas() override;

 private:
  Loop& loop_;
  PluginHost& plugins_;
  std::mutex reload_mutex_;  // One reload at a time.
};

}  // namespace detent
