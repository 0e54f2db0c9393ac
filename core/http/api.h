// The whole API as one function from request to response: every path there is, wired once.

#pragma once

#include "core/http/api_context.h"
#include "core/http/request.h"

namespace detent {

// `context` must outlive the handler and every stream of its responses. Any thread may call it.
// Requests are counted in context.metrics.
Handler MakeApi(const ApiContext& context);

}  // namespace detent
