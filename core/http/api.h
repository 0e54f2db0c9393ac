// The whole API as one function from request to response: every path there is, wired once.

#pragma once

#include "core/http/api_context.h"
#include "core/http/request.h"

namespace detent {

// `context` must outlive the handler and every stream of its responses. Any thread may call it.
// Requests are counted in context.metrics.
Handler MakeApi(const ApiContext& context);

// The API of a host that has no store yet: health and metrics; the rest is 503 with the sentence
// that `why` gives.
Handler MakeStandbyApi(const ApiContext& context, std::function<std::string()> why);

}  // namespace detent
