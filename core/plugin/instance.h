// One configured executor at work: a strand, the plugin's `self`, and everything that is open
// between the two sides (ops, callbacks, timers, watches).
//
// An instance is never freed: a thread of the plugin that calls too late finds a closed door, not
// freed memory. What is large is let go at the end. Functions say which thread they are for.

#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/base/log.h"
#include "core/net/transport.h"
#include "core/plugin/handle_table.h"
#include "core/plugin/instance_parts.h"
#include "core/plugin/live_sample.h"
#include "core/plugin/service_kube_requests.h"
#include "core/plugin/service_watch_feeds.h"
#include "core/plugin/strand.h"
#include "core/plugin/task_desk.h"

namespace detent {

class Instance {
 public:
  // Makes the shell and its thread. Borrowed parts must outlive the instance's Close or Abandon.
  static Instance* Make(const LoadedPlugin& plugin, InstanceOptions options, HostParts parts);

  // Whether CheckLive has an answer as soon as an instance is prepared. Any thread.
  static bool ChecksBeforeOpen(const detent_executor& table);
  // The instance behind a handle, or null once it is destroyed. Any thread.
  static Instance* Of(detent_instance handle);

  // --- For the host. Any thread; what is given runs on the strand, in order.
  // Calls create, for a plugin that looks at specs before it is open; nobody waits for it.
  void Prepare();
  // Calls create, if Prepare has not, and open; `done` is called once with how that went.
  void Open(std::function<void(Result<void>)> done);
  // Calls drain, close, detach and destroy; `done` gets the tasks that were live. Then the thread
  // ends.
  void Close(std::function<void(std::vector<TaskOrder>)> done);
  void Join() { strand_.Join(); }
  // Gives up on an instance whose strand does not come back. Its thread is left to itself.
  void Abandon();
  void Submit(std::vector<TaskCommand> commands);
  void ReadLog(LogReadOrder order, std::function<void(Result<LogChunk>)> done);
  // Whether there is any sense in CheckLive: the plugin can, and has not said that it never does.
  bool MayCheckLive() const;
  // kUnsupported: it does not look, or no more.
  void CheckLive(LiveCheckOrder order, std::function<void(Result<LiveAnswer>)> done);
  InstanceHealth health() const;
  std::chrono::nanoseconds busy() const { return strand_.Busy(); }
  const char* current_call() const { return call_.load(std::memory_order_relaxed); }
  int64_t misbehaviours() const { return misbehaviours_.load(std::memory_order_relaxed); }
  size_t active_tasks() const { return desk_.active(); }

  // --- For the host table: what plugins ask, from any thread.
  detent_status CompleteOp(detent_op op, const detent_result* result);
  detent_status StartTimer(uint64_t delay_ns, detent_cb cb, void* ctx, detent_timer* out);
  detent_status CancelTimer(detent_timer timer);
  detent_status PostCallback(detent_cb cb, void* ctx);
  detent_status Offload(detent_work work, detent_cb done, void* ctx);
  detent_status Health(uint32_t state, const detent_str* why);
  detent_status WatchFd(int32_t fd, uint32_t events, FdCallback callback, detent_watch* out);
  detent_status ModifyFd(detent_watch watch, uint32_t events);
  detent_status UnwatchFd(detent_watch watch);
  detent_status SendHttp(HttpRequest request, detent_http_cb cb, void* ctx, detent_op* out);
  detent_status CancelHttp(detent_op request);
  void WriteLog(const detent_log& line);
  TaskDesk& desk() { return desk_; }
  KubeRequests* kube_requests() { return kube_requests_.get(); }  // Null without a cluster, as is
  WatchFeeds* watch_feeds() { return watch_feeds_.get(); }        // the next.
  std::atomic<int64_t>& buffers() { return buffers_; }
  // At most one callback for each; the way in which checkpoints are answered.
  uint64_t Expect(detent_cb cb, void* ctx);
  void Answer(uint64_t expected, detent_status code);

  // --- For the task desk.
  bool OnStrand() const { return strand_.OnThisThread(); }
  bool Post(Strand::Work work) { return strand_.Post(std::move(work)); }
  const detent_executor& table() const { return *plugin_.executor; }
  void* self() const { return self_; }
  const InstanceOptions& options() const { return options_; }
  const HostParts& parts() const { return parts_; }
  ExecutorSink* sink() const { return sink_.load(std::memory_order_acquire); }
  MonoTime now() const { return strand_.turn_time(); }
  void WakeAt(MonoTime when);  // Makes a turn happen then, and with it a Pump.
  // No terminal news from here on: the instance closes.
  bool closing() const { return state_.load(std::memory_order_acquire) >= State::kClosing; }
  // Close was completed: nothing is taken up any more.
  bool closed() const { return state_.load(std::memory_order_acquire) >= State::kClosed; }
  // Nothing is started, recovered or observed any more: drain was called, or would have been.
  bool draining() const { return draining_; }
  // Begins an op and makes `call(op)` with it, in which nothing thrown gets out.
  template <typename Call>
  void Ask(OpKind kind, uint64_t task, Call&& call) {
    const detent_op op = BeginOp(kind, task, nullptr);
    if (!Guard(NameOf(kind), [&] { call(op); })) FailOpenOp(op);
  }
  // Makes a call that is no op. False if an exception came out.
  template <typename Call>
  bool Guard(const char* what, Call&& call) {
    call_.store(what, std::memory_order_relaxed);
    try {
      call();
    } catch (...) {
      Misbehaved("an exception left the plugin (rule D-EXC-1)", what);
      return false;
    }
    call_.store("", std::memory_order_relaxed);
    return true;
  }
  void Misbehaved(const char* how, std::string_view detail);
  size_t open_ops() const { return ops_.live(); }

 private:
  enum class State { kNew, kOpen, kClosing, kClosed, kDestroyed };
  struct OpRecord {
    OpKind kind = OpKind::kOpen;
    uint64_t task = 0;
    MonoTime deadline{};
    bool cancel_sent = false;
    OpDone done;
  };
  struct Expected {
    detent_cb cb = nullptr;
    detent_http_cb http_cb = nullptr;
    void* ctx = nullptr;
    std::atomic<bool> is_timer{false};
    std::atomic<uint64_t> transport_id{0};
  };
  struct FdWatch {
    int fd = -1;
    FdCallback callback;
  };

  Instance(const LoadedPlugin& plugin, InstanceOptions options, HostParts parts);
  Result<void> EnsureCreated();
  Result<void> Create();
  detent_op BeginOp(OpKind kind, uint64_t task, OpDone done);
  void FinishOp(detent_op op, const OpResult& result);
  void FailOpenOp(detent_op op);
  void OnTimer(uint64_t timer);
  void OnDescriptor(uint64_t watch, uint32_t epoll_events);
  void OnTurnEnd();
  void Sweep();
  void SweepOp(detent_op op);
  void BeginDrain();
  void BeginClose();
  void OnCloseDone();
  void FinalClose();
  void AnswerAllClosing();
  void Deliver(detent_cb cb, void* ctx, detent_status code);
  void DeliverHttp(uint64_t expected, HttpReply&& reply);
  void LogClosing();

  const LoadedPlugin plugin_;
  const InstanceOptions options_;
  const HostParts parts_;
  std::atomic<ExecutorSink*> sink_;
  std::atomic<bool> abandoned_{false};
  detent_instance handle_ = 0;
  void* self_ = nullptr;  // The strand's, as are the next three.
  bool draining_ = false;
  std::optional<Result<void>> created_;  // What create has answered.
  bool opened_ = false;
  std::atomic<State> state_{State::kNew};
  std::atomic<const char*> call_{""};
  std::atomic<int64_t> misbehaviours_{0};
  std::atomic<int64_t> buffers_{0};
  std::atomic<int64_t> timers_{0};
  std::atomic<int64_t> http_{0};
  std::atomic<int64_t> offloaded_{0};

  HandleTable<OpRecord, NoMutex> ops_;
  HandleTable<Expected> expected_;
  std::mutex watch_mutex_;
  HandleTable<FdWatch> watches_;  // Values are guarded by watch_mutex_.
  LogBudget log_budget_;
  mutable std::mutex health_mutex_;
  InstanceHealth health_;  // Guarded by health_mutex_.
  TaskDesk desk_;
  std::unique_ptr<KubeRequests> kube_requests_;
  std::unique_ptr<WatchFeeds> watch_feeds_;
  std::atomic<bool> never_live_{false};
  // Of checks that were given up: their plugin may still write into them.
  std::vector<std::shared_ptr<detent_diag>> given_up_;  // The strand's.
  std::function<void(std::vector<TaskOrder>)> closed_;
  bool close_done_ = false;
  bool final_posted_ = false;
  MonoTime give_up_at_{};
  Strand strand_;  // Last: its thread uses all of the above.
};

}  // namespace detent
