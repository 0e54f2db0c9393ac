// Changing a JSON document by a patch: RFC 7386 (merge patch) and RFC 6902 (JSON patch). Pure.

#pragma once

#include "core/base/json.h"
#include "core/base/result.h"

namespace detent {

// RFC 7386: members of `patch` replace those of `target`, null removes, objects merge.
Json MergePatch(Json target, const Json& patch);

// RFC 6902: applies all operations, or none. Errors name the operation by its place ("/3: test
// failed: ..."): kInvalid for a malformed patch or a missing path.
Result<Json> ApplyJsonPatch(Json target, const Json& patch);

}  // namespace detent
