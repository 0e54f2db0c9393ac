#include "tests/plugins/fake_host.h"

#include <dlfcn.h>
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "core/plugin/buffer.h"
#include "core/plugin/diag_sink.h"
#include "core/plugin/host_table.h"
#include "detent/services/io.h"

namespace detent::testing {
namespace {

// The functions of the border know their caller by a number only.
std::map<detent_instance, FakeHost*>& Hosts() {
  static std::map<detent_instance, FakeHost*> hosts;
  return hosts;
}

std::map<std::string, const void*, std::less<>>& PureServices() {
  static std::map<std::string, const void*, std::less<>> services;
  return services;
}

std::string Copy(const detent_str& text) {
  return text.len == 0 ? std::string() : std::string(text.ptr, text.len);
}

std::string Copy(const detent_bytes& bytes) {
  return bytes.len == 0 ? std::string()
                        : std::string(reinterpret_cast<const char*>(bytes.ptr), bytes.len);
}

detent_str Lend(std::string_view text) {
  return {text.data(), text.size()};
}

detent_bytes LendBytes(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

int64_t skipped_ns = 0;

int64_t Clock(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return now.tv_sec * int64_t{1000000000} + now.tv_nsec + skipped_ns;
}

detent_result ResultWith(detent_status code) {
  detent_result result{};
  result.size = sizeof(result);
  result.code = code;
  return result;
}

void CallBack(detent_cb cb, void* ctx, detent_status code) {
  const detent_result result = ResultWith(code);
  if (cb != nullptr) cb(ctx, &result);
}

// The core's sink, for what its services find, and what the plugin itself finds in its own words.
struct FindingSink : detent_diag {
  std::vector<Finding> findings;

  std::vector<Finding> All() const {
    std::vector<Finding> all = findings;
    for (const Diagnostic& mistake : mistakes) {
      all.push_back({DETENT_DIAG_ERROR, mistake.pointer, "Service", mistake.message, mistake.hint});
    }
    return all;
  }
};

}  // namespace

struct IoTable {
  static detent_status Watch(detent_instance inst, int32_t fd, uint32_t events, detent_fd_cb cb,
                             void* ctx, detent_watch* out) {
    FakeHost& host = *Hosts().at(inst);
    if (host.closed_) return DETENT_E_CLOSING;
    *out = host.next_handle_++;
    host.watches_[*out] = {fd, events, cb, ctx};
    return DETENT_OK;
  }
  static detent_status Modify(detent_instance inst, detent_watch watch, uint32_t events) {
    FakeHost& host = *Hosts().at(inst);
    if (host.watches_.count(watch) == 0) return DETENT_E_STALE;
    host.watches_[watch].events = events;
    return DETENT_OK;
  }
  static detent_status Unwatch(detent_instance inst, detent_watch watch) {
    return Hosts().at(inst)->watches_.erase(watch) == 1 ? DETENT_OK : DETENT_E_STALE;
  }
  static constexpr detent_io kTable{sizeof(detent_io), 0, &Watch, &Modify, &Unwatch};
};

struct HostTable {
  static std::function<void(bool)> Answering(detent_cb cb, void* ctx) {
    return [cb, ctx](bool closing) { CallBack(cb, ctx, closing ? DETENT_E_CLOSING : DETENT_OK); };
  }

  static const void* Service(detent_instance inst, const char* id) {
    if (std::string_view(id) == DETENT_SVC_JSON) return JsonService();
    const auto pure = PureServices().find(std::string_view(id));
    if (pure != PureServices().end()) return pure->second;
    if (inst == 0) return nullptr;
    if (std::string_view(id) == DETENT_SVC_IO) return &IoTable::kTable;
    const auto& services = Hosts().at(inst)->services_;
    const auto at = services.find(id);
    return at == services.end() ? nullptr : at->second;
  }

  static void Log(detent_instance inst, const detent_log* line) {
    if (Hosts().count(inst) == 0) return;
    Hosts()[inst]->log_.push_back(Copy(line->msg) + " " + Copy(line->fields));
  }

  static int64_t Now(detent_instance, uint32_t clock) {
    return Clock(clock == DETENT_CLOCK_WALL ? CLOCK_REALTIME : CLOCK_MONOTONIC);
  }

  static detent_status Complete(detent_instance inst, detent_op op, const detent_result* result) {
    Answer& answer = Hosts().at(inst)->ops_[op];
    if (answer.given) return DETENT_E_STALE;
    answer.given = true;
    answer.code = result->code;
    answer.reason = Copy(result->reason);
    answer.message = Copy(result->message);
    answer.flags = result->flags;
    answer.retry_after_ms = result->retry_after_ms;
    answer.value = result->value;
    answer.value2 = result->value2;
    answer.body = BufferView(result->body);
    return DETENT_OK;
  }

  static detent_status Progress(detent_instance, detent_op, uint32_t, const detent_str*) {
    return DETENT_OK;
  }

  static detent_status TaskUpdate(detent_instance inst, detent_task task,
                                  const detent_task_status* status) {
    FakeHost::TaskRecord& record = Hosts().at(inst)->tasks_[task];
    if (status->seq <= record.last.seq || record.last.phase == DETENT_PHASE_TERMINATED) {
      return DETENT_OK;
    }
    record.last = Update{status->phase,         status->result,           status->flags,
                         status->seq,           status->running_ns,       status->finished_ns,
                         status->exit_code,     status->signal,           Copy(status->reason),
                         Copy(status->message), Copy(status->object_ref), Copy(status->output),
                         Copy(status->extra)};
    record.all.push_back(record.last);
    return DETENT_OK;
  }

  static detent_status Bind(detent_instance inst, detent_task task, void* user) {
    Hosts().at(inst)->tasks_[task].user = user;
    return DETENT_OK;
  }

  static detent_status Checkpoint(detent_instance inst, detent_task task, const detent_blob* blob,
                                  detent_cb cb, void* ctx) {
    FakeHost& host = *Hosts().at(inst);
    if (host.closed_) return DETENT_E_CLOSING;
    host.tasks_[task].blob = Copy(blob->data);
    host.queue_.push_back(Answering(cb, ctx));
    return DETENT_OK;
  }

  static detent_status TimerStart(detent_instance inst, uint64_t delay_ns, detent_cb cb, void* ctx,
                                  detent_timer* out) {
    FakeHost& host = *Hosts().at(inst);
    if (host.closed_) return DETENT_E_CLOSING;
    *out = host.next_handle_++;
    host.timers_[*out] = {Clock(CLOCK_MONOTONIC) + static_cast<int64_t>(delay_ns), cb, ctx};
    return DETENT_OK;
  }

  static detent_status TimerCancel(detent_instance inst, detent_timer timer) {
    FakeHost& host = *Hosts().at(inst);
    const auto at = host.timers_.find(timer);
    if (at == host.timers_.end()) return DETENT_E_STALE;
    const FakeHost::TimerRecord record = at->second;
    host.timers_.erase(at);
    host.queue_.push_back([record](bool) { CallBack(record.cb, record.ctx, DETENT_E_CANCELLED); });
    return DETENT_OK;
  }

  static detent_status Post(detent_instance inst, detent_cb cb, void* ctx) {
    FakeHost& host = *Hosts().at(inst);
    if (host.closed_) return DETENT_E_CLOSING;
    host.queue_.push_back(Answering(cb, ctx));
    return DETENT_OK;
  }

  static detent_status Offload(detent_instance inst, detent_work work, detent_cb done, void* ctx) {
    FakeHost& host = *Hosts().at(inst);
    if (host.closed_) return DETENT_E_CLOSING;
    host.queue_.push_back([work, done, ctx](bool closing) {
      if (!closing) work(ctx);
      CallBack(done, ctx, closing ? DETENT_E_CLOSING : DETENT_OK);
    });
    return DETENT_OK;
  }

  static detent_status Health(detent_instance, uint32_t, const detent_str*, const detent_bytes*) {
    return DETENT_OK;
  }

  static detent_buf BufNew(detent_instance, const detent_bytes* bytes) {
    return NewBuffer(Copy(*bytes));
  }
  static detent_status BufView(detent_buf buf, detent_bytes* out) {
    if (!BufferLives(buf)) return DETENT_E_STALE;
    *out = LendBytes(BufferView(buf));
    return DETENT_OK;
  }

  static void DiagAdd(detent_diag* diag, uint32_t severity, const detent_str* pointer,
                      const detent_str* reason, const detent_str* message, const detent_str* hint) {
    static_cast<FindingSink*>(diag)->findings.push_back(
        {severity, Copy(*pointer), Copy(*reason), Copy(*message),
         hint == nullptr ? std::string() : Copy(*hint)});
  }

  static uint32_t Where(detent_instance) { return DETENT_ON_STRAND; }

  static constexpr detent_host kTable{sizeof(detent_host),
                                      DETENT_ABI_MAJOR,
                                      DETENT_ABI_MINOR,
                                      &Service,
                                      &Log,
                                      &Now,
                                      &Complete,
                                      &Progress,
                                      &TaskUpdate,
                                      &Bind,
                                      &Checkpoint,
                                      &TimerStart,
                                      &TimerCancel,
                                      &Post,
                                      &Offload,
                                      &Health,
                                      &BufNew,
                                      &BufView,
                                      &RetainBuffer,
                                      &ReleaseBuffer,
                                      &DiagAdd,
                                      &Where};
};

FakeHost::FakeHost(const std::string& plugin_path, std::string_view kind) {
  static detent_instance next_instance = 1;
  instance_ = next_instance++;
  Hosts()[instance_] = this;
  void* const library = dlopen(plugin_path.c_str(), RTLD_NOW | RTLD_LOCAL);
  void* const entry = library == nullptr ? nullptr : dlsym(library, DETENT_PLUGIN_ENTRY_NAME);
  if (entry == nullptr) {
    std::fprintf(stderr, "%s\n", dlerror());
    std::abort();
  }
  detent_hello hello{};
  hello.size = sizeof(hello);
  hello.abi_major = DETENT_ABI_MAJOR;
  hello.abi_minor = hello.abi_minor_min = DETENT_ABI_MINOR;
  hello.host_name = Lend("fake");
  const detent_plugin* const plugin = reinterpret_cast<detent_plugin_entry_fn>(entry)(&hello);
  for (uint32_t i = 0; plugin != nullptr && i < plugin->count; ++i) {
    if (Copy(plugin->executors[i]->kind) == kind) executor_ = plugin->executors[i];
  }
  if (executor_ == nullptr) std::abort();
}

FakeHost::~FakeHost() {
  Close();
  Hosts().erase(instance_);
}

std::vector<Finding> FakeHost::Validate(std::string_view spec) {
  FindingSink diag;
  const detent_bytes bytes = LendBytes(spec);
  const detent_status status = executor_->validate(&HostTable::kTable, &bytes, &diag);
  std::vector<Finding> findings = diag.All();
  if (status != DETENT_OK && findings.empty()) {
    findings.push_back({DETENT_DIAG_ERROR, "", "Status", std::to_string(status), ""});
  }
  return findings;
}

std::string FakeHost::Schema(uint32_t which) {
  detent_buf buf = 0;
  if (executor_->schema(&HostTable::kTable, which, &buf) != DETENT_OK) return {};
  const std::string text(BufferView(buf));
  ReleaseBuffer(buf);
  return text;
}

detent_status FakeHost::Create(const std::string& state_dir, std::string_view config,
                               std::vector<Finding>* findings) {
  FindingSink diag;
  detent_instance_info info{};
  info.size = sizeof(info);
  info.name = Lend("test");
  info.kind = executor_->kind;
  info.state_dir = Lend(state_dir);
  info.config = LendBytes(config);
  const detent_status status =
      executor_->create(&HostTable::kTable, instance_, &info, &self_, &diag);
  if (findings != nullptr) *findings = diag.All();
  return status;
}

Answer FakeHost::Open() {
  const detent_op op = NewOp();
  executor_->open(self_, op);
  return Await(op);
}

void FakeHost::Close() {
  if (self_ == nullptr) return;
  const detent_op op = NewOp();
  executor_->close(self_, op);
  Await(op);
  closed_ = true;
  AnswerAllClosing();
  for (auto& [task, record] : tasks_) {
    if (record.held && executor_->detach != nullptr) executor_->detach(self_, task, record.user);
    record.held = false;
  }
  watches_.clear();
  executor_->destroy(self_);
  self_ = nullptr;
}

// A callback may cancel a timer, so what is left is looked at anew each time.
void FakeHost::AnswerAllClosing() {
  for (const auto& answer : at_close_) answer();
  while (!queue_.empty() || !timers_.empty()) {
    if (!queue_.empty()) {
      const auto next = std::move(queue_.front());
      queue_.pop_front();
      next(true);
      continue;
    }
    const TimerRecord record = timers_.begin()->second;
    timers_.erase(timers_.begin());
    CallBack(record.cb, record.ctx, DETENT_E_CLOSING);
  }
}

detent_task FakeHost::NewTask(std::string key, std::string spec, uint32_t flags) {
  const detent_task task = next_handle_++;
  TaskRecord& record = tasks_[task];
  record.name = key.substr(0, 63);
  record.key = std::move(key);
  record.spec = std::move(spec);
  record.flags = flags;
  return task;
}

void FakeHost::SetPureService(std::string_view id, const void* table) {
  if (table == nullptr) {
    PureServices().erase(std::string(id));
  } else {
    PureServices()[std::string(id)] = table;
  }
}

void FakeHost::Remember(detent_task task, std::string blob, uint32_t last_phase) {
  tasks_[task].blob = std::move(blob);
  tasks_[task].last_phase = last_phase;
}

detent_op FakeHost::NewOp() {
  const detent_op op = next_handle_++;
  ops_[op] = Answer{};
  return op;
}

void FakeHost::CallWithRef(detent_task task, detent_op op,
                           void (*slot)(void*, detent_op, const detent_task_ref*)) {
  tasks_[task].held = true;
  const TaskRecord record = tasks_[task];
  detent_task_ref ref{};
  ref.size = sizeof(ref);
  ref.attempt = 1;
  ref.task = task;
  ref.key = Lend(record.key);
  ref.name = Lend(record.name);
  ref.namespace_ = Lend("default");
  ref.spec = LendBytes(record.spec);
  ref.last_phase = std::max(record.last.phase, record.last_phase);
  const detent_blob blob{sizeof(blob), 1, LendBytes(record.blob)};
  if (!record.blob.empty()) ref.blob = &blob;
  ref.flags = record.flags;
  ref.job_name = Lend("job");
  ref.job_uid = Lend("uid");
  slot(self_, op, &ref);
}

detent_op FakeHost::Start(detent_task task) {
  const detent_op op = NewOp();
  CallWithRef(task, op, executor_->start);
  return op;
}

detent_op FakeHost::Recover(detent_task task) {
  const detent_op op = NewOp();
  CallWithRef(task, op, executor_->recover);
  return op;
}

detent_op FakeHost::CallKill(detent_task task, const detent_kill& how) {
  const detent_op op = NewOp();
  executor_->kill(self_, op, task, tasks_[task].user, &how);
  return op;
}

detent_op FakeHost::Kill(detent_task task, uint64_t grace_ns, std::string_view reason) {
  return CallKill(task, {sizeof(detent_kill), DETENT_KILL_GRACEFUL, grace_ns, Lend(reason)});
}

detent_op FakeHost::KillNow(detent_task task, std::string_view reason) {
  return CallKill(task, {sizeof(detent_kill), DETENT_KILL_IMMEDIATE, 0, Lend(reason)});
}

detent_op FakeHost::ForceDelete(detent_task task) {
  const detent_op op = NewOp();
  executor_->force_delete(self_, op, task, tasks_[task].user);
  return op;
}

detent_op FakeHost::ReadLog(std::string_view key, uint64_t offset, uint32_t max_bytes,
                            uint32_t streams, uint32_t flags) {
  const auto* logs = static_cast<const detent_logs*>(executor_->extension(DETENT_EXT_LOGS));
  const detent_op op = NewOp();
  const std::string text(key);
  detent_log_read what{};
  what.size = sizeof(what);
  what.flags = flags;
  what.key = Lend(text);
  if (names_logs) {
    what.name = Lend(text);
    what.namespace_ = Lend("default");
  }
  what.offset = offset;
  what.max_bytes = max_bytes;
  what.streams = streams;
  logs->read(self_, op, &what);
  return op;
}

detent_op FakeHost::CheckLive(std::string_view spec) {
  const auto* live =
      static_cast<const detent_validate_live*>(executor_->extension(DETENT_EXT_VALIDATE_LIVE));
  const detent_op op = NewOp();
  const auto sink = std::make_shared<FindingSink>();
  sinks_[op] = sink;
  const detent_str ns = Lend("default");
  const detent_bytes bytes = LendBytes(spec);
  live->check(self_, op, &ns, &bytes, sink.get());
  return op;
}

std::vector<Finding> FakeHost::found(detent_op op) {
  return static_cast<const FindingSink*>(sinks_.at(op).get())->All();
}

void FakeHost::Discard(std::string_view key) {
  const auto* logs = static_cast<const detent_logs*>(executor_->extension(DETENT_EXT_LOGS));
  const std::string text(key);
  const detent_str lent = Lend(text);
  logs->discard(self_, &lent);
}

void FakeHost::Cancel(detent_op op) {
  executor_->cancel(self_, op);
}

void FakeHost::Release(detent_task task) {
  executor_->release(self_, task, tasks_[task].user);
  tasks_[task].user = nullptr;
  tasks_[task].held = false;
}

void FakeHost::Detach(detent_task task) {
  executor_->detach(self_, task, tasks_[task].user);
  tasks_[task].user = nullptr;
  tasks_[task].held = false;
}

void FakeHost::SkipTime(int64_t seconds) {
  skipped_ns += seconds * int64_t{1000000000};
}

bool FakeHost::RunUntil(const Condition& condition, int timeout_ms) {
  const int64_t deadline = Clock(CLOCK_MONOTONIC) + timeout_ms * int64_t{1000000};
  while (!condition()) {
    if (Clock(CLOCK_MONOTONIC) > deadline) return false;
    // Conditions may look at things outside, so the loop wakes up even when nothing happens.
    Turn(2);
  }
  return true;
}

Answer FakeHost::Await(detent_op op) {
  RunUntil([&] { return ops_[op].given; });
  return ops_[op];
}

bool FakeHost::AwaitPhase(detent_task task, uint32_t phase) {
  return RunUntil([&] { return tasks_[task].last.phase >= phase; });
}

void FakeHost::Turn(int timeout_ms) {
  RunQueue();
  RunTimers();
  RunWatches(queue_.empty() ? timeout_ms : 0);
}

void FakeHost::RunQueue() {
  for (size_t count = queue_.size(); count > 0; --count) {
    const auto next = std::move(queue_.front());
    queue_.pop_front();
    next(false);
  }
}

void FakeHost::RunTimers() {
  const int64_t now = Clock(CLOCK_MONOTONIC);
  std::vector<detent_timer> due;
  for (const auto& [timer, record] : timers_) {
    if (record.due_ns <= now) due.push_back(timer);
  }
  for (const detent_timer timer : due) {
    const auto at = timers_.find(timer);
    if (at == timers_.end()) continue;
    const TimerRecord record = at->second;
    timers_.erase(at);
    CallBack(record.cb, record.ctx, DETENT_OK);
  }
}

void FakeHost::RunWatches(int timeout_ms) {
  std::vector<pollfd> polled;
  std::vector<detent_watch> ids;
  for (const auto& [watch, record] : watches_) {
    short events = 0;
    if ((record.events & DETENT_IO_READ) != 0) events |= POLLIN;
    if ((record.events & DETENT_IO_WRITE) != 0) events |= POLLOUT;
    polled.push_back({record.fd, events, 0});
    ids.push_back(watch);
  }
  if (poll(polled.data(), static_cast<nfds_t>(polled.size()), timeout_ms) <= 0) return;
  for (size_t i = 0; i < polled.size(); ++i) {
    const auto at = watches_.find(ids[i]);
    if (polled[i].revents == 0 || at == watches_.end()) continue;
    uint32_t events = 0;
    if ((polled[i].revents & POLLIN) != 0) events |= DETENT_IO_READ;
    if ((polled[i].revents & POLLOUT) != 0) events |= DETENT_IO_WRITE;
    if ((polled[i].revents & POLLERR) != 0) events |= DETENT_IO_ERROR;
    if ((polled[i].revents & POLLHUP) != 0) events |= DETENT_IO_HANGUP;
    const WatchRecord record = at->second;
    record.cb(record.ctx, record.fd, events);
  }
}

}  // namespace detent::testing
