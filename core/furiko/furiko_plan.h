// What is to be done next for one name, so that what Furiko's group shows and what ours does agree.
// Pure; one thread.
//
// Everything is decided from what both groups show now, never from what was done before: a host
// that dies between any two requests is followed by one that goes on from what is there.
//
// A Job of an origin runs once, whatever happens in between:
//   1. ours is created, held: its startAfter is far away;
//   2. the origin's status gets the UID of ours (detentUID);
//   3. ours is let go.
// So where an origin has no detentUID nothing of it has ever run, and where it has one and ours is
// not there any more (its time to live is over, somebody deleted it) the origin goes, too.

#pragma once

#include <optional>
#include <string>

#include "core/api/admission.h"
#include "core/furiko/furiko_state.h"
#include "core/kube/client.h"

namespace detent {

struct FurikoStep {
  enum class Write : uint8_t { kCreate, kChange, kStatus, kDelete };
  Write write = Write::kChange;
  FurikoSide side = FurikoSide::kOurs;  // Whose object it changes.
  KubeRequest request;
};

struct FurikoPlanContext {
  AdmissionContext admission;
  // What the API server said when it refused to take what was made of the origin as it is now;
  // empty: it has not refused.
  std::string refusal;
};

// The next request for `key`, whose kind is JobConfig or Job. Nothing: all is as it should be, or
// somebody else is to move first.
std::optional<FurikoStep> NextFurikoStep(const FurikoState& state, const ObjectKey& key,
                                         const FurikoPlanContext& context);

}  // namespace detent
