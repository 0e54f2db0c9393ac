// How the client reaches the API server of a Kubernetes cluster: found as kubectl finds it, asked
// through KubeClient, which brings all forms of credentials along.
//
// One thread at a time; the client behind it has one of its own from the first request on.

#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "core/base/clock.h"
#include "core/base/result.h"
#include "core/cli/cli.h"
#include "core/cli/flags.h"
#include "core/cli/transport.h"
#include "core/kube/client.h"
#include "core/kube/cluster_access.h"

namespace detent {

// The cluster of --kubeconfig and --context, or of the environment, as the user knows it. Reads
// files, and asks nobody. Errors as FindClusterAccess.
Result<ClusterAccess> FindCluster(const ParsedFlags& flags, const CliIo& io);

// Of a client that asks for a person, who waits.
KubeClientOptions CliKubeOptions(std::chrono::milliseconds request_timeout);

// A reply of any status is a value, as over HTTP. kUnavailable, kUnauthorized (there are no
// credentials to show) and kDeadline say why there is none, in KubeClient's words. `clock` is
// borrowed.
std::unique_ptr<ClientTransport> MakeKubeTransport(ClusterAccess access,
                                                   std::chrono::milliseconds request_timeout,
                                                   const Clock& clock);

}  // namespace detent
