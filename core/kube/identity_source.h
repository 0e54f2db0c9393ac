// Makes what requests show out of a ClusterAccess: reads its files and runs its plugin. Blocks the
// calling thread; one thread at a time.

#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "core/base/clock.h"
#include "core/base/result.h"
#include "core/kube/child_process.h"
#include "core/kube/cluster_access.h"
#include "core/kube/exec_credential.h"
#include "core/net/headers.h"
#include "core/net/transport.h"

namespace detent {

// Shared by all requests of its time, and never changed.
struct KubeIdentity {
  HttpHeaders headers;                     // Authorization and impersonation.
  std::shared_ptr<const HttpTls> tls;      // Null: the server is plain http.
  MonoTime renew_at = MonoTime::max();     // From then on it is used and had anew meanwhile,
  MonoTime wait_at = MonoTime::max();      // from then on requests wait until it was tried,
  MonoTime valid_until = MonoTime::max();  // and from then on it is of no use.
};
using KubeIdentityPtr = std::shared_ptr<const KubeIdentity>;

struct CredentialTimes {
  std::chrono::milliseconds reread_files{60'000};
  std::chrono::milliseconds exec_timeout{60'000};
};

class IdentitySource {
 public:
  // All borrowed. `stop` ends a plugin that runs.
  IdentitySource(const ClusterAccess& access, CredentialTimes times, const Clock& clock,
                 const StopSignal& stop);

  // True if Make gives the same for ever: it reads no file and runs nothing, and cannot fail.
  bool is_constant() const { return !reads_files_ && !runs_plugin_; }

  // Everything as it is now. A plugin is run if what it gave is about to expire or was `refused`.
  // Where nothing of it changed, the HttpTls is that of the last time, so that connections are
  // kept. Errors name the file or the plugin; no error contains a secret.
  Result<KubeIdentity> Make(bool refused);

 private:
  Result<void> RenewPlugin(const std::string& ca_pem, bool refused);
  Result<HttpTls> MakeTls(const std::string& ca_pem) const;
  Result<std::string> Authorization();
  Result<std::string> TokenIn(const BearerTokenFile& file) const;
  HttpHeaders HeadersWith(const std::string& authorization) const;

  const ClusterAccess& access_;
  const CredentialTimes times_;
  const Clock& clock_;
  const StopSignal& stop_;
  const bool plain_;  // The server is plain http.
  bool reads_files_ = false;
  bool runs_plugin_ = false;
  std::shared_ptr<const HttpTls> tls_;     // The last one.
  std::optional<ExecCredential> printed_;  // By the plugin.
  MonoTime plugin_renew_at_ = MonoTime::max();
  MonoTime plugin_valid_until_ = MonoTime::max();
};

}  // namespace detent
