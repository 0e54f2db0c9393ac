// What a client learns before it asks for anything: groups, versions, resources and their short
// names, in both forms that kubectl knows, and the OpenAPI documents behind `kubectl explain`.

#pragma once

#include "core/http/api_context.h"
#include "core/http/router.h"

namespace detent {

// Adds /, /api, /apis, /openapi and /version with all below. `context` must outlive the router.
void AddDiscovery(Router& router, const ApiContext& context);

}  // namespace detent
