// The cluster that the host's executors work in: the client, its watches, and the door that plugins
// go through. Made where a host starts; it must outlive the plugins.

#pragma once

#include <functional>
#include <memory>
#include <string>

#include "core/app/config.h"
#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/base/result.h"
#include "core/kube/client.h"
#include "core/kube/kubeconfig.h"
#include "core/kube/watch_hub.h"
#include "core/plugin/kube_door.h"

namespace detent {

// "detent/0.1.0".
extern const char* const kUserAgent;

// What the process was started with, as far as clusters go: KUBECONFIG, HOME and what a pod has.
KubeEnvironment EnvironmentOfProcess();

// Whether the process runs in a pod that may speak to its cluster.
bool IsInCluster(const KubeEnvironment& environment);

// Where the host's own objects are, such as its Lease: as configured, the pod's, or "detent".
std::string HomeNamespace(const KubernetesConfig& config);

// How the cluster is reached. kNotFound: there is none, and nobody asked for one.
Result<ClusterAccess> AccessOf(const KubernetesConfig& config);

struct ClusterOptions {
  std::string host_id;              // Marks what this host makes there.
  bool jobs_are_there = false;      // Jobs are objects of this cluster.
  std::function<bool()> may_write;  // As KubeClientOptions has it.
};

class Cluster {
 public:
  // Null: there is none, and nobody asked for one. Errors: one was asked for and cannot be read.
  // Nothing is sent yet.
  static Result<std::unique_ptr<Cluster>> Find(const KubernetesConfig& config,
                                               const ClusterOptions& options, const Clock& clock,
                                               Logger& log);

  Cluster(ClusterAccess access, const ClusterOptions& options, const KubernetesConfig& config,
          const Clock& clock, Logger& log);

  KubeClient& client() { return client_; }
  KubeDoor& door() { return door_; }

 private:
  KubeClient client_;
  WatchHub hub_;
  KubeDoor door_;
};

}  // namespace detent
