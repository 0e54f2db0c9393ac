// From a Pod to the status of its task: phase, result, reason, message, times, exit code, details.
// The whole table is in README.md. Pure, any thread.
//
// A task is over when its Pod has reached a phase that is final, or would be gone but for its
// finalizers. A Pod that was deleted while it ran has been killed if we asked for that, and has
// failed if we did not (rule J10 of Kubernetes' own Job tracking, KEP-2307): never is it lost
// without a word. What ended by itself before the deletion keeps its own result.

#pragma once

#include <string>

#include "detent/sdk/task.h"
#include "plugins/pod/pod.h"

namespace detent::pod {

// What the host asked for.
struct Wish {
  bool killed = false;
  std::string reason;  // why; empty: not said
};

// Whether nothing of the Pod runs any more, as far as the API server can know.
bool IsOver(const Pod& pod);

// All fields but `output`.
sdk::TaskStatus Describe(const Pod& pod, const Wish& wish);

// The Pod vanished; `last` is what was said of it last.
sdk::TaskStatus DescribeGone(sdk::TaskStatus last, const Wish& wish);

// It never came to be, because it was killed before.
sdk::TaskStatus DescribeNeverMade(const Wish& wish);

// `reason` where it is CamelCase of at most 64 bytes, else `fallback`.
std::string ReasonOr(std::string_view reason, std::string_view fallback);

// The first bytes of a text, whole UTF-8 sequences.
std::string_view Front(std::string_view text, size_t most);

}  // namespace detent::pod
