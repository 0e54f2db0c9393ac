// Executor: the base class of a plugin in C++. Derive, override, and hand the class to
// DETENT_PLUGIN (plugin.h), which builds the C table of detent/executor.h from it. There the calls,
// their order and their meaning are described; this file only gives them C++ types.
//
//   class Sleep : public detent::sdk::Executor {
//    public:
//     static constexpr std::string_view kKind = "sleep";
//     static void Validate(Fields& spec);                   // optional, pure
//     static constexpr std::string_view kSpecSchema = R"(...)";    // optional
//     static constexpr std::string_view kConfigSchema = R"(...)";  // optional
//     static constexpr uint32_t kCaps = DETENT_CAP_...;            // optional, 0
//     static constexpr uint32_t kStateVersion = 1, kStateMinVersion = 1;  // optional, 1
//     void Start(Op op, const TaskRef& ref) override;
//     void Kill(Op op, Task& task, const KillRequest& how) override;
//   };
//
// Overrides must be public. All run on the strand: no lock is needed for members. An exception that
// leaves an override is answered with DETENT_E_INTERNAL and its text. What is not overridden is a
// NULL slot for the host, except Recover, whose default answers LOST.
//
// Tasks: Start and Recover call Follow<MyTask>(ref, ...), which makes the record that Kill, Observe
// and the others get. The base class owns it, and frees it after Release or Detach.

#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "detent/executor.h"
#include "detent/sdk/document.h"
#include "detent/sdk/host.h"
#include "detent/sdk/op.h"
#include "detent/sdk/spec.h"
#include "detent/sdk/task.h"

namespace detent::sdk {

// Borrowed for Create.
struct InstanceInfo {
  std::string_view name, kind;
  std::string_view state_dir;  // absolute, exists, mode 0700, outlives the host
  std::string_view config;     // a JSON object, never empty
};

struct KillRequest {
  bool immediate = false;
  std::chrono::nanoseconds grace{0};  // 0 and not immediate: the executor's own default
  std::string_view reason;            // borrowed
};

class Executor {
 public:
  virtual ~Executor() = default;
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  // Reads the config; no I/O yet. A failure leaves nothing behind: the object is destroyed.
  virtual Status Create(const InstanceInfo& /*info*/, Diagnostics& /*diag*/) { return {}; }
  virtual void Open(Op op) { op.Succeed(); }
  // All or nothing; config is a JSON object.
  virtual void Reconfigure(Op op, std::string_view /*config*/) { op.Succeed(); }
  virtual void Drain(Op op, int64_t /*deadline_ns*/) { op.Succeed(); }
  // The tasks live on: stop own threads, leave everything outside as it is.
  virtual void Close(Op op) { op.Succeed(); }

  // Idempotent on ref.key. Answer once accepted; report how it goes by Task::Update.
  virtual void Start(Op op, const TaskRef& ref) = 0;
  // Never starts anything. With kTerminated, update the Task before answering.
  virtual void Recover(Op op, const TaskRef& /*ref*/) { op.Answer(Recovered::kLost); }
  virtual void Observe(Op op, Task& /*task*/) { op.Succeed(); }
  // Answer when asked; the end comes by Task::Update. A task without a record (never followed here)
  // is answered with DETENT_E_NOT_FOUND before this is called.
  virtual void Kill(Op op, Task& task, const KillRequest& how) = 0;
  virtual void ForceDelete(Op op, Task& /*task*/) { op.Succeed(); }
  // The outcome is durable: undo what was kept outside. `task` is freed after the call.
  virtual void Release(Task& /*task*/) {}
  // Only this record ends; the task lives on. `task` is freed after the call.
  virtual void Detach(Task& /*task*/) {}
  // The host no longer waits for this op (Op::id); answer it soon.
  virtual void Cancel(detent_op /*op*/) {}

  const Host& host() const { return host_; }
  detent_instance instance() const { return host_.instance(); }

 protected:
  Executor() = default;

  // The record for ref's task, made as T(host, ref, args...) and bound to it. One that exists
  // already for this handle is replaced (Start after E_BUSY; Recover of a followed task: use Find
  // if it is to be kept).
  template <typename T, typename... Args>
  T& Follow(const TaskRef& ref, Args&&... args) {
    auto task = std::make_unique<T>(host_, ref, std::forward<Args>(args)...);
    T& result = *task;
    std::unique_ptr<Task>& slot = tasks_[ref.task];
    if (slot != nullptr) result.Task::seq_ = slot->seq_;
    slot = std::move(task);
    host_.table()->task_bind(host_.instance(), ref.task, static_cast<Task*>(&result));
    return result;
  }

  // The record of a handle, or nullptr.
  Task* Find(detent_task handle) const {
    const auto at = tasks_.find(handle);
    return at == tasks_.end() ? nullptr : at->second.get();
  }

  template <typename F>
  void ForEachTask(F f) const {
    for (const auto& [handle, task] : tasks_) f(*task);
  }

 private:
  template <typename T>
  friend struct Trampolines;

  Host host_;
  std::map<detent_task, std::unique_ptr<Task>> tasks_;
};

}  // namespace detent::sdk
