// The tasks of one instance: turns what the controllers ask into calls, and what the plugin says
// into events, by the protocol of detent/executor.h.
//
// The strand's thread only, but for the three functions that plugins reach from anywhere. Updates
// of one task that come within a turn are merged; all events of a turn are posted as one batch.

#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/plugin/handle_table.h"
#include "core/plugin/instance_parts.h"

namespace detent {

class Instance;

class TaskDesk {
 public:
  explicit TaskDesk(Instance& instance) : instance_(instance) {}

  void Handle(TaskCommand& command);
  void OnOpDone(OpKind kind, uint64_t task, const OpResult& result);

  // Does what had to wait until no call into the plugin is under way: releases, repeats, and orders
  // over the limit of ops. Called at the end of each turn.
  void Pump();
  void PostEvents();
  // Observes the tasks whose turn it is; called every `sweep`.
  void Resync();
  // The task of a key as plugins see it; 0: it is not in hand. Only where there is a cluster.
  detent_task OfKey(std::string_view abi_key) const;
  // Null: the task has ended. Borrowed for the moment.
  const TaskOrder* OrderOf(detent_task task);
  // Adds to the news of this turn what is about no task in hand.
  void Add(ExecutorEvent event) { events_.push_back(std::move(event)); }
  // Detaches every task; the orders by which another instance can recover them.
  std::vector<TaskOrder> DetachAll();

  // Any thread.
  detent_status Update(detent_task task, const detent_task_status* status);
  detent_status Bind(detent_task task, void* user);
  detent_status Checkpoint(detent_task task, const detent_blob* blob, detent_cb cb, void* ctx);
  bool Has(detent_task task) { return tasks_.Find(task) != nullptr; }
  size_t active() const { return tasks_.live(); }

 private:
  // Why the desk itself asks the plugin to recover a task.
  enum class Doubt : uint8_t { kNone, kStartUnknown, kAdopting };
  struct TaskRecord {
    TaskOrder order;
    void* user = nullptr;
    uint64_t seq = 0;
    uint32_t phase = 0;
    bool terminated = false;
    bool rerun_safe = false;
    bool started_before = false;
    bool release_wanted = false;
    uint32_t open_ops = 0;
    uint32_t open_starts = 0;
    uint32_t waiting = 0;  // Commands in the backlog.
    Doubt doubt = Doubt::kNone;
    std::chrono::milliseconds doubt_backoff{0};
    MonoTime doubt_at{};
    bool doubt_timed = false;
    uint64_t news_turn = 0;  // The turn in which its news is at events_[news_at].
    size_t news_at = 0;
  };

  bool PumpOnce();
  void Run(TaskCommand& command);
  uint64_t HandleOf(TaskId id) const;
  uint64_t Admit(TaskOrder order);
  void ForgetKey(const TaskRecord& record, uint64_t task);
  void Start(TaskOrder order);
  void Recover(TaskOrder order, Doubt doubt);
  void CallStart(uint64_t task, TaskRecord& record);
  void CallRecover(uint64_t task, TaskRecord& record);
  void Kill(const KillOrder& order);
  void CallKill(uint64_t task, TaskRecord& record, const KillOrder& order);
  void ForceDelete(TaskId id);
  void Release(TaskId id);
  void Discard(const std::string& key);
  void LetGo(uint64_t task, bool keep);
  void OnStartDone(TaskRecord& record, uint64_t task, const OpResult& result);
  void OnRecoverDone(TaskRecord& record, uint64_t task, const OpResult& result);
  void ResolveDoubt(TaskRecord& record, uint64_t task, const OpResult& result);
  void RecoverAgain(TaskRecord& record, uint64_t task, std::chrono::milliseconds after);
  void OnKillDone(TaskRecord& record, const OpResult& result);
  void OnForceDeleteDone(TaskRecord& record, const OpResult& result);
  void Apply(uint64_t task, uint64_t seq, TaskStatus status, uint32_t phase);
  void EndTask(TaskRecord& record, TaskResult result, const char* reason, const char* message);
  void AddNews(TaskRecord& record, TaskStatus status);
  bool OverLimit() const;
  // There is no room for this task, which is a new one.
  bool Full(TaskId id) const;

  Instance& instance_;
  HandleTable<TaskRecord, NoMutex> tasks_;
  std::unordered_map<TaskId, uint64_t> by_id_;
  std::unordered_map<std::string_view, uint64_t> by_key_;  // Of the records' own keys.
  std::deque<TaskCommand> backlog_;
  std::vector<uint64_t> to_release_;
  std::vector<uint64_t> in_doubt_;  // Tasks that are to be recovered again at their doubt_at.
  std::vector<ExecutorEvent> events_;
  uint64_t turn_ = 1;
  uint64_t resync_tick_ = 0;
};

}  // namespace detent
