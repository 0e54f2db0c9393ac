// Pod: what of a Pod's JSON a task's status is made of. Plain values; ReadPod is pure and costs
// some microseconds. Fields that are missing or of another kind read as empty: the API server wrote
// the text, and a newer one may write what is not known here.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace detent::pod {

// Times are wall clock nanoseconds since 1970-01-01 UTC, 0: unknown.
struct Termination {
  bool there = false;
  int32_t exit_code = 0, signal = 0;
  int64_t started_ns = 0, finished_ns = 0;
  std::string reason, message;
};

struct Container {
  enum class Kind : uint8_t {
    kMain,     // of spec.containers
    kInit,     // of spec.initContainers: must end before the main ones begin
    kSidecar,  // an init container with restartPolicy Always: ended after the main ones
  };
  enum class State : uint8_t { kUnknown, kWaiting, kRunning, kTerminated };

  std::string name;
  Kind kind = Kind::kMain;
  State state = State::kUnknown;  // Unknown: no status yet
  std::string waiting_reason, waiting_message;
  int64_t running_since_ns = 0;
  Termination ended;  // by state kTerminated
  Termination last;   // the run before this one
  int64_t restarts = 0;
};

// The types of conditions that are read.
inline constexpr std::string_view kPodScheduled = "PodScheduled";
inline constexpr std::string_view kDisruptionTarget = "DisruptionTarget";

struct Condition {
  std::string type, reason, message;
  bool holds = false;  // status "True"
  bool fails = false;  // status "False"
  int64_t since_ns = 0;
};

struct Pod {
  std::string ns, name, uid;
  std::string task_key;             // marks.h, kTaskKeyLabel
  uint64_t version = 0;             // resourceVersion, which grows; 0: no number
  std::string default_name;         // marks.h, kDefaultContainer
  std::optional<std::string> kill;  // marks.h, kKillAnnotation

  int64_t created_ns = 0;
  int64_t deleted_ns = 0;                 // deletionTimestamp: when its grace is over
  std::optional<int64_t> deletion_grace;  // seconds; 0: but for its finalizers it would be gone

  std::string node;                 // empty: not scheduled
  std::optional<int64_t> deadline;  // spec.activeDeadlineSeconds
  std::string phase, reason, message, ip;
  int64_t started_ns = 0;             // status.startTime: the node took it up
  std::vector<Condition> conditions;  // of the types below; a Pod has half a dozen more
  std::vector<Container> containers;  // init containers first, each in the order of the spec

  bool deleting() const { return deleted_ns != 0; }
  // The one whose exit code and output count: the default container, else the first main one;
  // nullptr if there is none.
  const Container* main() const;
  const Condition* condition(std::string_view type) const;
};

// What of a Pod ReadPod looks at, for those who are asked what they want to know (WatchRequest).
inline constexpr std::string_view kPodMembers =
    "spec.nodeName,spec.activeDeadlineSeconds,spec.containers.name,spec.initContainers.name,"
    "spec.initContainers.restartPolicy,status.phase,status.reason,status.message,status.podIP,"
    "status.startTime,status.conditions.type,status.conditions.status,status.conditions.reason,"
    "status.conditions.message,status.conditions.lastTransitionTime,"
    "status.initContainerStatuses.name,status.initContainerStatuses.state,"
    "status.initContainerStatuses.lastState,status.initContainerStatuses.restartCount,"
    "status.containerStatuses.name,status.containerStatuses.state,"
    "status.containerStatuses.lastState,status.containerStatuses.restartCount";

// nullopt: the text is no JSON object, or it says that it is of another kind than Pod or the
// metadata of one.
std::optional<Pod> ReadPod(std::string_view json);

}  // namespace detent::pod
