// A Pod that is over: how it ended. Pure, any thread.

#pragma once

#include <string>

#include "plugins/pod/outcome.h"

namespace detent::pod {

inline constexpr size_t kMessageMost = 1000;  // of a message, below the host's 1 KiB

// Sets phase, result, flags, reason, message, exit code and the time of the end. pod: IsOver.
void DescribeEnd(sdk::TaskStatus& status, const Pod& pod, const Wish& wish);

// Whether the node has said of every container that it ended.
bool AllEnded(const Pod& pod);

// The condition DisruptionTarget, where it holds: the Pod had to make room, or its node was lost.
const Condition* DisruptionOf(const Pod& pod);

// "ended with exit code 3", "was killed: it used more memory than its limit allows", ...
std::string EndedHow(const Termination& ended);

}  // namespace detent::pod
