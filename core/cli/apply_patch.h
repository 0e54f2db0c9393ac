// What `apply` sends: the merge patch (RFC 7386) that brings a stored object to what a file says,
// without touching what others have set. Pure.
//
// Three documents decide, as with kubectl: what was applied last time (an annotation on the stored
// object), what the file says now, and what is stored. Members that the file dropped since are
// removed, members that differ are set, all others stay as they are. Arrays are replaced whole.

#pragma once

#include "core/base/json.h"
#include "core/base/result.h"

namespace detent {

// `last_applied` may be null (nothing is removed then). An empty object: nothing to do.
Json ThreeWayPatch(const Json& last_applied, const Json& wanted, const Json& stored);

// `document` without status and what the server alone writes, with its own text as the annotation
// that the next apply reads.
Json WithLastApplied(Json document);

// What WithLastApplied left on a stored object; null where there is none. kInvalid: it is no JSON.
Result<Json> LastApplied(const Json& stored);

}  // namespace detent
