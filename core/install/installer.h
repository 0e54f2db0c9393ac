// Puts Detent's objects into a cluster by server-side apply, and looks whether the cluster is then
// as a host needs it. What is there already stays, so that it can be run again at any time, and
// with a newer version.
//
// One thread; blocks while it waits for the API server. All of the outside is passed in.
//
// Source: Kubernetes documentation, "Server-Side Apply".

#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "core/api/object.h"
#include "core/base/clock.h"
#include "core/base/result.h"
#include "core/install/access_question.h"
#include "core/install/objects.h"
#include "core/kube/client.h"

namespace detent {

// The cluster, as an installation deals with it.
struct InstallPort {
  std::function<KubeReply(KubeRequest)> fetch;
  std::function<void(std::chrono::milliseconds)> pause;
  const Clock& clock;
};

struct InstallOptions {
  std::string ns = "detent";  // The host's. Made if it is not there.
  std::string version;        // Of this Detent, "0.1.0".
  bool dry_run = false;       // The API server checks everything, and nothing is changed.
  bool furiko_group = false;  // Furiko's kinds are served as well.
  bool take_over = false;     // Fields that others set differently become ours.
  std::vector<ExecutorPermissions> executors = {};    // Each gets a role. Kinds differ.
  std::chrono::milliseconds timeout{60'000};          // For the cluster to follow.
  std::chrono::milliseconds request_timeout{30'000};  // For one answer.
};

// All that is applied.
std::vector<InstallObject> ObjectsOf(const InstallOptions& options);

class Installer {
 public:
  using Tell = std::function<void(const std::string& line)>;

  // `tell` is called with a line for each object, as it is done.
  Installer(InstallPort port, InstallOptions options, Tell tell);

  // In this order, and up to the first step that fails:
  //   whether the API server is new enough, and lets us do all that follows;
  //   whether what is there is not newer than we are, and not a host's in another namespace; where
  //   Furiko's kinds are to be served, whether no Furiko is there;
  //   each object is applied;
  //   (not in a dry run) our kinds are established and served, and the host's ServiceAccount may
  //   do what the host and its executors do.
  // The message has a sentence for each thing that is missing, on a line of its own.
  // kForbidden: a permission; kConflict: somebody else's fields, or a newer Detent's; kDeadline:
  // the cluster did not follow in time.
  Result<void> Run();

 private:
  struct Present {
    const InstallObject* object;
    Json stored;  // Null: not there.
  };

  Result<Json> Ask(KubeRequest request);
  Result<void> CheckServer();
  Result<std::vector<std::string>> Denied(std::vector<AccessQuestion>& questions,
                                          const AccessSubject& subject);
  Result<void> CheckOwnRights();
  Result<void> ReadPresent();
  Result<void> CheckNotNewer(const Present& present) const;
  Result<void> CheckOneHome(const Present& present) const;
  Result<void> CheckNoFuriko();
  Result<void> Apply(const Present& present);
  bool HasNamespace() const;
  Result<void> WaitForKinds();
  Result<std::string> MissingOfKinds();
  Result<std::string> MissingOfGroup(const std::string& group, const std::vector<Kind>& kinds);
  Result<void> WaitForHostRights();

  const InstallPort port_;
  const InstallOptions options_;
  const Tell tell_;
  const std::vector<InstallObject> objects_;
  std::vector<Present> present_;
};

}  // namespace detent
