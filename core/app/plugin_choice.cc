#include "core/app/plugin_choice.h"

#include <algorithm>
#include <string>
#include <system_error>
#include <utility>

#include "core/app/host_works.h"
#include "core/plugin/loader.h"

namespace detent {
namespace {

Permission PermissionFrom(const DeclaredPermission& declared) {
  const KubeResource& resource = declared.resource;
  const std::string under = resource.subresource.empty() ? "" : "/" + resource.subresource;
  return {resource.group, {resource.plural + under}, declared.verbs};
}

// What was named besides joins, or replaces a plugin that nobody named.
Result<std::vector<PluginEntryConfig>> ChosenPlugins(const PluginChoice& choice) {
  HostConfig config;
  if (!choice.config.empty()) config = TRY(LoadConfig(choice.config));
  const bool named = !config.plugins.empty();
  std::vector<PluginEntryConfig> plugins = std::move(config.plugins);
  for (const std::string& file : choice.files) {
    PluginEntryConfig plugin = PluginFromPath(file);
    for (const PluginEntryConfig& other : plugins) {
      if (other.kind != plugin.kind) continue;
      return Error(Code::kInvalid, "two plugins are given for the kind '" + plugin.kind + "', " +
                                       other.path + " and " + plugin.path + "; drop one");
    }
    plugins.push_back(std::move(plugin));
  }
  if (named) return plugins;
  std::vector<PluginEntryConfig> all = DefaultPlugins(Home::kKubernetes);
  std::erase_if(all, [&](const PluginEntryConfig& standard) {
    return std::any_of(plugins.begin(), plugins.end(),
                       [&](const auto& plugin) { return plugin.kind == standard.kind; });
  });
  all.insert(all.end(), plugins.begin(), plugins.end());
  if (!all.empty()) return all;
  return Error(Code::kNotFound, "there are no plugins beside this binary (../lib/detent/plugins)");
}

}  // namespace

PluginEntryConfig PluginFromPath(const std::filesystem::path& path) {
  PluginEntryConfig plugin;
  plugin.path = std::filesystem::absolute(path).lexically_normal().string();
  plugin.kind = path.stem().string();
  return plugin;
}

std::vector<PluginEntryConfig> DefaultPlugins(Home home) {
  std::error_code failed;
  const auto binary = std::filesystem::read_symlink("/proc/self/exe", failed);
  const auto directory = binary.parent_path().parent_path() / "lib/detent/plugins";
  std::vector<PluginEntryConfig> plugins;
  for (const auto& file : std::filesystem::directory_iterator(directory, failed)) {
    if (file.path().extension() == ".so") plugins.push_back(PluginFromPath(file.path()));
  }
  std::sort(plugins.begin(), plugins.end(),
            [](const auto& a, const auto& b) { return a.kind < b.kind; });
  if (home == Home::kKubernetes) {
    std::erase_if(plugins, [](const auto& plugin) { return plugin.kind == "exec"; });
  }
  return plugins;
}

Result<std::vector<ExecutorPermissions>> LoadExecutorPermissions(
    const std::vector<PluginEntryConfig>& plugins) {
  HostConfig config;
  config.plugins = plugins;
  std::vector<ExecutorPermissions> executors;
  std::string wrong;
  for (const PluginConfig& plugin : PluginsOf(config)) {
    const auto loaded = LoadPlugin(plugin);
    if (!loaded) {
      wrong += (wrong.empty() ? "" : "\n") + loaded.error().message();
      continue;
    }
    ExecutorPermissions executor{plugin.kind, {}};
    for (const DeclaredPermission& declared : loaded->permissions) {
      executor.permissions.push_back(PermissionFrom(declared));
    }
    executors.push_back(std::move(executor));
  }
  if (!wrong.empty()) return Error(Code::kInvalid, std::move(wrong));
  return executors;
}

Result<std::vector<ExecutorPermissions>> PermissionsOfChoice(const PluginChoice& choice) {
  return LoadExecutorPermissions(TRY(ChosenPlugins(choice)));
}

}  // namespace detent
