// The requests by which an object of Furiko's and ours of the same name are kept alike. Pure; any
// thread.
//
// Each names the object by its UID, so that it never meets another one that has got the name
// meanwhile. Source: Kubernetes API concepts; RFC 6902.

#pragma once

#include <string>

#include "core/furiko/furiko_state.h"
#include "core/kube/client.h"

namespace detent {

struct FurikoTarget {
  FurikoSide side = FurikoSide::kTheirs;
  ObjectKey key;
  std::string uid;
};

// `document` has apiVersion, kind, metadata and spec.
KubeRequest CreateRequest(FurikoSide side, const ObjectKey& key, const Json& document);

// `operations` of a JSON patch.
KubeRequest PatchRequest(const FurikoTarget& target, Json::Array operations);
// The whole status.
KubeRequest StatusRequest(const FurikoTarget& target, Json status);
// In the background, as kubectl does it.
KubeRequest DeleteRequest(const FurikoTarget& target);

// One operation that sets a member, whether or not it is there; one that takes it away.
Json SetOperation(const std::string& path, Json value);
Json RemoveOperation(const std::string& path);

}  // namespace detent
