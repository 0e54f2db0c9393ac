// What the tests in front of a real API server share: where it is, and how it is asked.

#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>
#include <string>

#include "core/kube/client.h"
#include "core/kube/cluster_access.h"
#include "core/kube/kubeconfig.h"

namespace detent {

constexpr const char* kNoCluster = "DETENT_TEST_KUBECONFIG names no cluster; ctest brings one up";

inline std::string FromEnvironment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

inline KubeRequest Ask(const char* method, const std::string& path, const std::string& body = "") {
  KubeRequest request;
  request.method = method;
  request.path = path;
  request.body = body;
  if (request.method == "PATCH") request.content_type = "application/merge-patch+json";
  return request;
}

// The cluster of the kubeconfig at `path`; nullopt where that is empty, and after a failure.
inline std::optional<ClusterAccess> AccessOf(const std::string& path) {
  if (path.empty()) return std::nullopt;
  const auto config = LoadKubeConfig({{path}, true});
  auto access = config ? Resolve(*config) : Result<ClusterAccess>(config.error());
  if (access) return *std::move(access);
  ADD_FAILURE() << access.error().message();
  return std::nullopt;
}

}  // namespace detent
