// What a cluster serves of a kind: from "apps/v1" and "Deployment", as manifests have it, to the
// resource that requests name, whether it has namespaces, and its verbs. Never guessed from the
// kind's name. Source: Kubernetes API concepts, "Discovery API", the unaggregated form: one request
// for each group and version that is asked for, which every server answers, and which a broken
// extension server of another group does not spoil.
//
// Answers are kept. A kind that is not found is looked for again, but only so often; so a kind that
// is installed later is found without a restart, and one that does not exist costs the server
// little. While the server cannot be asked, what is known goes on being answered.
//
// Any thread. Callbacks come on the client's thread, and none after the destructor has returned,
// which must not be called there.

#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/kube/client.h"
#include "core/kube/resource.h"

namespace detent {

struct KubeKind {
  KubeResource resource;  // Without a subresource.
  std::string kind;
  bool namespaced = false;
  std::vector<std::string> verbs;         // "create", "get", ...; sorted.
  std::vector<std::string> subresources;  // "scale", "status"; sorted.
};

struct KubeDiscoveryOptions {
  std::chrono::milliseconds fresh{600'000};     // An answer is not asked for anew within.
  std::chrono::milliseconds miss_again{5'000};  // Nor is one that did not have the kind.
};

class KubeDiscovery {
 public:
  using Found = std::function<void(const Result<KubeKind>& kind)>;

  // `client` is borrowed and must outlive it.
  explicit KubeDiscovery(KubeClient& client, KubeDiscoveryOptions options = {});
  ~KubeDiscovery();
  KubeDiscovery(const KubeDiscovery&) = delete;
  KubeDiscovery& operator=(const KubeDiscovery&) = delete;

  // `found` is called once, unless this is destroyed first. Those who ask for the same group and
  // version at the same time share one request.
  // kInvalid: no apiVersion, or no kind. kNotFound: the server does not serve it; the message says
  // what it has instead, where there is a kind of nearly that name or another version of the group.
  // Others: the server could not be asked (CodeOf), and nothing is known from before.
  void Find(std::string_view api_version, std::string_view kind, Found found);

  // What is known of a group and version is asked for anew next time: a request to one of its
  // resources was answered as if there were none.
  void Forget(std::string_view api_version);

 private:
  class Core;
  std::shared_ptr<Core> core_;
};

}  // namespace detent
