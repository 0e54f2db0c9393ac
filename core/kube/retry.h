// Whether a request may be sent once more after what came of it. Pure.

#pragma once

#include "core/net/transport.h"

namespace detent {

enum class Repeat {
  kIfBusy,       // Only after a 429.
  kIfNotSent,    // And where it provably had no effect.
  kIfItMayHelp,  // And wherever the server may answer better later.
};

// A 429 says that nothing was done. Other replies of the server stand, but for 5xx.
bool MayRepeat(const HttpReply& reply, Repeat repeat);

// True for 401, and for a handshake that failed: other credentials or certificates may help.
bool SaysRefused(const HttpReply& reply);

// True if it is the way to the server, or the server as a whole, that failed.
bool SaysUnreachable(HttpOutcome outcome);

}  // namespace detent
