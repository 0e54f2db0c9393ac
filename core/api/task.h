// Task: one attempt at one index of a Job, carried out by an executor of one kind. Values.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/api/object.h"
#include "core/base/clock.h"

namespace detent {

// What is known of a task's life. Held = intended, and not yet handed to an executor.
enum class TaskState : uint8_t { kHeld, kStarting, kRunning, kKilling, kTerminated };
enum class TaskResult : uint8_t { kNone, kSucceeded, kFailed, kKilled, kLost };

const char* NameOf(TaskState state);
const char* NameOf(TaskResult result);  // "" for kNone.
std::optional<TaskState> TaskStateFromName(std::string_view name);
std::optional<TaskResult> TaskResultFromName(std::string_view name);

struct TaskSpec {
  std::string job_name;
  std::string job_uid;
  int64_t index = 0;
  int64_t attempt = 1;  // From 1.
  std::string kind;     // The executor's kind; in JSON the name of the member that holds `spec`.
  std::string executor_spec;               // JSON text, `${...}` filled in.
  std::optional<WallTime> kill_timestamp;  // Set to have this Task killed.
  bool operator==(const TaskSpec&) const = default;
};

struct TaskStatus {
  TaskState state = TaskState::kHeld;
  TaskResult result = TaskResult::kNone;
  std::string reason;   // CamelCase.
  std::string message;  // At most limits::kTaskMessageBytes.
  std::optional<int64_t> exit_code;
  std::optional<int64_t> signal;
  std::optional<WallTime> started;  // The executor took it.
  std::optional<WallTime> running;
  std::optional<WallTime> finished;
  std::string object_ref;    // The executor's own name for it ("pid 4711"), for people; or empty.
  std::string extra;         // JSON text of an object with details for people, or empty.
  std::string output;        // JSON text of the result, or empty; at most limits::kTaskOutputBytes.
  bool rerun_safe = false;   // The attempt may be repeated without harm.
  bool never_retry = false;  // Another attempt cannot help.
  std::string handle;        // What the plugin asked to keep (its checkpoint), bytes.
  uint32_t handle_version = 0;
  bool operator==(const TaskStatus&) const = default;
};

}  // namespace detent
