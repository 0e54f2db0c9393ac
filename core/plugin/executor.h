// An executor as the controllers see it: asks go in without waiting, news comes back as events.
//
// Calls are made by the loop's thread and never block. News is delivered through the ExecutorSink,
// from any thread, and what was asked about one task is answered in order.

#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/api/task.h"
#include "core/base/clock.h"

namespace detent {

// The host's name for a task in hand: chosen by the loop, unique until the host ends.
using TaskId = uint64_t;

// JSON text for an executor, filled in; null is an empty one. Shared: tasks of a Job whose spec
// uses no variables have one between them.
using SpecText = std::shared_ptr<const std::string>;

inline SpecText MakeSpecText(std::string json) {
  return std::make_shared<const std::string>(std::move(json));
}

// What an executor needs to know to start or find a task.
struct TaskOrder {
  TaskId id = 0;
  std::string key;  // TaskKey(): stable over restarts. Its first part is the Job's UID.
  std::string name;
  std::string ns;
  std::string job_name;  // The Job it is of; in full, where `name` may have it cut.
  int64_t attempt = 1;
  SpecText spec;
  std::string handle;  // The last checkpoint; empty if none.
  uint32_t handle_version = 0;
  TaskState last_state = TaskState::kHeld;
};

// How a task stands. A level, not an edge: the newest replaces all before.
struct TaskNews {
  TaskId id = 0;
  TaskStatus status;
};

// The executor took the task, or will not.
struct StartAnswer {
  TaskId id = 0;
  bool accepted = true;
  // Where not accepted: try again later (nothing was started), or never.
  bool retry = false;
  std::chrono::milliseconds retry_after{0};
  std::string reason;
  std::string message;
};

enum class Recovery : uint8_t {
  kAdopted,
  kTerminated,
  kNotFound,
  kLost,
  kRetryLater,
  kIncompatible
};

struct RecoverAnswer {
  TaskId id = 0;
  Recovery recovery = Recovery::kAdopted;
  bool rerun_safe = false;  // Of kLost: it may be repeated without harm.
  std::chrono::milliseconds retry_after{0};
  std::string reason;
  std::string message;
};

// A checkpoint to be made durable; `ack` is called by the loop once it is.
struct CheckpointRequest {
  TaskId id = 0;
  std::string handle;
  uint32_t handle_version = 0;
  std::function<void(bool durable)> ack;
};

// The kill was taken (the end itself comes as TaskNews), or could not be.
struct KillAnswer {
  TaskId id = 0;
  bool accepted = true;
  std::string reason;
  std::string message;
};

// An executor became usable, or stopped being so. `reason` and `message` say why not.
struct ExecutorChange {
  std::string kind;
  bool usable = false;
  std::string reason;
  std::string message;
};

// An object of the backend that carries this host's marks for a task which the executor does not
// have in hand. Told whenever it is seen, so also of tasks that are about to be recovered.
struct StrayObject {
  std::string kind;      // Of the executor.
  std::string task_key;  // TaskKey().
};

using ExecutorEvent = std::variant<TaskNews, StartAnswer, RecoverAnswer, CheckpointRequest,
                                   KillAnswer, ExecutorChange, StrayObject>;

// Where news goes. Any thread; moves the events out of the vector.
class ExecutorSink {
 public:
  virtual ~ExecutorSink() = default;
  virtual void Post(std::vector<ExecutorEvent>& events) = 0;
};

struct KillOrder {
  TaskId id = 0;
  bool immediate = false;              // False: ask first, and wait `grace`.
  std::chrono::milliseconds grace{0};  // 0: the executor's own, or what the task's spec says.
  std::string reason;
};

class Executor {
 public:
  virtual ~Executor() = default;

  // Idempotent by `key`: after a crash nobody knows whether the first call took effect.
  virtual void Start(TaskOrder order) = 0;
  virtual void Recover(TaskOrder order) = 0;
  virtual void Kill(KillOrder order) = 0;
  virtual void ForceDelete(TaskId id) = 0;
  // The outcome is durable: the executor lets go. The id is dead from here on.
  virtual void Release(TaskId id) = 0;
  // The Task object is deleted: what was kept of it (its output) may go. By key: the id is dead.
  virtual void Discard(const std::string& key) = 0;
  // Takes the marks off a stray object, so that it may go; `remove`: and deletes it.
  virtual void LetGo(const std::string& key, bool remove) = 0;
  // Everything asked so far in this pass may be sent on: calls between two flushes are one batch.
  virtual void Flush() = 0;
};

// Kind to executor.
class ExecutorDirectory {
 public:
  virtual ~ExecutorDirectory() = default;
  // Null where the kind is unknown or cannot be used now; WhyNot says which. The loop's thread.
  virtual Executor* Find(std::string_view kind) = 0;
  // The backend's objects are the record of the kind's tasks (DETENT_CAP_BACKEND_RECORD), so that
  // none is stored. Known as soon as the plugin is loaded, before it can be used.
  virtual bool BackendIsRecord(std::string_view kind) = 0;
  // {reason, message} of a kind that Find answers null for.
  virtual std::pair<std::string, std::string> WhyNot(std::string_view kind) = 0;
  // What keeps a kind that can be used from its work at the moment, in its executor's words: a
  // backend that cannot be reached, say. Empty: nothing is known to.
  virtual std::string Complaint(std::string_view kind) = 0;
  virtual void FlushAll() = 0;
};

}  // namespace detent
