// The details of a Pod for people: the `extra` of its task's status. Pure, any thread.
//
//   {"phase": "Failed", "node": "node-17", "podIP": "10.1.2.3",
//    "containers": [{"name": "main", "kind": "main", "state": "terminated", "exitCode": 3,
//                    "reason": "Error", "restarts": 0}]}

#pragma once

#include <string>

#include "plugins/pod/pod.h"

namespace detent::pod {

inline constexpr size_t kDetailsMost = 4 * 1024;

// At most kDetailsMost bytes: what has no room is counted in `containersOmitted`.
std::string DetailsOf(const Pod& pod);

}  // namespace detent::pod
