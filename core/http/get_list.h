// Reading: get, list in pages, and what resource versions mean to them (Kubernetes' "resource
// versions" and KEP-365).
//
// Reads show the committed state, so any version up to the newest is "not older than" it. A list
// without a limit is one version; the pages of a limited one may come from different versions, and
// then carry the version of the first, from which a watch repeats what happened since.

#pragma once

#include "core/http/api_context.h"
#include "core/http/list_options.h"
#include "core/http/request.h"

namespace detent {

Response GetObject(const ApiContext& context, const Request& request, const Target& target);

// A list, or with `watch` a watch (core/http/watch.h). Also of one name.
Response ListOrWatch(const ApiContext& context, const Request& request, const Target& target);

// 504 if `options` ask for a version that is not there yet, 410 for an exact one that is past.
Outcome<bool> CheckVersion(const ListOptions& options, int64_t current);

}  // namespace detent
