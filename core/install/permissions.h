// Who may do what in a cluster that Detent runs in: the host, its executors, and the people who use
// it. Each has the fewest verbs that its work takes. Constant data, but for the executors', which
// their plugins declare (core/app reads them); any thread.
//
// Source: Kubernetes documentation, "Using RBAC Authorization".

#pragma once

#include <string>
#include <vector>

#include "core/base/json.h"

namespace detent {

// A rule of RBAC, for one API group.
struct Permission {
  std::string group;                   // Empty: the core group.
  std::vector<std::string> resources;  // "jobs", "jobs/status".
  std::vector<std::string> verbs;
  std::vector<std::string> names = {};  // Of these objects alone; empty: of all.
};

// In all namespaces, since Jobs may be in any.
const std::vector<Permission>& HostPermissions();
// In the host's own namespace.
const std::vector<Permission>& HostHomePermissions();

// What the executor of a kind needs, in all namespaces. Each kind has a ClusterRole of its own, so
// that who does not use it takes it away without touching the others; a kind that needs nothing has
// none.
struct ExecutorPermissions {
  std::string kind;
  std::vector<Permission> permissions;
};

// For people: added to the cluster's own roles `edit` and `view`, and so to those above them.
const std::vector<Permission>& EditorPermissions();
const std::vector<Permission>& ViewerPermissions();

// Where Furiko's kinds are served, too: what the host needs besides, and people.
const std::vector<Permission>& FurikoHostPermissions();
const std::vector<Permission>& FurikoEditorPermissions();
const std::vector<Permission>& FurikoViewerPermissions();

// The rules of a role, as rbac.authorization.k8s.io/v1 has them.
Json RulesJson(const std::vector<Permission>& permissions);

}  // namespace detent
