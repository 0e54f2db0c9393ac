// Statuses in Furiko's terms. Pure; any thread.
//
// What they may hold is in core/crd (FurikoStatusFieldsOf): the API server drops everything else.

#pragma once

#include <string>

#include "core/base/clock.h"
#include "core/base/json.h"
#include "core/furiko/furiko_state.h"

namespace detent {

// Of the Job that `ours` is. One that has no status yet is queued.
Json FurikoJobStatus(const KnownObject& ours);
// Of the JobConfig that `ours` is.
Json FurikoJobConfigStatus(const KnownObject& ours);

struct FurikoTrouble {
  std::string reason;  // CamelCase.
  std::string message;
};

// A Job that nothing is made for: not yet, or (the second) never.
Json QueuedFurikoJobStatus(const FurikoTrouble& why);
Json RefusedFurikoJobStatus(const FurikoTrouble& why, WallTime now);
// A JobConfig that nothing is made for, or (`ours` is not null) not what it says by now.
Json RefusedFurikoJobConfigStatus(const FurikoTrouble& why, const KnownObject* ours);

}  // namespace detent
