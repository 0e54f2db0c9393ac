#include "core/plugin/instance.h"

#include <algorithm>
#include <utility>

#include "core/plugin/abi_convert.h"
#include "core/plugin/buffer.h"
#include "core/plugin/diag_sink.h"
#include "core/plugin/host_table.h"
#include "core/plugin/offload_pool.h"
#include "core/plugin/task_ref.h"
#include "detent/ext/logs.h"
#include "detent/ext/validate_live.h"

namespace detent {
namespace {

// Instances are found by handle from plugin threads, also while the process ends: never destroyed.
HandleTable<Instance*>& Registry() {
  static auto* const table = new HandleTable<Instance*>();
  return *table;
}

// The strand's own timer for deadlines; plugins' timers are never 0.
constexpr uint64_t kSweepTimer = 0;
// A timer that only makes a turn happen: no handle has this value.
constexpr uint64_t kWakeTimer = ~uint64_t{0};

std::chrono::milliseconds DeadlineOf(const OpDeadlines& deadlines, OpKind kind) {
  switch (kind) {
    case OpKind::kOpen:
      return deadlines.open;
    case OpKind::kStart:
      return deadlines.start;
    case OpKind::kRecover:
      return deadlines.recover;
    case OpKind::kObserve:
      return deadlines.observe;
    case OpKind::kKill:
      return deadlines.kill;
    case OpKind::kForceDelete:
      return deadlines.force_delete;
    case OpKind::kDrain:
      return deadlines.drain;
    case OpKind::kClose:
      return deadlines.close;
    case OpKind::kReadLog:
      return deadlines.logs;
    case OpKind::kCheckLive:
      return deadlines.check_live;
  }
  return deadlines.open;
}

Error ErrorOf(const OpResult& result) {
  std::string message = Repaired(Text(result.message), 1024);
  const std::string reason = Repaired(Text(result.reason), 64);
  if (message.empty()) message = reason.empty() ? StatusName(result.code) : reason;
  return Error(FromStatus(result.code), std::move(message));
}

const detent_validate_live* LiveTableOf(const detent_executor& table) {
  if (!DETENT_HAS_FN(detent_executor, &table, extension)) return nullptr;
  const void* found = table.extension(DETENT_EXT_VALIDATE_LIVE);
  const auto* live = static_cast<const detent_validate_live*>(found);
  return live != nullptr && DETENT_HAS_FN(detent_validate_live, live, check) ? live : nullptr;
}

}  // namespace

Instance::Instance(const LoadedPlugin& plugin, InstanceOptions options, HostParts parts)
    : plugin_(plugin),
      options_(std::move(options)),
      parts_(parts),
      sink_(parts.sink),
      desk_(*this),
      strand_("dt:" + options_.name, *parts_.clock) {
  if (parts_.kube == nullptr) return;
  kube_requests_ = std::make_unique<KubeRequests>(*this, *parts_.kube);
  watch_feeds_ = std::make_unique<WatchFeeds>(*this, *parts_.kube);
}

Instance* Instance::Make(const LoadedPlugin& plugin, InstanceOptions options, HostParts parts) {
  auto* instance = new Instance(plugin, std::move(options), parts);
  instance->handle_ = Registry().Take([&](Instance*& slot) { slot = instance; });
  instance->strand_.Start(
      {[instance](uint64_t timer) { instance->OnTimer(timer); },
       [instance](uint64_t watch, uint32_t events) { instance->OnDescriptor(watch, events); },
       [instance] { instance->OnTurnEnd(); }});
  return instance;
}

Instance* Instance::Of(detent_instance handle) {
  Instance** slot = Registry().Find(handle);
  return slot == nullptr ? nullptr : *slot;
}

Result<void> Instance::Create() {
  detent_instance_info info{};
  info.size = sizeof info;
  info.mode = DETENT_MODE_IN_PROCESS;
  info.name = View(options_.name);
  info.kind = View(options_.kind);
  info.state_dir = View(options_.state_dir);
  info.config = Bytes(options_.config);
  detent_diag findings;
  detent_status status = DETENT_E_INTERNAL;
  Guard("create", [&] { status = table().create(HostTable(), handle_, &info, &self_, &findings); });
  if (status == DETENT_OK) return {};
  std::string why;
  for (const Diagnostic& mistake : findings.mistakes) {
    why += (why.empty() ? "" : "; ") + ("config" + mistake.pointer) + ": " + mistake.message;
  }
  return Error(FromStatus(status), why.empty() ? "create failed with " + StatusName(status) : why);
}

// A failure is final for this instance: rule of detent/executor.h.
Result<void> Instance::EnsureCreated() {
  if (created_) return *created_;
  created_ = Create();
  if (!*created_) return *created_;
  state_.store(State::kOpen, std::memory_order_release);
  strand_.SetTimer(now() + options_.deadlines.sweep, kSweepTimer);
  return {};
}

void Instance::Prepare() {
  // What is wrong is told when it is opened.
  Post([this] { static_cast<void>(EnsureCreated()); });
}

void Instance::Open(std::function<void(Result<void>)> done) {
  Post([this, given = std::move(done)] {
    // Who gave up on this instance may be gone by the time it comes back.
    const auto done = [this, given](const Result<void>& result) {
      if (!abandoned_.load(std::memory_order_acquire)) given(result);
    };
    if (const Result<void> made = EnsureCreated(); !made) return done(made);
    const detent_op op = BeginOp(OpKind::kOpen, 0, [this, done](const OpResult& result) {
      opened_ = result.code == DETENT_OK;
      done(result.code == DETENT_OK ? Result<void>() : Result<void>(ErrorOf(result)));
    });
    if (!Guard("open", [&] { table().open(self_, op); })) FailOpenOp(op);
  });
}

detent_op Instance::BeginOp(OpKind kind, uint64_t task, OpDone done) {
  return ops_.Take([&](OpRecord& record) {
    record.kind = kind;
    record.task = task;
    record.deadline = now() + DeadlineOf(options_.deadlines, kind);
    record.cancel_sent = false;
    if (done != nullptr || record.done != nullptr) record.done = std::move(done);
  });
}

void Instance::FinishOp(detent_op op, const OpResult& result) {
  OpRecord& record = ops_.Ended(op);
  const OpKind kind = record.kind;
  const uint64_t task = record.task;
  OpDone done;
  if (record.done != nullptr) done = std::exchange(record.done, nullptr);
  ops_.Recycle(op);
  if (done != nullptr) {
    done(result);
  } else {
    desk_.OnOpDone(kind, task, result);
  }
}

// An exception came out of the call that brought the op.
void Instance::FailOpenOp(detent_op op) {
  if (!ops_.End(op)) return;
  OpResult result{};
  result.size = sizeof result;
  result.code = DETENT_E_INTERNAL;
  result.message = View("the plugin threw an exception");
  FinishOp(op, result);
}

detent_status Instance::CompleteOp(detent_op op, const detent_result* given) {
  if (given == nullptr || given->size < sizeof(uint32_t)) return DETENT_E_INVALID;
  if (!ops_.End(op)) {
    Misbehaved("an op was completed twice, or after it was given up (rule D-OP-1)",
               std::to_string(op));
    return DETENT_E_STALE;
  }
  const OpResult result = Known(given);
  if (OnStrand()) {
    FinishOp(op, result);
    return DETENT_OK;
  }
  RetainBuffer(result.body);
  const bool posted =
      Post([this, op, result = OpResult(result), reason = std::string(Text(result.reason)),
            message = std::string(Text(result.message))]() mutable {
        result.reason = View(reason);
        result.message = View(message);
        FinishOp(op, result);
        ReleaseBuffer(result.body);
      });
  return posted ? DETENT_OK : DETENT_E_CLOSING;
}

void Instance::Misbehaved(const char* how, std::string_view detail) {
  misbehaviours_.fetch_add(1, std::memory_order_relaxed);
  int64_t dropped = 0;
  if (parts_.logger == nullptr || !log_budget_.Take(parts_.clock->Mono(), dropped)) return;
  parts_.logger->Warning("a plugin broke a rule of the border",
                         {{"plugin", options_.name}, {"how", how}, {"detail", detail}});
}

void Instance::WakeAt(MonoTime when) {
  strand_.SetTimer(when, kWakeTimer);
}

void Instance::OnTurnEnd() {
  // What a release or a repeated start completes inline may make more work.
  desk_.Pump();
  desk_.PostEvents();
  if (close_done_ && !final_posted_) OnCloseDone();
}

void Instance::Sweep() {
  if (ops_.live() > 0) {
    for (const detent_op op : ops_.Handles()) SweepOp(op);
  }
  if (!draining_ && state_.load() == State::kOpen) desk_.Resync();
  strand_.SetTimer(now() + options_.deadlines.sweep, kSweepTimer);
}

void Instance::SweepOp(detent_op op) {
  OpRecord* record = ops_.Find(op);
  if (record == nullptr || now() < record->deadline) return;
  if (!record->cancel_sent) {
    record->cancel_sent = true;
    record->deadline = now() + options_.deadlines.grace;
    if (!DETENT_HAS_FN(detent_executor, &table(), cancel)) return;
    Guard("cancel", [&] { table().cancel(self_, op); });
    return;
  }
  const OpKind kind = record->kind;
  if (!ops_.End(op)) return;
  Misbehaved("an op was not completed after it was cancelled (rule D-OP-2)", NameOf(kind));
  OpResult result{};
  result.size = sizeof result;
  result.code = DETENT_E_DEADLINE;
  result.message = View("the plugin did not answer in time");
  FinishOp(op, result);
}

void Instance::Submit(std::vector<TaskCommand> commands) {
  Post([this, commands = std::move(commands)]() mutable {
    for (TaskCommand& command : commands) desk_.Handle(command);
  });
}

void Instance::ReadLog(LogReadOrder order, std::function<void(Result<LogChunk>)> done) {
  Post([this, order = std::move(order), done = std::move(done)] {
    const auto* logs = static_cast<const detent_logs*>(LogsOf(table()));
    if (logs == nullptr || !DETENT_HAS_FN(detent_logs, logs, read)) {
      return done(Error(Code::kUnsupported, "executor '" + options_.kind + "' keeps no output"));
    }
    if (state_.load() != State::kOpen) {
      return done(Error(Code::kUnavailable, "executor '" + options_.kind + "' is closing"));
    }
    const std::string key = AbiKey(order.key);
    detent_log_read what{};
    what.size = sizeof what;
    what.key = View(key);
    what.offset = static_cast<uint64_t>(std::max<int64_t>(order.offset, 0));
    what.max_bytes = static_cast<uint32_t>(std::clamp<size_t>(order.bytes_max, 1, 1u << 20));
    const detent_op op = BeginOp(OpKind::kReadLog, 0, [done, order](const OpResult& result) {
      if (result.code != DETENT_OK) return done(ErrorOf(result));
      LogChunk piece;
      piece.lines = BufferView(result.body);
      piece.next_offset = std::max(order.offset, static_cast<int64_t>(result.value));
      piece.skipped = (result.flags & DETENT_LOGS_GAP) != 0;
      done(std::move(piece));
    });
    if (!Guard("logs.read", [&] { logs->read(self_, op, &what); })) FailOpenOp(op);
  });
}

bool Instance::MayCheckLive() const {
  return !never_live_.load(std::memory_order_relaxed) && LiveTableOf(table()) != nullptr;
}

bool Instance::ChecksBeforeOpen(const detent_executor& table) {
  const detent_validate_live* live = LiveTableOf(table);
  return live != nullptr && (live->flags & DETENT_VALIDATE_LIVE_BEFORE_OPEN) != 0;
}

void Instance::CheckLive(LiveCheckOrder order, std::function<void(Result<LiveAnswer>)> done) {
  Post([this, order = std::move(order), done = std::move(done)] {
    const detent_validate_live* live = LiveTableOf(table());
    const bool looks = live != nullptr && (opened_ || ChecksBeforeOpen(table()));
    if (!looks || draining_ || state_.load() != State::kOpen) {
      return done(Error(Code::kUnsupported, "executor '" + options_.kind + "' does not look now"));
    }
    const auto diag = std::make_shared<detent_diag>();
    const detent_op op = BeginOp(OpKind::kCheckLive, 0, [this, done, diag](const OpResult& result) {
      if (result.code == DETENT_E_UNSUPPORTED) never_live_.store(true);
      if (result.code == DETENT_E_DEADLINE) given_up_.push_back(diag);
      if (result.code != DETENT_OK) return done(ErrorOf(result));
      done(LiveAnswer{(result.flags & DETENT_VALIDATE_LIVE_REFUSES) != 0, std::move(diag->mistakes),
                      std::move(diag->warnings)});
    });
    const detent_str ns = View(order.ns);
    const detent_bytes spec = Bytes(order.spec);
    const bool asked =
        Guard("validate_live.check", [&] { live->check(self_, op, &ns, &spec, diag.get()); });
    if (!asked) FailOpenOp(op);
  });
}

void Instance::Close(std::function<void(std::vector<TaskOrder>)> done) {
  Post([this, done = std::move(done)] {
    closed_ = done;
    BeginDrain();
  });
}

// The tasks move to another instance, in this life of the host or the next. Whatever comes of it,
// close follows, in a turn of its own: the answer may come inside the call.
void Instance::BeginDrain() {
  draining_ = true;
  if (!opened_ || !DETENT_HAS_FN(detent_executor, &table(), drain)) return BeginClose();
  const detent_op op = BeginOp(OpKind::kDrain, 0, [this](const OpResult& result) {
    if (result.code == DETENT_E_DEADLINE) Misbehaved("drain was not completed in time", "");
    Post([this] { BeginClose(); });
  });
  const int64_t deadline = ToNanos(parts_.clock->Now() + options_.deadlines.drain);
  if (!Guard("drain", [&] { table().drain(self_, op, deadline); })) FailOpenOp(op);
}

void Instance::BeginClose() {
  const State before = state_.exchange(State::kClosing, std::memory_order_acq_rel);
  if (before != State::kOpen) {
    close_done_ = true;
    return;
  }
  const detent_op op = BeginOp(OpKind::kClose, 0, [this](const OpResult& result) {
    if (result.code == DETENT_E_DEADLINE) Misbehaved("close was not completed in time", "");
    close_done_ = true;  // What follows waits for the end of the turn: no call is under way then.
  });
  if (!Guard("close", [&] { table().close(self_, op); })) FailOpenOp(op);
}

// Close was completed: nothing new is accepted, and what was accepted runs first.
void Instance::OnCloseDone() {
  state_.store(State::kClosed, std::memory_order_release);
  strand_.CloseGate();
  if (give_up_at_ == MonoTime{}) give_up_at_ = now() + options_.deadlines.close;
  // Work on the pool cannot be cancelled; it has the close's deadline once more.
  const bool waiting = offloaded_.load() > 0 && now() < give_up_at_;
  if (waiting) return;
  final_posted_ = true;
  Post([this] { FinalClose(); });
}

void Instance::FinalClose() {
  AnswerAllClosing();
  std::vector<TaskOrder> orders = desk_.DetachAll();
  for (const detent_op op : ops_.Handles()) {
    if (ops_.End(op)) ops_.Recycle(op);
  }
  Registry().End(handle_);
  state_.store(State::kDestroyed, std::memory_order_release);
  if (offloaded_.load() > 0) {
    Misbehaved("offloaded work did not return; the instance is left in memory", "");
  } else if (created_ && *created_) {
    Guard("destroy", [&] { table().destroy(self_); });
  }
  LogClosing();
  desk_.PostEvents();
  strand_.StopAfterTurn();
  if (closed_ != nullptr) closed_(std::move(orders));
}

void Instance::LogClosing() {
  const int64_t leaked = buffers_.load();
  if (leaked <= 0 || parts_.logger == nullptr) return;
  parts_.logger->Warning("a plugin left buffers behind (rule D-MEM-2)",
                         {{"plugin", options_.name}, {"buffers", leaked}});
}

void Instance::Abandon() {
  abandoned_.store(true, std::memory_order_release);
  sink_.store(nullptr, std::memory_order_release);
  strand_.Abandon();
}

InstanceHealth Instance::health() const {
  std::lock_guard lock(health_mutex_);
  return health_;
}

}  // namespace detent
