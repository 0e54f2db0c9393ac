// What is put into a cluster before a host runs there: the namespace, our kinds, and who may do
// what. Pure; any thread.
//
// The host's Deployment is not among it: config/kubernetes has one, for what operators deploy with.

#pragma once

#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/install/permissions.h"
#include "core/kube/resource.h"

namespace detent {

// Also the name of each object that there is one of.
inline constexpr const char* kServiceAccount = "detent";

struct InstallObject {
  KubeResource resource;
  std::string ns;  // Empty: of the whole cluster.
  std::string name;
  Json document;
};

// "customresourcedefinition.apiextensions.k8s.io/jobs.execution.detent.dev", as kubectl says it.
std::string ToString(const InstallObject& object);

// In the order in which they are applied. `ns` is the host's namespace, `version` Detent's own.
// Kinds of executors differ.
std::vector<InstallObject> InstallObjects(const std::string& ns, const std::string& version,
                                          const std::vector<ExecutorPermissions>& executors);

// What is applied besides, so that Furiko's kinds are served.
std::vector<InstallObject> FurikoObjects(const std::string& ns, const std::string& version);

// All of them, as a stream of YAML documents.
std::string InstallYaml(const std::vector<InstallObject>& objects);

}  // namespace detent
