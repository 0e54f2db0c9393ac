#include "plugins/pod/ending.h"

#include <algorithm>

#include "plugins/pod/rfc3339.h"

namespace detent::pod {
namespace {

using sdk::TaskStatus;
using Kind = Container::Kind;

void Conclude(TaskStatus& status, uint32_t result, std::string reason, std::string_view message) {
  status.result = result;
  status.reason = std::move(reason);
  status.message = Front(message, kMessageMost);
}

// When the last container that counts ended; 0: not said.
int64_t LastFinish(const Pod& pod) {
  int64_t last = 0;
  for (const Container& container : pod.containers) {
    if (container.kind == Kind::kSidecar) continue;
    last = std::max(last, container.ended.finished_ns);
  }
  return last;
}

// When the deletion was asked for. The server keeps the sum of that and the grace, also where the
// grace is shortened later.
int64_t DeletionAsked(const Pod& pod) {
  return pod.deleted_ns - pod.deletion_grace.value_or(0) * kNsPerSecond;
}

// Whether somebody's deletion ended it. Within the second in which both happened nobody can tell,
// and the deletion is the likelier cause.
bool WasCutShort(const Pod& pod) {
  if (!pod.deleting()) return false;
  const bool final_phase = pod.phase == "Succeeded" || pod.phase == "Failed";
  const int64_t finish = LastFinish(pod);
  return !final_phase || finish == 0 || finish >= DeletionAsked(pod);
}

bool MayStillRun(const Pod& pod) {
  return std::any_of(pod.containers.begin(), pod.containers.end(), [](const Container& container) {
    return container.state == Container::State::kRunning;
  });
}

// The container whose end made the Pod fail: an init container, since nothing begins behind it, or
// the main one that failed first.
const Container* FailedContainer(const Pod& pod) {
  const Container* first = nullptr;
  for (const Container& container : pod.containers) {
    const bool failed =
        container.ended.there && (container.ended.exit_code != 0 || container.ended.signal != 0);
    if (!failed || container.kind == Kind::kSidecar) continue;
    if (container.kind == Kind::kInit) return &container;
    if (first == nullptr || container.ended.finished_ns < first->ended.finished_ns) {
      first = &container;
    }
  }
  return first;
}

void TakeExit(TaskStatus& status, const Container* container) {
  if (container == nullptr || !container->ended.there) return;
  status.flags |= DETENT_TASK_EXITED;
  status.signal = container->ended.signal;
  status.exit_code = container->ended.signal != 0 ? -1 : container->ended.exit_code;
}

std::string ContainerEnd(const Container& container) {
  std::string text = container.kind == Kind::kInit ? "init container `" : "container `";
  return text + container.name + "` " + EndedHow(container.ended);
}

std::string_view ReasonOfExit(const Termination& ended) {
  if (!ended.reason.empty() && ended.reason != "Error" && ended.reason != "Completed") {
    return ended.reason;
  }
  return ended.signal != 0 ? "Signalled" : "ExitCode";
}

// It failed by itself, or its node or its deadline ended it.
void DescribeFailure(TaskStatus& status, const Pod& pod) {
  const Container* const container = FailedContainer(pod);
  TakeExit(status, container);
  std::string message;
  if (!pod.reason.empty()) {
    message = pod.message.empty() ? "the Pod failed" : pod.message;
    return Conclude(status, DETENT_RESULT_FAILED, ReasonOr(pod.reason, "PodFailed"), message);
  }
  if (const Condition* const why = DisruptionOf(pod)) {
    message = why->message.empty() ? "the Pod was disrupted" : why->message;
    return Conclude(status, DETENT_RESULT_FAILED, ReasonOr(why->reason, "Disrupted"), message);
  }
  if (container == nullptr) {
    message = pod.message.empty() ? "the Pod failed, and nothing says why" : pod.message;
    return Conclude(status, DETENT_RESULT_FAILED, "PodFailed", message);
  }
  message = ContainerEnd(*container);
  if (!container->ended.message.empty()) message += ": " + container->ended.message;
  Conclude(status, DETENT_RESULT_FAILED, ReasonOr(ReasonOfExit(container->ended), "ExitCode"),
           message);
}

// What had become of a Pod when it was deleted.
std::string StateAtDeletion(const Pod& pod) {
  if (pod.node.empty()) return "it had no node yet";
  if (MayStillRun(pod)) {
    return "nobody confirmed the end of its containers: they may still be running";
  }
  for (const Container& container : pod.containers) {
    const bool counts = container.kind == Kind::kMain && container.ended.there;
    if (counts) return ContainerEnd(container);
  }
  return "none of its main containers ran";
}

void DescribeDeletion(TaskStatus& status, const Pod& pod, const Wish& wish) {
  const Container* const main = pod.main();
  TakeExit(status, main);
  if (pod.node.empty()) status.flags |= DETENT_TASK_RERUN_SAFE;
  if (wish.killed) {
    return Conclude(status, DETENT_RESULT_KILLED, ReasonOr(wish.reason, "Killed"),
                    StateAtDeletion(pod));
  }
  if (const Condition* const why = DisruptionOf(pod)) {
    return Conclude(status, DETENT_RESULT_FAILED, ReasonOr(why->reason, "PodDeleted"),
                    (why->message.empty() ? "the Pod was deleted" : why->message) + "; " +
                        StateAtDeletion(pod));
  }
  // A node that gives up a Pod says why before somebody tidies up behind it.
  if (pod.phase == "Failed" && !pod.reason.empty()) return DescribeFailure(status, pod);
  Conclude(status, DETENT_RESULT_FAILED, "PodDeleted",
           "somebody deleted the Pod; " + StateAtDeletion(pod));
}

int64_t FinishedAt(const Pod& pod) {
  const int64_t last = LastFinish(pod);
  if (last != 0) return last;
  if (const Condition* const why = DisruptionOf(pod)) return why->since_ns;
  if (pod.reason == "DeadlineExceeded" && pod.deadline && pod.started_ns != 0) {
    return pod.started_ns + *pod.deadline * kNsPerSecond;
  }
  return pod.deleting() ? DeletionAsked(pod) : 0;
}

// A node may say that all containers ended before it says what that makes of the Pod.
bool DidItsWork(const Pod& pod) {
  if (pod.phase == "Succeeded") return true;
  return pod.phase != "Failed" && AllEnded(pod) && FailedContainer(pod) == nullptr;
}

}  // namespace

bool AllEnded(const Pod& pod) {
  return !pod.containers.empty() &&
         std::all_of(pod.containers.begin(), pod.containers.end(),
                     [](const Container& container) { return container.ended.there; });
}

const Condition* DisruptionOf(const Pod& pod) {
  const Condition* const condition = pod.condition(kDisruptionTarget);
  return condition != nullptr && condition->holds ? condition : nullptr;
}

std::string EndedHow(const Termination& ended) {
  if (ended.reason == "OOMKilled") {
    return "was killed: it used more memory than its limit allows";
  }
  std::string text = ended.signal != 0 ? "was ended by signal " + std::to_string(ended.signal)
                                       : "ended with exit code " + std::to_string(ended.exit_code);
  const bool telling =
      !ended.reason.empty() && ended.reason != "Error" && ended.reason != "Completed";
  return telling ? text + " (" + ended.reason + ")" : text;
}

void DescribeEnd(TaskStatus& status, const Pod& pod, const Wish& wish) {
  status.phase = DETENT_PHASE_TERMINATED;
  status.finished_ns = FinishedAt(pod);
  const bool cut = WasCutShort(pod);
  if (cut && wish.killed) return DescribeDeletion(status, pod, wish);
  if (DidItsWork(pod)) {
    TakeExit(status, pod.main());
    return Conclude(status, DETENT_RESULT_SUCCEEDED, "", "");
  }
  if (cut) return DescribeDeletion(status, pod, wish);
  DescribeFailure(status, pod);
}

}  // namespace detent::pod
