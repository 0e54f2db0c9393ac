#include "core/app/host_admin.h"

#include <memory>
#include <optional>

namespace detent {

Result<std::vector<std::string>> HostAdmin::Explain(const ObjectKey& key) {
  using Answer = std::optional<Result<std::vector<std::string>>>;
  auto answer = std::make_shared<Answer>();
  const bool ran =
      loop_.CallAndWait([answer, key](Engine& engine) { *answer = engine.Explain(key); });
  if (!ran) return Error(Code::kUnavailable, "the host is too busy to answer; try again");
  return std::move(**answer);
}

std::vector<PluginInfo> HostAdmin::Plugins() {
  return plugins_.Plugins();
}

Result<void> HostAdmin::ReloadPlugin(std::string_view kind) {
  std::lock_guard lock(reload_mutex_);
  return plugins_.Reload(kind);
}

Result<LogChunk> HostAdmin::ReadLog(const LogQuery& query) {
  return plugins_.ReadLog(query.kind, {query.task_key, query.offset, query.bytes_max});
}

std::vector<std::pair<std::string, Json>> HostAdmin::ExecutorSchemas() {
  return plugins_.Schemas();
}

}  // namespace detent
