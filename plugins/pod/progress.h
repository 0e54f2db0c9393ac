// A Pod that is not over: how far it is, and what it waits for. Pure, any thread.

#pragma once

#include "plugins/pod/outcome.h"

namespace detent::pod {

// Sets phase, reason and message. pod: not IsOver.
void DescribeProgress(sdk::TaskStatus& status, const Pod& pod, const Wish& wish);

}  // namespace detent::pod
