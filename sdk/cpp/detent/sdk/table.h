// From an Executor class to the C table of detent/executor.h: one trampoline for each slot, each
// noexcept, each catching whatever its body throws. Included by plugin.h; plugin authors need
// nothing from this file.

#pragma once

#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "detent/sdk/executor.h"
#include "detent/sdk/logs.h"
#include "detent/sdk/permissions.h"
#include "detent/sdk/validate_live.h"

namespace detent::sdk {

template <typename T>
struct Trampolines {
  // Brings an Op to `body`, and answers for it if that throws before the op was answered.
  template <typename Body>
  static void WithOp(void* self, detent_op op, Body&& body) noexcept {
    const Host host = static_cast<T*>(self)->host();
    border::Frame frame{op};
    const border::Enter enter(frame);
    std::string what;
    const auto run = [&] { body(*static_cast<T*>(self), Op(host.table(), host.instance(), op)); };
    if (border::Guarded(host.table(), host.instance(), run, &what) || frame.completed) return;
    detent_result result{};
    result.size = sizeof(result);
    result.code = DETENT_E_INTERNAL;
    result.reason = Str("Exception");
    result.message = Str(what);
    host.table()->op_complete(host.instance(), op, &result);
  }

  // The same for a call about one task, which this instance may or may not follow.
  template <typename Body>
  static void WithTask(void* self, detent_op op, void* user, Body&& body) noexcept {
    WithOp(self, op, [&](T& executor, Op question) {
      if (user == nullptr) {
        question.Fail({DETENT_E_NOT_FOUND, "NotFollowed", "this executor holds no such task"});
        return;
      }
      body(executor, std::move(question), *static_cast<Task*>(user));
    });
  }

  static detent_status Schema(const detent_host* host, uint32_t which, detent_buf* out) noexcept {
    std::string_view text;
    if constexpr (requires { T::kSpecSchema; }) {
      if (which == DETENT_SCHEMA_SPEC) text = T::kSpecSchema;
    }
    if constexpr (requires { T::kConfigSchema; }) {
      if (which == DETENT_SCHEMA_CONFIG) text = T::kConfigSchema;
    }
    if (text.empty()) return DETENT_E_UNSUPPORTED;
    const detent_bytes bytes = Bytes(text);
    *out = host->buf_new(0, &bytes);
    return *out == 0 ? DETENT_E_NO_MEMORY : DETENT_OK;
  }

  static detent_status Validate(const detent_host* host, const detent_bytes* spec,
                                detent_diag* sink) noexcept {
    detent_status code = DETENT_E_INTERNAL;
    border::Guarded(host, 0, [&] {
      Diagnostics diag(host, sink);
      auto doc = JsonDoc::Parse(host, 0, View(*spec), sink);
      if (!doc) {
        code = doc.status().code();
        return;
      }
      if constexpr (requires(Fields & fields) { T::Validate(fields); }) {
        Fields fields(doc->root(), "", Fields::Mode::kTemplate, diag);
        T::Validate(fields);
      }
      code = diag.status().code();
    });
    return code;
  }

  static detent_status Create(const detent_host* host, detent_instance instance,
                              const detent_instance_info* info, void** self,
                              detent_diag* sink) noexcept {
    detent_status code = DETENT_E_INTERNAL;
    border::Guarded(host, instance, [&] {
      Diagnostics diag(host, sink);
      auto executor = std::make_unique<T>();
      executor->Executor::host_ = Host(host, instance);
      InstanceInfo given{View(info->name), View(info->kind), View(info->state_dir),
                         View(info->config)};
      if (given.config.empty()) given.config = "{}";
      const Status status = executor->Create(given, diag);
      code = status.ok() ? diag.status().code() : status.code();
      // A failure that named no place is still to be told.
      if (!status.ok() && diag.ok()) diag.Error("", status.reason(), status.message());
      if (code == DETENT_OK) *self = executor.release();
    });
    return code;
  }

  static void Open(void* self, detent_op op) noexcept {
    WithOp(self, op, [](T& executor, Op question) { executor.Open(std::move(question)); });
  }
  static void Reconfigure(void* self, detent_op op, const detent_bytes* config) noexcept {
    WithOp(self, op, [&](T& executor, Op question) {
      executor.Reconfigure(std::move(question), View(*config));
    });
  }
  static void Drain(void* self, detent_op op, int64_t deadline_ns) noexcept {
    WithOp(self, op,
           [&](T& executor, Op question) { executor.Drain(std::move(question), deadline_ns); });
  }
  static void Close(void* self, detent_op op) noexcept {
    WithOp(self, op, [](T& executor, Op question) { executor.Close(std::move(question)); });
  }
  static void Destroy(void* self) noexcept {
    border::Guarded(nullptr, 0, [&] {
      auto* executor = static_cast<T*>(self);
      executor->Executor::tasks_.clear();  // before the members that tasks may point to
      delete executor;
    });
  }
  static void Start(void* self, detent_op op, const detent_task_ref* ref) noexcept {
    WithOp(self, op,
           [&](T& executor, Op question) { executor.Start(std::move(question), TaskRef(*ref)); });
  }
  static void Recover(void* self, detent_op op, const detent_task_ref* ref) noexcept {
    WithOp(self, op,
           [&](T& executor, Op question) { executor.Recover(std::move(question), TaskRef(*ref)); });
  }
  static void Observe(void* self, detent_op op, detent_task, void* user) noexcept {
    WithTask(self, op, user, [](T& executor, Op question, Task& task) {
      executor.Observe(std::move(question), task);
    });
  }
  static void Kill(void* self, detent_op op, detent_task, void* user,
                   const detent_kill* how) noexcept {
    const KillRequest request{how->mode == DETENT_KILL_IMMEDIATE,
                              std::chrono::nanoseconds(how->grace_ns), View(how->reason)};
    WithTask(self, op, user, [&](T& executor, Op question, Task& task) {
      executor.Kill(std::move(question), task, request);
    });
  }
  static void ForceDelete(void* self, detent_op op, detent_task, void* user) noexcept {
    WithTask(self, op, user, [](T& executor, Op question, Task& task) {
      executor.ForceDelete(std::move(question), task);
    });
  }
  static void Release(void* self, detent_task task, void* user) noexcept {
    End(self, task, user, &T::Release);
  }
  static void Detach(void* self, detent_task task, void* user) noexcept {
    End(self, task, user, &T::Detach);
  }
  static void Cancel(void* self, detent_op op) noexcept {
    auto* executor = static_cast<T*>(self);
    border::Guarded(executor->host().table(), executor->instance(), [&] { executor->Cancel(op); });
  }
  static const void* Extension(const char* name) noexcept {
    const std::string_view id = name == nullptr ? "" : name;
    if constexpr (std::is_base_of_v<LogReader, T>) {
      if (id == DETENT_EXT_LOGS) return &LogTrampolines<T>::kTable;
    }
    if constexpr (std::is_base_of_v<LiveChecker, T>) {
      if (id == DETENT_EXT_VALIDATE_LIVE) return &LiveTrampolines<T>::kTable;
    }
    if constexpr (requires { T::kPermissions; }) {
      if (id == DETENT_EXT_PERMISSIONS) return &kPermissionTable<T>;
    }
    return id.empty() ? nullptr : ExtensionOf(id);
  }

  // A slot is NULL when T inherits it, so that the host's own default applies.
  template <auto kMine, auto kBase, typename Slot>
  static constexpr Slot Unless(Slot trampoline) {
    return std::is_same_v<decltype(kMine), decltype(kBase)> ? nullptr : trampoline;
  }

 private:
  template <typename Method>
  static void End(void* self, detent_task task, void* user, Method method) noexcept {
    auto* executor = static_cast<T*>(self);
    border::Guarded(executor->host().table(), executor->instance(), [&] {
      if (user != nullptr) (executor->*method)(*static_cast<Task*>(user));
    });
    // Taken out first: what dies with the task may look for tasks.
    border::Guarded(executor->host().table(), executor->instance(),
                    [&] { const auto ended = executor->Executor::tasks_.extract(task); });
  }

  // T::Extension(std::string_view), if T has extensions of its own.
  static const void* ExtensionOf(std::string_view id) {
    if constexpr (requires { T::Extension(id); }) return T::Extension(id);
    return nullptr;
  }
};

}  // namespace detent::sdk
