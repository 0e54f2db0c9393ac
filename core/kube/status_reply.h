// What came of a request, in the server's own words: an HTTP reply turned into a KubeReply. Pure.
//
// Source: Kubernetes API conventions, "Response Status Kind".

#pragma once

#include "core/kube/client.h"
#include "core/net/transport.h"

namespace detent {

// The body of a success is moved, not read. Of a failure, `reason` and `message` are those of the
// server's Status; where it sent none, they are made of the HTTP status or the transport's outcome.
KubeReply ToKubeReply(HttpReply&& reply);

}  // namespace detent
