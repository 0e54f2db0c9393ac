#include "core/app/cluster.h"

#include <cstdlib>
#include <utility>

namespace detent {
namespace {

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

KubeDoorOptions DoorOptions(const std::string& host_id) {
  KubeDoorOptions options;
  options.host_id = host_id;
  return options;
}

}  // namespace

KubeEnvironment EnvironmentOfProcess() {
  KubeEnvironment environment;
  environment.kubeconfig = Variable("KUBECONFIG");
  environment.home = Variable("HOME");
  environment.service_host = Variable("KUBERNETES_SERVICE_HOST");
  environment.service_port = Variable("KUBERNETES_SERVICE_PORT");
  environment.pod_namespace = Variable("POD_NAMESPACE");
  return environment;
}

Cluster::Cluster(ClusterAccess access, KubeClientOptions options, const std::string& host_id,
                 const Clock& clock, Logger& log)
    : client_(std::move(access), std::move(options), clock, log),
      hub_(client_, WatchOptions{}),
      door_(client_, hub_, DoorOptions(host_id)) {}

Result<std::unique_ptr<Cluster>> Cluster::Find(const KubernetesConfig& config,
                                               const std::string& host_id, const Clock& clock,
                                               Logger& log) {
  KubeEnvironment environment = EnvironmentOfProcess();
  environment.kubeconfig_flag = config.kubeconfig;
  AccessOverrides overrides;
  overrides.context = config.context;
  auto access = FindClusterAccess(environment, overrides);
  if (!access) {
    if (config.is_explicit()) return std::move(access).error().While("find the cluster");
    if (access.error().code() != Code::kNotFound) {
      log.Warning("no cluster for executors", {{"error", access.error().message()}});
    }
    return std::unique_ptr<Cluster>();
  }
  KubeClientOptions options;
  options.requests_per_second = static_cast<double>(config.requests_per_second);
  options.user_agent = "detent/" DETENT_VERSION;
  return std::unique_ptr<Cluster>(
      new Cluster(*std::move(access), std::move(options), host_id, clock, log));
}

}  // namespace detent
