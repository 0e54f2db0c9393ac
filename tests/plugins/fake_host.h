// FakeHost: the smallest host that a plugin can live in, for tests of plugins through the border
// itself. It loads the .so, keeps one instance of one kind, turns a loop of its own (descriptors,
// timers, posts; offloaded work runs in a turn of the loop), and remembers whatever the plugin
// says.
//
// Everything happens on the thread of the test, inside the calls that say "runs the loop". Real
// time, but for what a test skips: deadlines are real. It is forgiving where the real host is
// strict; what a rule of detent/rules.h demands is checked elsewhere, but for the end of an
// instance: there each callback that is owed comes, with E_CLOSING (D-OP-3). Buffers and JSON are
// the core's own.

#pragma once

#include <poll.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "detent/detent.h"
#include "detent/ext/logs.h"
#include "detent/ext/validate_live.h"

namespace detent::testing {

struct Answer {
  bool given = false;
  detent_status code = DETENT_E_INTERNAL;
  std::string reason, message, body;
  uint32_t flags = 0, retry_after_ms = 0;
  uint64_t value = 0, value2 = 0;
};

struct Update {
  uint32_t phase = DETENT_PHASE_UNKNOWN;
  uint32_t result = DETENT_RESULT_NONE;
  uint32_t flags = 0;
  uint64_t seq = 0;
  int64_t running_ns = 0, finished_ns = 0;
  int32_t exit_code = 0, signal = 0;
  std::string reason, message, object_ref, output, extra;
};

struct Finding {
  uint32_t severity = 0;
  std::string pointer, reason, message, hint;
};

class FakeHost {
 public:
  using Condition = std::function<bool()>;

  // Aborts the test's process if the plugin cannot be loaded.
  explicit FakeHost(const std::string& plugin_path, std::string_view kind);
  ~FakeHost();  // closes
  FakeHost(const FakeHost&) = delete;
  FakeHost& operator=(const FakeHost&) = delete;

  const detent_executor& executor() const { return *executor_; }

  // A table to answer to host->service(id), besides detent.json/1 and detent.io/1. Borrowed, and so
  // is what `at_close` uses: it answers the service's open requests with E_CLOSING.
  void AddService(std::string id, const void* table, std::function<void()> at_close = {}) {
    services_[std::move(id)] = table;
    if (at_close) at_close_.push_back(std::move(at_close));
  }

  // The same for [pure] calls, which know of no instance; for all hosts, until it is taken away by
  // nullptr.
  static void SetPureService(std::string_view id, const void* table);

  // Pure calls. Validate returns the findings; none means valid.
  std::vector<Finding> Validate(std::string_view spec);
  std::string Schema(uint32_t which);

  // create, and open (runs the loop).
  detent_status Create(const std::string& state_dir, std::string_view config,
                       std::vector<Finding>* findings = nullptr);
  Answer Open();
  // close, the callbacks that are owed, detach of each task, destroy. Harmless twice. Runs the
  // loop.
  void Close();

  // A task's handle; nothing is called yet.
  detent_task NewTask(std::string key, std::string spec, uint32_t flags = 0);

  // What a host of an earlier life recorded of it, for start and recover.
  void Remember(detent_task task, std::string blob, uint32_t last_phase);
  const std::string& key(detent_task task) { return tasks_[task].key; }

  // Ask the executor. The op's id; its answer is looked up or waited for.
  detent_op Start(detent_task task);
  detent_op Recover(detent_task task);
  detent_op Kill(detent_task task, uint64_t grace_ns, std::string_view reason = "UserRequested");
  detent_op KillNow(detent_task task, std::string_view reason = "UserRequested");
  detent_op ForceDelete(detent_task task);
  detent_op ReadLog(std::string_view key, uint64_t offset, uint32_t max_bytes = 1 << 20,
                    uint32_t streams = 0, uint32_t flags = 0);
  // What it found is `found` once it is answered.
  detent_op CheckLive(std::string_view spec);
  std::vector<Finding> found(detent_op op);
  // Whether ReadLog says the task's name and namespace, besides its key.
  bool names_logs = true;
  void Discard(std::string_view key);
  void Cancel(detent_op op);
  void Release(detent_task task);
  void Detach(detent_task task);

  // As if so much time had passed; for all hosts.
  static void SkipTime(int64_t seconds);

  // Runs what is due, without waiting for anything.
  void RunReady() { Turn(0); }
  // Runs the loop until the condition holds. False: it did not within the time.
  bool RunUntil(const Condition& condition, int timeout_ms = 20000);
  Answer Await(detent_op op);                         // runs the loop
  bool AwaitPhase(detent_task task, uint32_t phase);  // at least that phase; runs the loop

  const Answer& answer(detent_op op) { return ops_[op]; }
  const Update& last(detent_task task) { return tasks_[task].last; }
  const std::vector<Update>& updates(detent_task task) { return tasks_[task].all; }
  const std::vector<std::string>& log() const { return log_; }
  std::string checkpoint(detent_task task) { return tasks_[task].blob; }

 private:
  friend struct HostTable;
  friend struct IoTable;
  struct TaskRecord {
    std::string key, spec, name, blob;
    uint32_t flags = 0, last_phase = DETENT_PHASE_UNKNOWN;
    bool held = false;  // The plugin knows it: from start or recover to release or detach.
    void* user = nullptr;
    Update last;
    std::vector<Update> all;
  };
  struct TimerRecord {
    int64_t due_ns;
    detent_cb cb;
    void* ctx;
  };
  struct WatchRecord {
    int fd;
    uint32_t events;
    detent_fd_cb cb;
    void* ctx;
  };

  void AnswerAllClosing();
  void Turn(int timeout_ms);
  void RunQueue();
  void RunTimers();
  void RunWatches(int timeout_ms);
  detent_op NewOp();
  void CallWithRef(detent_task task, detent_op op,
                   void (*slot)(void*, detent_op, const detent_task_ref*));
  detent_op CallKill(detent_task task, const detent_kill& how);

  const detent_executor* executor_ = nullptr;
  void* self_ = nullptr;
  detent_instance instance_ = 0;
  bool closed_ = false;
  std::map<std::string, const void*> services_;
  std::map<detent_op, Answer> ops_;
  std::map<detent_op, std::shared_ptr<detent_diag>> sinks_;
  std::map<detent_task, TaskRecord> tasks_;
  std::map<detent_timer, TimerRecord> timers_;
  std::map<detent_watch, WatchRecord> watches_;
  std::deque<std::function<void(bool closing)>> queue_;
  std::vector<std::function<void()>> at_close_;
  std::vector<std::string> log_;
  uint64_t next_handle_ = 1;
};

}  // namespace detent::testing
