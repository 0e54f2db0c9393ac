#include "plugins/pod/progress.h"

#include <algorithm>
#include <iterator>

#include "plugins/pod/ending.h"
#include "plugins/pod/rfc3339.h"

namespace detent::pod {
namespace {

using sdk::TaskStatus;

// Waiting for these is what every container does for a while; all others are troubles.
bool IsOrdinaryWait(std::string_view reason) {
  constexpr std::string_view kOrdinary[] = {"", "ContainerCreating", "PodInitializing"};
  return std::find(std::begin(kOrdinary), std::end(kOrdinary), reason) != std::end(kOrdinary);
}

void Say(TaskStatus& status, std::string_view reason, std::string message) {
  status.reason = ReasonOr(reason, "PodWaits");
  status.message = Front(message, kMessageMost);
}

// A container that cannot be started, or not again: ErrImagePull, CrashLoopBackOff, ...
bool SayTrouble(TaskStatus& status, const Pod& pod) {
  for (const Container& container : pod.containers) {
    if (container.state != Container::State::kWaiting) continue;
    if (IsOrdinaryWait(container.waiting_reason)) continue;
    std::string message = "container `" + container.name + "`";
    if (!container.waiting_message.empty()) message += ": " + container.waiting_message;
    if (container.last.there) message += "; it last " + EndedHow(container.last);
    Say(status, container.waiting_reason, std::move(message));
    return true;
  }
  return false;
}

void SayStarting(TaskStatus& status, const Pod& pod) {
  if (SayTrouble(status, pod)) return;
  const Condition* const scheduled = pod.condition(kPodScheduled);
  if (scheduled != nullptr && scheduled->fails) {
    return Say(status, ReasonOr(scheduled->reason, "Unschedulable"), scheduled->message);
  }
  if (!pod.reason.empty()) return Say(status, pod.reason, pod.message);
  for (const Container& container : pod.containers) {
    if (container.kind == Container::Kind::kInit && container.state == Container::State::kRunning) {
      return Say(status, "Initializing", "init container `" + container.name + "` runs");
    }
  }
  for (const Container& container : pod.containers) {
    if (container.waiting_reason.empty()) continue;
    return Say(status, container.waiting_reason, container.waiting_message);
  }
}

void SayRunning(TaskStatus& status, const Pod& pod) {
  if (SayTrouble(status, pod)) return;
  if (!pod.reason.empty()) return Say(status, pod.reason, pod.message);
  const Container* const main = pod.main();
  if (main == nullptr || !main->ended.there) return;
  for (const Container& container : pod.containers) {
    if (container.state != Container::State::kRunning) continue;
    return Say(status, "WaitingForSidecar",
               "container `" + main->name + "` " + EndedHow(main->ended) + "; `" + container.name +
                   "` still runs");
  }
}

void SayDeleting(TaskStatus& status, const Pod& pod, const Wish& wish) {
  std::string message = "the Pod is being deleted";
  if (const Condition* const why = DisruptionOf(pod); why != nullptr && !wish.killed) {
    if (!why->message.empty()) message += " (" + why->message + ")";
    status.reason = ReasonOr(why->reason, "PodDeleted");
  } else {
    status.reason = wish.killed ? ReasonOr(wish.reason, "Killed") : "PodDeleted";
  }
  message += "; its containers have until " + FormatSeconds(pod.deleted_ns) + " to end";
  status.message = Front(message, kMessageMost);
}

}  // namespace

void DescribeProgress(TaskStatus& status, const Pod& pod, const Wish& wish) {
  if (pod.deleting()) {
    status.phase = DETENT_PHASE_KILLING;
    return SayDeleting(status, pod, wish);
  }
  if (pod.phase == "Unknown") {
    status.phase = DETENT_PHASE_UNKNOWN;
    return Say(status, ReasonOr(pod.reason, "NodeLost"), pod.message);
  }
  status.phase = pod.phase == "Running" ? DETENT_PHASE_RUNNING : DETENT_PHASE_STARTING;
  if (status.phase == DETENT_PHASE_RUNNING) return SayRunning(status, pod);
  // A Pod whose containers have not begun runs no more than one without a node.
  status.running_ns = 0;
  SayStarting(status, pod);
}

}  // namespace detent::pod
