// Reads the answer to a LIST of Pods. Pure, any thread.

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plugins/pod/pod.h"

namespace detent::pod {

// nullopt: it is no list.
std::optional<std::vector<Pod>> ReadPodList(std::string_view json);

// "key in (a,b)" for the label of the tasks' keys, as a query string for LIST.
std::string QueryByKeys(const std::vector<std::string>& keys);

}  // namespace detent::pod
