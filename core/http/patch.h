// PATCH: JSON merge patch (RFC 7386) and JSON patch (RFC 6902). As for custom resources in
// Kubernetes there is no strategic merge; server-side apply needs field ownership, which Detent
// does not keep, so kubectl must apply on its side.

#pragma once

#include "core/http/api_context.h"
#include "core/http/request.h"

namespace detent {

// 415 names the patches that are accepted.
Response Patch(const ApiContext& context, const Request& request, const Target& target);

}  // namespace detent
