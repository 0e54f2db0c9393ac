#include "core/app/cluster.h"

#include <cstdlib>
#include <utility>

namespace detent {
namespace {

KubeClientOptions ClientOptions(const ClusterOptions& options, const KubernetesConfig& config) {
  KubeClientOptions client;
  client.requests_per_second = static_cast<double>(config.requests_per_second);
  client.user_agent = kUserAgent;
  client.may_write = options.may_write;
  return client;
}

WatchOptions WatchOptionsOf(const KubernetesConfig& config) {
  WatchOptions options;
  options.relist = config.relist;
  return options;
}

KubeDoorOptions DoorOptions(const ClusterOptions& options) {
  KubeDoorOptions door;
  door.host_id = options.host_id;
  door.jobs_are_there = options.jobs_are_there;
  return door;
}

}  // namespace

const char* const kUserAgent = "detent/" DETENT_VERSION;

KubeEnvironment EnvironmentOfProcess() {
  return ReadKubeEnvironment(std::getenv);
}

bool IsInCluster(const KubeEnvironment& environment) {
  return InClusterAccess(environment).has_value();
}

std::string HomeNamespace(const KubernetesConfig& config) {
  if (!config.ns.empty()) return config.ns;
  const auto in_cluster = InClusterAccess(EnvironmentOfProcess());
  return in_cluster ? in_cluster->namespace_name : "detent";
}

Result<ClusterAccess> AccessOf(const KubernetesConfig& config) {
  KubeEnvironment environment = EnvironmentOfProcess();
  environment.kubeconfig_flag = config.kubeconfig;
  AccessOverrides overrides;
  overrides.context = config.context;
  auto access = FindClusterAccess(environment, overrides);
  if (!access) return std::move(access).error().While("find the cluster");
  return access;
}

Cluster::Cluster(ClusterAccess access, const ClusterOptions& options,
                 const KubernetesConfig& config, const Clock& clock, Logger& log)
    : client_(std::move(access), ClientOptions(options, config), clock, log),
      hub_(client_, WatchOptionsOf(config)),
      door_(client_, hub_, DoorOptions(options)) {}

Result<std::unique_ptr<Cluster>> Cluster::Find(const KubernetesConfig& config,
                                               const ClusterOptions& options, const Clock& clock,
                                               Logger& log) {
  auto access = AccessOf(config);
  if (access) {
    return std::make_unique<Cluster>(*std::move(access), options, config, clock, log);
  }
  if (config.is_explicit()) return std::move(access).error();
  if (access.error().code() != Code::kNotFound) {
    log.Warning("no cluster for executors", {{"error", access.error().message()}});
  }
  return std::unique_ptr<Cluster>();
}

}  // namespace detent
