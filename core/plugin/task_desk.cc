#include "core/plugin/task_desk.h"

#include <algorithm>
#include <utility>

#include "core/plugin/abi_convert.h"
#include "core/plugin/instance.h"
#include "core/plugin/task_ref.h"
#include "detent/ext/logs.h"

namespace detent {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kDoubtFirst{1'000};

template <typename T>
const TaskOrder* OrderIn(const TaskCommand& command) {
  const T* typed = std::get_if<T>(&command);
  return typed == nullptr ? nullptr : &typed->order;
}

// The task that a command is about; 0 for Discard, which names a key.
TaskId IdOf(const TaskCommand& command) {
  if (const auto* order = OrderIn<StartCommand>(command)) return order->id;
  if (const auto* order = OrderIn<RecoverCommand>(command)) return order->id;
  if (const auto* order = OrderIn<AdoptCommand>(command)) return order->id;
  if (const auto* kill = std::get_if<KillOrder>(&command)) return kill->id;
  if (const auto* force = std::get_if<ForceDeleteCommand>(&command)) return force->id;
  if (const auto* release = std::get_if<ReleaseCommand>(&command)) return release->id;
  return 0;
}

bool BeginsTask(const TaskCommand& command) {
  return command.index() <= 2;
}

}  // namespace

bool TaskDesk::OverLimit() const {
  return instance_.open_ops() >= instance_.options().limits.ops_in_flight;
}

bool TaskDesk::Full(TaskId id) const {
  // Counted by id: a task that was released may linger, but it is nobody's any more.
  return by_id_.count(id) == 0 && by_id_.size() >= instance_.options().limits.tasks;
}

uint64_t TaskDesk::HandleOf(TaskId id) const {
  const auto found = by_id_.find(id);
  return found == by_id_.end() ? 0 : found->second;
}

void TaskDesk::Handle(TaskCommand& command) {
  if (instance_.closing()) return;
  // What waits for a task's start waits behind it; the rest overtakes.
  TaskRecord* record = tasks_.Find(HandleOf(IdOf(command)));
  const bool behind = record != nullptr && record->waiting > 0;
  if (!behind && !(BeginsTask(command) && OverLimit())) return Run(command);
  const bool starts = std::holds_alternative<StartCommand>(command);
  if (starts && Full(IdOf(command))) return Run(command);  // It says that there is no room.
  if (record == nullptr) {
    TaskOrder order;
    order.id = IdOf(command);
    record = tasks_.Find(Admit(std::move(order)));
    if (record == nullptr) return Run(command);  // It says that there is no room.
  }
  ++record->waiting;
  backlog_.push_back(std::move(command));
}

void TaskDesk::Run(TaskCommand& command) {
  if (auto* start = std::get_if<StartCommand>(&command)) {
    Start(std::move(start->order));
  } else if (auto* recover = std::get_if<RecoverCommand>(&command)) {
    Recover(std::move(recover->order), Doubt::kNone);
  } else if (auto* adopt = std::get_if<AdoptCommand>(&command)) {
    Recover(std::move(adopt->order), Doubt::kAdopting);
  } else if (const auto* kill = std::get_if<KillOrder>(&command)) {
    Kill(*kill);
  } else if (const auto* force = std::get_if<ForceDeleteCommand>(&command)) {
    ForceDelete(force->id);
  } else if (const auto* release = std::get_if<ReleaseCommand>(&command)) {
    Release(release->id);
  } else if (const auto* discard = std::get_if<DiscardCommand>(&command)) {
    Discard(discard->key);
  } else if (const auto* let_go = std::get_if<LetGoCommand>(&command)) {
    WatchFeeds* feeds = instance_.watch_feeds();
    if (feeds != nullptr) feeds->strays().LetGo(AbiKey(let_go->key), let_go->remove);
  }
}

// The record of a task, new or known by its id; its order is replaced either way.
uint64_t TaskDesk::Admit(TaskOrder order) {
  const TaskId id = order.id;
  uint64_t task = HandleOf(id);
  if (task == 0) {
    task = tasks_.Take([](TaskRecord& record) { record = {}; });
    if (task != 0) by_id_[id] = task;
  }
  if (task == 0) return 0;
  TaskRecord& record = *tasks_.Find(task);
  ForgetKey(record, task);
  record.order = std::move(order);
  const bool labelled = instance_.parts().kube != nullptr && !record.order.key.empty();
  if (!labelled) return task;
  by_key_.erase(record.order.key);  // The text is the record's that has it now.
  by_key_.emplace(record.order.key, task);
  return task;
}

void TaskDesk::ForgetKey(const TaskRecord& record, uint64_t task) {
  const auto named = by_key_.find(record.order.key);
  if (named != by_key_.end() && named->second == task) by_key_.erase(named);
}

detent_task TaskDesk::OfKey(std::string_view abi_key) const {
  const auto found = by_key_.find(HostKey(abi_key));
  return found == by_key_.end() ? 0 : found->second;
}

const TaskOrder* TaskDesk::OrderOf(detent_task task) {
  const TaskRecord* record = tasks_.Find(task);
  return record == nullptr ? nullptr : &record->order;
}

void TaskDesk::Start(TaskOrder order) {
  const TaskId id = order.id;
  const uint64_t task = Full(id) ? 0 : Admit(std::move(order));
  if (task == 0) {
    events_.push_back(StartAnswer{id, false, true, milliseconds(1000), "TooManyTasks",
                                  "the plugin's limit of tasks (limits.tasks) is reached"});
    return;
  }
  CallStart(task, *tasks_.Find(task));
}

void TaskDesk::CallStart(uint64_t task, TaskRecord& record) {
  const bool maybe = record.started_before || !record.order.handle.empty() ||
                     record.order.last_state != TaskState::kHeld;
  const TaskRef ref(record.order, task, maybe ? DETENT_REF_MAYBE_STARTED : 0);
  record.started_before = true;
  ++record.open_ops;
  ++record.open_starts;
  instance_.Ask(OpKind::kStart, task,
                [&](detent_op op) { instance_.table().start(instance_.self(), op, ref.get()); });
}

void TaskDesk::Recover(TaskOrder order, Doubt doubt) {
  const TaskId id = order.id;
  const uint64_t task = Admit(std::move(order));
  if (task == 0) {
    events_.push_back(RecoverAnswer{id, Recovery::kRetryLater, false, milliseconds(1000),
                                    "TooManyTasks", "the host's table of tasks is full"});
    return;
  }
  TaskRecord& record = *tasks_.Find(task);
  record.doubt = doubt;
  record.doubt_backoff = kDoubtFirst;
  record.started_before = true;
  CallRecover(task, record);
}

void TaskDesk::CallRecover(uint64_t task, TaskRecord& record) {
  const detent_executor& table = instance_.table();
  ++record.open_ops;
  if (!DETENT_HAS_FN(detent_executor, &table, recover)) {
    OpResult lost{};
    lost.code = DETENT_LOST;
    OnOpDone(OpKind::kRecover, task, lost);
    return;
  }
  const bool acked = record.order.last_state != TaskState::kHeld;
  const TaskRef ref(record.order, task, acked ? DETENT_REF_START_ACKED : 0);
  instance_.Ask(OpKind::kRecover, task,
                [&](detent_op op) { table.recover(instance_.self(), op, ref.get()); });
}

void TaskDesk::Kill(const KillOrder& order) {
  const uint64_t task = HandleOf(order.id);
  TaskRecord* record = tasks_.Find(task);
  if (record == nullptr) {
    events_.push_back(KillAnswer{order.id, false, "UnknownTask",
                                 "the executor does not hold this task; recover it first"});
    return;
  }
  CallKill(task, *record, order);
}

void TaskDesk::CallKill(uint64_t task, TaskRecord& record, const KillOrder& order) {
  detent_kill how{};
  how.size = sizeof how;
  how.mode = order.immediate ? DETENT_KILL_IMMEDIATE : DETENT_KILL_GRACEFUL;
  how.grace_ns = static_cast<uint64_t>(std::chrono::nanoseconds(order.grace).count());
  how.reason = View(order.reason);
  ++record.open_ops;
  instance_.Ask(OpKind::kKill, task, [&](detent_op op) {
    instance_.table().kill(instance_.self(), op, task, record.user, &how);
  });
}

void TaskDesk::ForceDelete(TaskId id) {
  const uint64_t task = HandleOf(id);
  TaskRecord* record = tasks_.Find(task);
  if (record == nullptr) return;
  const detent_executor& table = instance_.table();
  if (!DETENT_HAS_FN(detent_executor, &table, force_delete)) {
    KillOrder order;
    order.id = id;
    order.immediate = true;
    order.reason = "ForceDeleted";
    return CallKill(task, *record, order);
  }
  ++record->open_ops;
  instance_.Ask(OpKind::kForceDelete, task, [&](detent_op op) {
    table.force_delete(instance_.self(), op, task, record->user);
  });
}

void TaskDesk::Release(TaskId id) {
  const uint64_t task = HandleOf(id);
  TaskRecord* record = tasks_.Find(task);
  if (record == nullptr) return;
  by_id_.erase(id);  // The id is dead: nothing is said of it any more.
  record->release_wanted = true;
  if (record->open_ops == 0) LetGo(task, false);
}

void TaskDesk::Discard(const std::string& key) {
  const auto* logs = static_cast<const detent_logs*>(LogsOf(instance_.table()));
  if (logs == nullptr || !DETENT_HAS_FN(detent_logs, logs, discard)) return;
  const std::string abi_key = AbiKey(key);
  const detent_str view = View(abi_key);
  instance_.Guard("logs.discard", [&] { logs->discard(instance_.self(), &view); });
}

// Calls release, or detach where the task lives on elsewhere, and ends the handle.
void TaskDesk::LetGo(uint64_t task, bool keep) {
  TaskRecord& record = *tasks_.Find(task);
  const detent_executor& table = instance_.table();
  const bool has = keep ? DETENT_HAS_FN(detent_executor, &table, detach)
                        : DETENT_HAS_FN(detent_executor, &table, release);
  if (has && record.started_before) {  // Else the plugin never heard of it.
    const auto call = keep ? table.detach : table.release;
    instance_.Guard(keep ? "detach" : "release",
                    [&] { call(instance_.self(), task, record.user); });
  }
  ForgetKey(record, task);
  tasks_.End(task);
  record.order = {};
  tasks_.Recycle(task);
}

void TaskDesk::Pump() {
  // One may lead to another: a start that is failed inline frees room, and may ask for a recover.
  while (PumpOnce()) {
  }
}

// True if anything was called.
bool TaskDesk::PumpOnce() {
  bool called = false;
  while (!to_release_.empty()) {
    called = true;
    const uint64_t task = to_release_.back();
    to_release_.pop_back();
    const TaskRecord* record = tasks_.Find(task);
    if (record != nullptr && record->open_ops == 0) LetGo(task, false);
  }
  if (instance_.draining()) return called;  // The rest is for another instance: see DetachAll.
  for (size_t i = 0; i < in_doubt_.size();) {
    const uint64_t task = in_doubt_[i];
    TaskRecord* record = tasks_.Find(task);
    if (record != nullptr && record->doubt_at > instance_.now()) {
      ++i;
      continue;
    }
    in_doubt_.erase(in_doubt_.begin() + static_cast<std::ptrdiff_t>(i));
    if (record == nullptr || record->release_wanted) continue;
    record->doubt_timed = false;
    called = true;
    CallRecover(task, *record);
  }
  while (!backlog_.empty() && (!BeginsTask(backlog_.front()) || !OverLimit())) {
    TaskCommand command = std::move(backlog_.front());
    backlog_.pop_front();
    TaskRecord* record = tasks_.Find(HandleOf(IdOf(command)));
    if (record != nullptr) --record->waiting;
    called = true;
    Run(command);
  }
  return called;
}

void TaskDesk::PostEvents() {
  ++turn_;
  if (events_.empty()) return;
  std::vector<ExecutorEvent> batch;
  batch.swap(events_);
  if (ExecutorSink* sink = instance_.sink()) sink->Post(batch);
}

void TaskDesk::Resync() {
  const OpDeadlines& deadlines = instance_.options().deadlines;
  const uint64_t rounds = std::max<uint64_t>(
      1, static_cast<uint64_t>(deadlines.resync.count() / deadlines.sweep.count()));
  const uint64_t turn = resync_tick_++ % rounds;
  WatchFeeds* feeds = instance_.watch_feeds();
  if (feeds != nullptr && turn == rounds - 1) feeds->strays().TellAgain();
  const detent_executor& table = instance_.table();
  if (!DETENT_HAS_FN(detent_executor, &table, observe) || by_id_.empty()) return;
  for (const uint64_t task : tasks_.Handles()) {
    if ((task & 0xffffffff) % rounds != turn) continue;
    TaskRecord& record = *tasks_.Find(task);
    const bool quiet = record.open_ops == 0 && record.waiting == 0;
    if (record.terminated || record.release_wanted || !quiet) continue;
    if (OverLimit()) return;
    ++record.open_ops;
    instance_.Ask(OpKind::kObserve, task,
                  [&](detent_op op) { table.observe(instance_.self(), op, task, record.user); });
  }
}

std::vector<TaskOrder> TaskDesk::DetachAll() {
  for (TaskCommand& command : backlog_) {
    TaskRecord* record = tasks_.Find(HandleOf(IdOf(command)));
    if (record == nullptr) continue;
    if (const auto* start = OrderIn<StartCommand>(command)) record->order = *start;
    if (const auto* recover = OrderIn<RecoverCommand>(command)) record->order = *recover;
    if (const auto* adopt = OrderIn<AdoptCommand>(command)) record->order = *adopt;
    if (std::holds_alternative<ReleaseCommand>(command)) record->release_wanted = true;
  }
  backlog_.clear();
  std::vector<TaskOrder> orders;
  for (const uint64_t task : tasks_.Handles()) {
    TaskRecord& record = *tasks_.Find(task);
    const bool known = !record.order.key.empty() && !record.release_wanted;
    // What is over stays over: its news was posted already.
    if (known && !record.terminated) {
      orders.push_back(record.order);
      orders.back().last_state =
          record.phase > DETENT_PHASE_STARTING ? TaskState::kRunning : record.order.last_state;
    }
    LetGo(task, true);
  }
  by_id_.clear();
  return orders;
}

}  // namespace detent
