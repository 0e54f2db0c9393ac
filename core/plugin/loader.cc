#include "core/plugin/loader.h"

#include <set>
#include <utility>

#include "core/plugin/abi_convert.h"
#include "core/plugin/probe.h"

namespace detent {
namespace {

const std::string kRebuild = "; rebuild it with the headers of this host (ABI " +
                             std::to_string(DETENT_ABI_MAJOR) + "." +
                             std::to_string(DETENT_ABI_MINOR) + ")";

Error Refused(std::string why) {
  return Error(Code::kInvalid, std::move(why));
}

detent_hello Hello() {
  static constexpr std::string_view kName = "detent";
  static constexpr std::string_view kVersion = "0.1.0";
  detent_hello hello{};
  hello.size = sizeof hello;
  hello.abi_major = DETENT_ABI_MAJOR;
  hello.abi_minor = DETENT_ABI_MINOR;
  hello.abi_minor_min = DETENT_ABI_MINOR;  // In major 0 only the same minor is understood.
  hello.mode = DETENT_MODE_IN_PROCESS;
  hello.host_name = View(kName);
  hello.host_version = View(kVersion);
  return hello;
}

bool IsReverseDns(std::string_view id) {
  if (id.empty() || id.size() > 128 || id.find('.') == std::string_view::npos) return false;
  for (const char c : id) {
    if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '-')) return false;
  }
  return true;
}

bool IsKind(std::string_view kind) {
  if (kind.empty() || kind.size() > 32 || kind[0] < 'a' || kind[0] > 'z') return false;
  for (const char c : kind) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (!letter && !(c >= '0' && c <= '9')) return false;
  }
  return true;
}

// D-SIZE-1 and the slots that executor.h calls mandatory.
Result<void> CheckExecutor(const detent_executor* executor) {
  if (executor == nullptr) return Refused("has an empty place in its list of executors" + kRebuild);
  constexpr size_t kLeast = offsetof(detent_executor, create);
  if (executor->size < kLeast || executor->size > 65536) {
    return Refused("describes an executor of an impossible size (" +
                   std::to_string(executor->size) + " bytes)" + kRebuild);
  }
  const std::string_view kind = Text(executor->kind);
  if (!IsKind(kind)) {
    return Refused("names an executor kind '" + Printable(kind) +
                   "'; a kind is 1 to 32 letters and digits and begins with a small letter");
  }
  const std::pair<const char*, bool> slots[] = {
      {"create", DETENT_HAS_FN(detent_executor, executor, create)},
      {"open", DETENT_HAS_FN(detent_executor, executor, open)},
      {"close", DETENT_HAS_FN(detent_executor, executor, close)},
      {"destroy", DETENT_HAS_FN(detent_executor, executor, destroy)},
      {"start", DETENT_HAS_FN(detent_executor, executor, start)},
      {"kill", DETENT_HAS_FN(detent_executor, executor, kill)},
  };
  for (const auto& [name, filled] : slots) {
    if (filled) continue;
    return Refused("leaves the function '" + std::string(name) + "' of executor '" +
                   std::string(kind) + "' empty; every executor must have it (rule D-LOAD-1)");
  }
  if (executor->state_version == 0 || executor->state_min_version > executor->state_version) {
    return Refused("gives executor '" + std::string(kind) +
                   "' no valid range of state versions; count state_version from 1");
  }
  return {};
}

Result<void> CheckHeader(const detent_plugin* plugin) {
  if (plugin == nullptr) {
    return Refused("does not speak this host's ABI: its entry function answered NULL" + kRebuild);
  }
  if (plugin->size < sizeof(detent_plugin) || plugin->size > 65536) {
    return Refused("describes itself in an impossible size (" + std::to_string(plugin->size) +
                   " bytes)" + kRebuild);
  }
  if (plugin->abi_major != DETENT_ABI_MAJOR || plugin->abi_minor != DETENT_ABI_MINOR) {
    return Refused("was built for ABI " + std::to_string(plugin->abi_major) + "." +
                   std::to_string(plugin->abi_minor) + kRebuild);
  }
  if (!IsReverseDns(Text(plugin->id))) {
    return Refused("calls itself '" + Printable(Text(plugin->id)) +
                   "'; a plugin's id is reverse DNS, like dev.example.hello (rule D-LOAD-1)");
  }
  const std::string_view version = Text(plugin->version);
  if (version.empty() || version.size() > 64 || version[0] < '0' || version[0] > '9') {
    return Refused("has the version '" + Printable(version) +
                   "'; a version is semantic, like 0.1.0 (rule D-LOAD-1)");
  }
  if (plugin->count == 0 || plugin->count > 64 || plugin->executors == nullptr) {
    return Refused("lists " + std::to_string(plugin->count) +
                   " executors; it must offer between 1 and 64 (rule D-LOAD-1)");
  }
  return {};
}

using Entry = detent_plugin_entry_fn;

Result<const detent_plugin*> ShakeHands(const SharedObject& object) {
  const auto entry = reinterpret_cast<Entry>(object.Symbol(DETENT_PLUGIN_ENTRY_NAME));
  if (entry == nullptr) {
    return Refused("exports no function " DETENT_PLUGIN_ENTRY_NAME
                   ", so it is no plugin; export it with DETENT_EXPORT");
  }
  const detent_hello hello = Hello();
  try {
    return entry(&hello);
  } catch (...) {
    return Refused("throws an exception out of " DETENT_PLUGIN_ENTRY_NAME " (rule D-EXC-1)");
  }
}

std::string TryOut(const std::string& load_path, const std::string& kind) {
  const auto object = SharedObject::Load(load_path);
  if (!object) return "cannot be loaded (" + object.error().message() + ")";
  const auto plugin = ShakeHands(*object);
  if (!plugin) return plugin.error().message();
  const auto executor = CheckDescriptor(*plugin, kind);
  if (!executor) return executor.error().message();
  const auto permissions = PermissionsOf(**executor);
  return permissions ? "" : permissions.error().message();
}

Result<LoadedPlugin> Load(const PluginConfig& config, const LoaderOptions& options) {
  if (config.isolation == "process") {
    return Refused(
        "is configured with isolation: process, but this version offers in_process only; "
        "set isolation: in_process");
  }
  if (config.isolation != "in_process") {
    return Refused("is configured with isolation: " + config.isolation + "; set in_process");
  }
  PluginFile file = TRY(PluginFile::Open(config.path, config.sha256));
  const std::string path = file.LoadPath();
  const std::string objection =
      RunInChild([&] { return TryOut(path, config.kind); }, options.probe_limit);
  if (!objection.empty()) return Refused(objection);
  const SharedObject object = TRY(SharedObject::Load(path));
  LoadedPlugin loaded;
  loaded.sha256 = file.sha256();
  file.KeepOpen();
  loaded.plugin = TRY(ShakeHands(object));
  loaded.executor = TRY(CheckDescriptor(loaded.plugin, config.kind));
  loaded.permissions = TRY(PermissionsOf(*loaded.executor));
  loaded.id = Text(loaded.plugin->id);
  loaded.version = Text(loaded.plugin->version);
  return loaded;
}

}  // namespace

Result<const detent_executor*> CheckDescriptor(const detent_plugin* plugin,
                                               const std::string& kind) {
  const auto header = CheckHeader(plugin);
  if (!header) return header.error();
  const detent_executor* wanted = nullptr;
  std::set<std::string_view> kinds;
  std::string offered;
  for (uint32_t i = 0; i < plugin->count; ++i) {
    const detent_executor* executor = plugin->executors[i];
    const auto checked = CheckExecutor(executor);
    if (!checked) return checked.error();
    const std::string_view own = Text(executor->kind);
    if (!kinds.insert(own).second) {
      return Refused("offers the kind '" + std::string(own) + "' twice (rule D-LOAD-1)");
    }
    offered += (offered.empty() ? "'" : ", '") + std::string(own) + "'";
    if (own == kind) wanted = executor;
  }
  if (wanted == nullptr) {
    return Refused("offers " + offered + ", but the configuration wants kind '" + kind +
                   "'; correct the kind, or name another file");
  }
  return wanted;
}

Result<LoadedPlugin> LoadPlugin(const PluginConfig& config, const LoaderOptions& options) {
  auto loaded = Load(config, options);
  if (loaded) return loaded;
  return Error(loaded.error().code(),
               "plugin " + config.path + " " + loaded.error().message() + ".");
}

}  // namespace detent
