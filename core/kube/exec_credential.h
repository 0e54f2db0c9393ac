// Credentials that a program prints: exec plugins of kubeconfigs. Blocks the calling thread.
//
// Source: KEP-541; the API client.authentication.k8s.io/v1 and /v1beta1 (ExecCredential).

#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "core/base/clock.h"
#include "core/base/result.h"
#include "core/kube/child_process.h"
#include "core/kube/cluster_access.h"

namespace detent {

// At least a token, or a certificate with its key.
struct ExecCredential {
  std::string token;
  std::string certificate_pem, key_pem;
  std::optional<WallTime> expires;
};

// Reads the ExecCredential that a plugin for this version printed. kInvalid: it is none, or nothing
// is in it. No error shows what was printed, which may be a secret.
Result<ExecCredential> ParseExecCredential(std::string_view text, const std::string& api_version);

// The value of KUBERNETES_EXEC_INFO: what the plugin is asked, and, where it wants to know, for
// which cluster. `ca_pem`: the authority's certificates, which may have been a file.
std::string ExecInfo(const ClusterAccess& access, const std::string& ca_pem, bool interactive);

struct ExecSurroundings {
  std::chrono::milliseconds timeout;
  const StopSignal& stop;
  const Clock& clock;
};

// Runs the plugin of `access`, which must have one. Errors are kUnauthorized; they name the
// program, say what it wrote to its standard error, and how it is installed if it is not there.
Result<ExecCredential> RunExecPlugin(const ClusterAccess& access, const std::string& ca_pem,
                                     const ExecSurroundings& around);

}  // namespace detent
