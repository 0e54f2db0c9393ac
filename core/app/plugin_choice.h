// Which plugins are meant where a configuration names none, or flags name more of them, and what
// their executors need of a cluster. Blocks while plugins are loaded; any thread.

#pragma once

#include <filesystem>
#include <vector>

#include "core/app/config.h"
#include "core/base/result.h"
#include "core/cli/cli.h"
#include "core/install/permissions.h"

namespace detent {

// A plugin whose kind is its file's name.
PluginEntryConfig PluginFromPath(const std::filesystem::path& path);

// Those that were installed with the binary; for a host whose home is a cluster without exec, whose
// processes would run in the host's own pod.
std::vector<PluginEntryConfig> DefaultPlugins(Home home);

// Loads each, and has its permissions read. One line of the error for each that cannot be loaded.
Result<std::vector<ExecutorPermissions>> LoadExecutorPermissions(
    const std::vector<PluginEntryConfig>& plugins);

// For `detent install`. The files named besides win over default plugins of their kind; two of one
// kind that were both named are kInvalid.
Result<std::vector<ExecutorPermissions>> PermissionsOfChoice(const PluginChoice& choice);

}  // namespace detent
