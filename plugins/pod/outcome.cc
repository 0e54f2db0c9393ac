#include "plugins/pod/outcome.h"

#include <algorithm>

#include "plugins/pod/details.h"
#include "plugins/pod/ending.h"
#include "plugins/pod/progress.h"
#include "plugins/pod/rfc3339.h"

namespace detent::pod {
namespace {

using Kind = Container::Kind;
using State = Container::State;

// When a main container began first, in whichever of its runs is still known.
int64_t RunningSince(const Pod& pod) {
  int64_t first = 0;
  const auto look = [&](int64_t ns) {
    if (ns > 0 && (first == 0 || ns < first)) first = ns;
  };
  for (const Container& container : pod.containers) {
    if (container.kind != Kind::kMain) continue;
    look(container.running_since_ns);
    look(container.ended.started_ns);
    look(container.last.started_ns);
  }
  return first;
}

}  // namespace

bool IsOver(const Pod& pod) {
  if (pod.phase == "Succeeded" || pod.phase == "Failed") return true;
  if (!pod.deleting()) return false;
  // No node will ever take it up; or the node, or somebody who did not want to wait for the node,
  // has said that it may go; or the node has said that all has ended, though not yet the phase.
  return pod.node.empty() || pod.deletion_grace == 0 || AllEnded(pod);
}

sdk::TaskStatus Describe(const Pod& pod, const Wish& wish) {
  sdk::TaskStatus status;
  status.object_ref = pod.ns + "/" + pod.name;
  status.created_ns = pod.created_ns;
  status.running_ns = RunningSince(pod);
  status.extra = DetailsOf(pod);
  if (IsOver(pod)) {
    DescribeEnd(status, pod, wish);
  } else {
    DescribeProgress(status, pod, wish);
  }
  return status;
}

sdk::TaskStatus DescribeGone(sdk::TaskStatus last, const Wish& wish) {
  last.phase = DETENT_PHASE_TERMINATED;
  last.flags = 0;
  if (wish.killed) {
    last.result = DETENT_RESULT_KILLED;
    last.reason = ReasonOr(wish.reason, "Killed");
    last.message = "the Pod is gone";
  } else {
    last.result = DETENT_RESULT_FAILED;
    last.reason = "PodDeleted";
    last.message = "the Pod is gone: somebody removed it and its finalizer before its end was seen";
  }
  return last;
}

sdk::TaskStatus DescribeNeverMade(const Wish& wish) {
  sdk::TaskStatus status;
  status.phase = DETENT_PHASE_TERMINATED;
  status.result = DETENT_RESULT_KILLED;
  status.flags = DETENT_TASK_RERUN_SAFE;
  status.reason = ReasonOr(wish.reason, "Killed");
  status.message = "the Pod was never made";
  return status;
}

std::string ReasonOr(std::string_view reason, std::string_view fallback) {
  const auto letter = [](char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); };
  const auto fits = [&](char c) { return letter(c) || (c >= '0' && c <= '9'); };
  const bool good = !reason.empty() && reason.size() <= 64 && letter(reason.front()) &&
                    std::all_of(reason.begin(), reason.end(), fits);
  return std::string(good ? reason : fallback);
}

std::string_view Front(std::string_view text, size_t most) {
  if (text.size() <= most) return text;
  while (most > 0 && (text[most] & 0xC0) == 0x80) --most;
  return text.substr(0, most);
}

}  // namespace detent::pod
