// TaskRef: what to run, as start and recover are told. Task: an executor's own record of a task it
// follows; derive from it, and keep timers and calls as members, so that letting go of the task
// cancels all of them. Strand only.

#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "detent/sdk/callback.h"
#include "detent/sdk/host.h"
#include "detent/task.h"

namespace detent::sdk {

// Borrowed for the call: copy what you keep. Fields as in detent/task.h.
struct TaskRef {
  explicit TaskRef(const detent_task_ref& ref)
      : task(ref.task),
        attempt(ref.attempt),
        key(View(ref.key)),
        name(View(ref.name)),
        namespace_(View(ref.namespace_)),
        spec(View(ref.spec)),
        has_blob(ref.blob != nullptr),
        state_version(ref.blob == nullptr ? 0 : ref.blob->state_version),
        blob(ref.blob == nullptr ? std::string_view() : View(ref.blob->data)),
        last_phase(ref.last_phase),
        flags(ref.flags),
        deadline_ns(ref.deadline_ns),
        index(DETENT_HAS(detent_task_ref, &ref, index) ? ref.index : 0),
        job_name(DETENT_HAS(detent_task_ref, &ref, job_name) ? View(ref.job_name) : ""),
        job_uid(DETENT_HAS(detent_task_ref, &ref, job_uid) ? View(ref.job_uid) : "") {}

  bool MaybeStarted() const { return (flags & DETENT_REF_MAYBE_STARTED) != 0; }
  bool StartAcked() const { return (flags & DETENT_REF_START_ACKED) != 0; }
  bool KillAsked() const { return (flags & DETENT_REF_KILL_ASKED) != 0; }

  detent_task task;
  uint32_t attempt;
  std::string_view key, name, namespace_, spec;
  bool has_blob;
  uint32_t state_version;
  std::string_view blob;
  uint32_t last_phase, flags;
  int64_t deadline_ns;
  uint64_t index;
  std::string_view job_name, job_uid;
};

// How a task goes; a full picture each time. Fields as in detent_task_status.
struct TaskStatus {
  uint32_t phase = DETENT_PHASE_UNKNOWN;
  uint32_t result = DETENT_RESULT_NONE;
  uint32_t flags = 0;
  int64_t created_ns = 0, running_ns = 0, finished_ns = 0;
  int32_t exit_code = 0, signal = 0;
  std::string reason, message, object_ref;
  std::string output;  // JSON, or empty
  std::string extra;   // JSON object, or empty
};

class Task {
 public:
  Task(const Host& host, const TaskRef& ref)
      : host_(host), handle_(ref.task), key_(ref.key), name_(ref.name) {}
  virtual ~Task() = default;
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;

  const Host& host() const { return host_; }
  detent_task handle() const { return handle_; }
  const std::string& key() const { return key_; }
  const std::string& name() const { return name_; }

  // What was said last; change it and call Update() with it to keep what stays the same.
  const TaskStatus& status() const { return status_; }
  bool Terminated() const { return status_.phase == DETENT_PHASE_TERMINATED; }

  detent_status Update(TaskStatus status) {
    status_ = std::move(status);
    detent_task_status c{};
    c.size = sizeof(c);
    c.phase = status_.phase;
    c.result = status_.result;
    c.flags = status_.flags;
    c.seq = ++seq_;
    c.created_ns = status_.created_ns;
    c.running_ns = status_.running_ns;
    c.finished_ns = status_.finished_ns;
    c.exit_code = status_.exit_code;
    c.signal = status_.signal;
    c.reason = Str(status_.reason);
    c.message = Str(status_.message);
    c.object_ref = Str(status_.object_ref);
    c.output = Bytes(status_.output);
    c.extra = Bytes(status_.extra);
    return host_.table()->task_update(host_.instance(), handle_, &c);
  }

  // The usual steps, with the host's clock for the times.
  detent_status Running() {
    TaskStatus next = status_;
    next.phase = DETENT_PHASE_RUNNING;
    if (next.running_ns == 0) next.running_ns = host_.WallNs();
    return Update(std::move(next));
  }
  detent_status Killing() {
    TaskStatus next = status_;
    next.phase = DETENT_PHASE_KILLING;
    return Update(std::move(next));
  }
  detent_status Succeeded(std::string output_json = {}) {
    status_.output = std::move(output_json);
    return End(DETENT_RESULT_SUCCEEDED, {}, {});
  }
  detent_status Failed(std::string reason, std::string message) {
    return End(DETENT_RESULT_FAILED, std::move(reason), std::move(message));
  }
  detent_status Killed(std::string reason = {}, std::string message = {}) {
    return End(DETENT_RESULT_KILLED, std::move(reason), std::move(message));
  }

  // Makes `blob` durable, then calls done with how that went, unless this Task ended meanwhile.
  void Checkpoint(uint32_t state_version, std::string_view blob, Callback<const Status&> done);

 protected:
  // For callbacks that nothing cancels (Host::Post): expired once this Task is gone.
  std::weak_ptr<const int> Alive() const { return alive_; }

 private:
  detent_status End(uint32_t result, std::string reason, std::string message) {
    TaskStatus next = status_;
    next.phase = DETENT_PHASE_TERMINATED;
    next.result = result;
    next.reason = std::move(reason);
    next.message = std::move(message);
    next.finished_ns = host_.WallNs();
    return Update(std::move(next));
  }

  Host host_;
  detent_task handle_;
  std::string key_, name_;
  TaskStatus status_;
  uint64_t seq_ = 0;
  std::shared_ptr<const int> alive_ = std::make_shared<const int>(0);

  friend class Executor;  // keeps seq rising when a record of the same handle is replaced
};

inline void Task::Checkpoint(uint32_t state_version, std::string_view blob,
                             Callback<const Status&> done) {
  struct Held {
    Host host;
    std::weak_ptr<const int> alive;
    Callback<const Status&> done;
  };
  auto held = std::make_unique<Held>(Held{host_, alive_, std::move(done)});
  const detent_cb written = [](void* ctx, const detent_result* result) {
    const std::unique_ptr<Held> mine(static_cast<Held*>(ctx));
    if (mine->alive.expired()) return;
    border::Guarded(mine->host.table(), mine->host.instance(),
                    [&] { mine->done(Status(*result)); });
  };
  const detent_blob c{sizeof(detent_blob), state_version, Bytes(blob)};
  const detent_status code =
      host_.table()->task_checkpoint(host_.instance(), handle_, &c, written, held.get());
  if (code == DETENT_OK) {
    held.release();
    return;
  }
  // Refused at once; said in a later turn all the same, so that callers see one order only.
  auto refused = [h = std::move(held), code]() mutable {
    if (!h->alive.expired()) h->done(Status(code, "CheckpointRefused", "not taken by the host"));
  };
  host_.Post(std::move(refused));
}

}  // namespace detent::sdk
