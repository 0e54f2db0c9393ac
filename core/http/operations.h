// What an operator asks for beside objects: health, metrics, plugins, and the reason why an object
// is where it is.

#pragma once

#include "core/http/api_context.h"
#include "core/http/router.h"

namespace detent {

// Adds /healthz, /livez, /readyz and /metrics: what a host answers that waits to lead, too.
// `context` must outlive the router, here and below.
void AddHealth(Router& router, const ApiContext& context);

// Adds these, /detent/v1/plugins and /detent/v1/settings.
void AddOperations(Router& router, const ApiContext& context);

// GET .../NAME/why: {"kind":"Explanation","lines":[...]}.
Response Why(const ApiContext& context, const Target& target);

}  // namespace detent
