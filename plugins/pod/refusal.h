// What it means for a task that the API server did not do what it was asked. Pure, any thread.

#pragma once

#include <string_view>

#include "detent/sdk/kube.h"
#include "detent/sdk/status.h"

namespace detent::pod {

// Whether a request with that answer may have had its effect all the same.
bool IsInDoubt(detent_status code);

// The answer to `start` where the Pod was certainly not created:
//
//   400, 413, 422          E_INVALID, InvalidPod: the attempt has failed, no other is made
//   403 quota              E_BUSY, QuotaExceeded: later
//   403 namespace ending   E_DENIED, NamespaceTerminating: the attempt has failed
//   401, other 403         E_UNAVAILABLE, Unauthorized or CreatePodsForbidden: later, for rights
//   can
//                          be granted
//   404                    E_UNAVAILABLE, NamespaceNotFound: later, for it can be made
//   409, 429, 5xx, none    E_UNAVAILABLE: later
//
// The name of another's Pod, E_FENCED and E_CLOSING stay what they are. The message is the
// server's.
sdk::Status RefusalOf(const sdk::KubeAnswer& create);

// The same answer for others than a creation: verb and resource as in "DeletePods".
sdk::Status RefusalOf(const sdk::KubeAnswer& answer, std::string_view verb_and_resource);

}  // namespace detent::pod
