// What an executor declares that it needs of a cluster (detent/ext/permissions.h), read and judged.
//
// Pure, but for the plugin's own function that names the extension; any thread. The loader reads it
// in its child process first, so that a table full of garbage costs the host nothing.

#pragma once

#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/kube/resource.h"
#include "detent/executor.h"

namespace detent {

struct DeclaredPermission {
  KubeResource resource;
  std::vector<std::string> verbs;  // Of RBAC, each once, in one order for all plugins.

  bool operator==(const DeclaredPermission&) const = default;
};

// Empty: the executor declares none. kInvalid: the declaration is wrong. The error follows the
// plugin's path in a sentence, names the executor and the item, and ends with what to do.
Result<std::vector<DeclaredPermission>> PermissionsOf(const detent_executor& executor);

}  // namespace detent
