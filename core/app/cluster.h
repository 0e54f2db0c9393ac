// The cluster that the host's executors work in: the client, its watches, and the door that plugins
// go through. Made where a host starts; it must outlive the plugins.

#pragma once

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

// What the process was started with, as far as clusters go: KUBECONFIG, HOME and what a pod has.
KubeEnvironment EnvironmentOfProcess();

class Cluster {
 public:
  // Null: there is none, and nobody asked for one. Errors: one was asked for and cannot be read.
  // `host_id` marks what this host makes there. Nothing is sent yet.
  static Result<std::unique_ptr<Cluster>> Find(const KubernetesConfig& config,
                                               const std::string& host_id, const Clock& clock,
                                               Logger& log);

  KubeDoor& door() { return door_; }

 private:
  Cluster(ClusterAccess access, KubeClientOptions options, const std::string& host_id,
          const Clock& clock, Logger& log);

  KubeClient client_;
  WatchHub hub_;
  KubeDoor door_;
};

}  // namespace detent
