// An executor for tests: what it does is written in the task's spec, {"mode": "..."}.
//
// It uses the host by the C headers alone, and frees all that it takes, so that sanitizers can
// judge the host with it.

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>

#include "detent/detent.h"
#include "detent/ext/logs.h"
#include "detent/ext/permissions.h"
#include "detent/ext/validate_live.h"

namespace {

const detent_host* host = nullptr;
const detent_json* json = nullptr;

detent_str Str(const std::string& text) {
  return {text.data(), text.size()};
}

struct Task;

struct Self {
  detent_instance inst = 0;
  std::string state_dir;
  bool fail_open_once = false;
  std::string behaviour;
  std::string other;         // The instance that "drain-together" waits for.
  detent_op waiting_op = 0;  // Completed by a later call.
  std::map<detent_task, Task*> tasks;
};

struct Task {
  Self* self = nullptr;
  detent_task task = 0;
  uint64_t seq = 0;
  std::string mode;
  detent_timer timer = 0;
  detent_watch watch = 0;
  int pipe_ends[2] = {-1, -1};
  std::thread thread;
};

void Report(Task* task, uint32_t phase, uint32_t result = 0, const std::string& message = "",
            const std::string& output = "") {
  detent_task_status status{};
  status.size = sizeof status;
  status.phase = phase;
  status.result = result;
  status.seq = ++task->seq;
  status.message = Str(message);
  status.output = {reinterpret_cast<const uint8_t*>(output.data()), output.size()};
  const std::string object_ref = "thing " + task->mode;
  status.object_ref = Str(object_ref);
  const std::string extra = R"({"mode":")" + task->mode + R"("})";
  status.extra = {reinterpret_cast<const uint8_t*>(extra.data()), extra.size()};
  host->task_update(task->self->inst, task->task, &status);
}

void Complete(Self* self, detent_op op, detent_status code, const std::string& reason = "",
              uint32_t retry_after_ms = 0) {
  detent_result result{};
  result.size = sizeof result;
  result.code = code;
  result.reason = Str(reason);
  result.retry_after_ms = retry_after_ms;
  host->op_complete(self->inst, op, &result);
}

// Leaves a file behind, for the test to see.
void Mark(Self* self, const std::string& name) {
  if (FILE* file = std::fopen((self->state_dir + "/" + name).c_str(), "w")) std::fclose(file);
}

void Log(Task* task, const std::string& text) {
  detent_log line{};
  line.size = sizeof line;
  line.level = DETENT_LOG_INFO;
  line.task = task->task;
  line.msg = Str(text);
  host->log(task->self->inst, &line);
}

// The end of a task by a callback, with what the callback was told as its message.
void Ended(void* ctx, const detent_result* result) {
  auto* task = static_cast<Task*>(ctx);
  if (result->code == DETENT_E_CLOSING) return Log(task, "told of the close");
  Report(task, DETENT_PHASE_TERMINATED, DETENT_RESULT_SUCCEEDED,
         "code " + std::to_string(result->code) + " where " +
             std::to_string(host->where(task->self->inst)));
}

void OnReadable(void* ctx, int32_t fd, uint32_t events) {
  auto* task = static_cast<Task*>(ctx);
  char byte = 0;
  const ssize_t got = read(fd, &byte, 1);
  host->service(task->self->inst, DETENT_SVC_IO);
  static_cast<const detent_io*>(host->service(task->self->inst, DETENT_SVC_IO))
      ->unwatch(task->self->inst, task->watch);
  Report(task, DETENT_PHASE_TERMINATED, DETENT_RESULT_SUCCEEDED,
         std::to_string(got) + " byte, events " + std::to_string(events));
}

void OnHttp(void* ctx, const detent_http_response* response) {
  auto* task = static_cast<Task*>(ctx);
  if (response->code == DETENT_E_CLOSING) return Mark(task->self, "http-closed");
  detent_bytes body{};
  host->buf_view(response->body, &body);
  Report(task, DETENT_PHASE_TERMINATED, DETENT_RESULT_SUCCEEDED,
         std::to_string(response->code) + " " + std::to_string(response->http_status) + " " +
             std::string(reinterpret_cast<const char*>(body.ptr), body.len));
}

void Work(void* ctx) {
  auto* task = static_cast<Task*>(ctx);
  Report(task, DETENT_PHASE_RUNNING, 0, "where " + std::to_string(host->where(task->self->inst)));
}

std::string Member(const detent_bytes& spec, const char* name) {
  detent_doc doc = 0;
  std::string text;
  if (json->parse(0, &spec, 0, &doc, nullptr) != DETENT_OK) return text;
  const detent_str wanted{name, std::strlen(name)};
  detent_str found{};
  const detent_node node = json->member(doc, json->root(doc), &wanted);
  if (json->str(doc, node, &found) == DETENT_OK) text.assign(found.ptr, found.len);
  json->release(doc);
  return text;
}

void StartHttp(Task* task, const std::string& url, const std::string& server_name) {
  detent_http_request request{};
  request.size = sizeof request;
  request.method = {"GET", 3};
  request.url = Str(url);
  request.tls_server_name = Str(server_name);
  const auto* http =
      static_cast<const detent_http*>(host->service(task->self->inst, DETENT_SVC_HTTP));
  const detent_status taken = http->request(task->self->inst, &request, OnHttp, task, nullptr);
  if (taken == DETENT_OK) return;
  Report(task, DETENT_PHASE_TERMINATED, DETENT_RESULT_FAILED, "code " + std::to_string(taken));
}

void StartCheckpoint(Task* task) {
  detent_blob blob{};
  blob.size = sizeof blob;
  blob.state_version = 1;
  blob.data = {reinterpret_cast<const uint8_t*>("kept"), 4};
  host->task_checkpoint(task->self->inst, task->task, &blob, Ended, task);
}

void StartFd(Task* task) {
  if (pipe2(task->pipe_ends, O_NONBLOCK | O_CLOEXEC) != 0) return;
  const auto* io = static_cast<const detent_io*>(host->service(task->self->inst, DETENT_SVC_IO));
  io->watch_fd(task->self->inst, task->pipe_ends[0], DETENT_IO_READ, OnReadable, task,
               &task->watch);
  [[maybe_unused]] const ssize_t put = write(task->pipe_ends[1], "x", 1);
}

void Nothing(void*, const detent_result*) {}
void NothingOfHttp(void*, const detent_http_response*) {}

// Takes every handle for callbacks that the host has, and then asks for more than the limits of
// timers and requests; says what it was answered.
void Exhaust(Task* task) {
  Self* self = task->self;
  detent_blob blob{};
  blob.size = sizeof blob;
  while (host->task_checkpoint(self->inst, task->task, &blob, Nothing, task) == DETENT_OK) {
  }
  detent_http_request request{};
  request.size = sizeof request;
  request.method = {"GET", 3};
  request.url = {"http://127.0.0.1:1/", 19};
  const auto* http = static_cast<const detent_http*>(host->service(self->inst, DETENT_SVC_HTTP));
  int timers = 0, requests = 0;
  for (int i = 0; i < 3000; ++i) {
    detent_timer timer = 0;
    if (host->timer_start(self->inst, 0, Nothing, task, &timer) == DETENT_E_NO_MEMORY) ++timers;
    if (http->request(self->inst, &request, NothingOfHttp, task, nullptr) == DETENT_E_NO_MEMORY) {
      ++requests;
    }
  }
  Report(task, DETENT_PHASE_TERMINATED, DETENT_RESULT_SUCCEEDED,
         std::to_string(timers) + " " + std::to_string(requests));
}

// Begins what the mode says; false where it has completed the op itself.
bool Begin(Task* task, detent_op op, const detent_bytes& spec) {
  const std::string& mode = task->mode;
  Self* self = task->self;
  if (mode == "busy") return Complete(self, op, DETENT_E_BUSY, "", 10), false;
  if (mode == "invalid") return Complete(self, op, DETENT_E_INVALID, "BadSpec"), false;
  if (mode == "unknown") return Complete(self, op, DETENT_E_INTERNAL), false;
  if (mode == "silent") return self->waiting_op = op, false;
  if (mode == "throw") throw std::runtime_error("from start");
  Report(task, DETENT_PHASE_RUNNING);
  if (mode == "timer") host->timer_start(self->inst, 1'000'000, Ended, task, &task->timer);
  if (mode == "long-timer" || mode == "cancelled-timer") {
    host->timer_start(self->inst, 3'600'000'000'000, Ended, task, &task->timer);
  }
  if (mode == "cancelled-timer") host->timer_cancel(self->inst, task->timer);
  if (mode == "fd") StartFd(task);
  if (mode == "exhaust") Exhaust(task);
  if (mode == "post") {
    task->thread = std::thread([task] { host->post(task->self->inst, Ended, task); });
  }
  if (mode == "offload") host->offload(self->inst, Work, Ended, task);
  if (mode == "checkpoint") StartCheckpoint(task);
  if (mode == "http") StartHttp(task, Member(spec, "url"), Member(spec, "serverName"));
  if (mode == "instant") {
    Report(task, DETENT_PHASE_TERMINATED, DETENT_RESULT_SUCCEEDED, "bad \xff text", "{\"n\":1}");
    Report(task, DETENT_PHASE_RUNNING, 0, "after the end");
  }
  if (mode == "double") Complete(self, op, DETENT_OK);
  return true;
}

Task* MakeTask(Self* self, const detent_task_ref* ref) {
  Task*& task = self->tasks[ref->task];
  if (task != nullptr) return task;  // Asked again on the same handle.
  task = new Task;
  task->self = self;
  task->task = ref->task;
  task->mode = Member(ref->spec, "mode");
  host->task_bind(self->inst, ref->task, task);
  return task;
}

void Start(void* me, detent_op op, const detent_task_ref* ref) {
  auto* self = static_cast<Self*>(me);
  Task* task = MakeTask(self, ref);
  if (Begin(task, op, ref->spec)) Complete(self, op, DETENT_OK);
}

// Answers with the number that the spec names.
void Recover(void* me, detent_op op, const detent_task_ref* ref) {
  auto* self = static_cast<Self*>(me);
  const std::string answer = Member(ref->spec, "recover");
  Task* task = MakeTask(self, ref);
  const detent_status code = answer.empty() ? DETENT_ADOPTED : std::atoi(answer.c_str());
  if (code == DETENT_ADOPTED) {
    const detent_bytes none{};
    const detent_bytes& kept = ref->blob != nullptr ? ref->blob->data : none;
    Report(task, DETENT_PHASE_RUNNING, 0,
           "recovered " + std::string(reinterpret_cast<const char*>(kept.ptr), kept.len));
  }
  if (code == DETENT_TERMINATED) {
    Report(task, DETENT_PHASE_TERMINATED, DETENT_RESULT_FAILED, "ended meanwhile");
  }
  Complete(self, op, code, "", 5);
}

void Kill(void* me, detent_op op, detent_task, void* user, const detent_kill*) {
  auto* self = static_cast<Self*>(me);
  auto* task = static_cast<Task*>(user);
  if (task->mode == "gone") return Complete(self, op, DETENT_E_NOT_FOUND);
  if (task->mode == "unkillable") return Complete(self, op, DETENT_E_UNAVAILABLE, "NotNow");
  Report(task, DETENT_PHASE_TERMINATED, DETENT_RESULT_KILLED);
  Complete(self, op, DETENT_OK);
}

void ForceDelete(void* me, detent_op op, detent_task, void*) {
  Complete(static_cast<Self*>(me), op, DETENT_OK);
}

void LetGo(void*, detent_task, void* user) {
  auto* task = static_cast<Task*>(user);
  if (task == nullptr) return;
  if (task->thread.joinable()) task->thread.join();
  for (const int end : task->pipe_ends) {
    if (end >= 0) close(end);
  }
  task->self->tasks.erase(task->task);
  delete task;
}

detent_status Create(const detent_host* given, detent_instance inst,
                     const detent_instance_info* info, void** out, detent_diag* diag) {
  host = given;
  json = static_cast<const detent_json*>(host->service(inst, DETENT_SVC_JSON));
  const std::string behaviour = Member(info->config, "behaviour");
  if (behaviour == "fail-create") {
    const std::string pointer = "/behaviour", reason = "Invalid", message = "must be another";
    const detent_str p = Str(pointer), r = Str(reason), m = Str(message);
    host->diag_add(diag, DETENT_DIAG_ERROR, &p, &r, &m, nullptr);
    return DETENT_E_INVALID;
  }
  auto* self = new Self;
  self->inst = inst;
  self->state_dir.assign(info->state_dir.ptr, info->state_dir.len);
  self->fail_open_once = behaviour == "fail-open-once";
  self->behaviour = behaviour;
  self->other = Member(info->config, "other");
  *out = self;
  return DETENT_OK;
}

void Open(void* me, detent_op op) {
  auto* self = static_cast<Self*>(me);
  const std::string mark = self->state_dir + "/opened";
  const bool first = access(mark.c_str(), F_OK) != 0;
  if (FILE* file = std::fopen(mark.c_str(), "w")) std::fclose(file);
  const bool fail = self->fail_open_once && first;
  Complete(self, op, fail ? DETENT_E_UNAVAILABLE : DETENT_OK, fail ? "NoBackend" : "");
}

// Completes the drain once the other instance is drained as well.
void AwaitOther(void* ctx, const detent_result* result) {
  auto* self = static_cast<Self*>(ctx);
  if (result->code != DETENT_OK) return;
  if (access((self->state_dir + "/../" + self->other + "/drained").c_str(), F_OK) == 0) {
    Mark(self, "drained-together");
    return Complete(self, self->waiting_op, DETENT_OK);
  }
  detent_timer timer = 0;
  host->timer_start(self->inst, 1'000'000, AwaitOther, self, &timer);
}

// Writes a checkpoint that tells when and where it was called.
void Drain(void* me, detent_op op, int64_t deadline_ns) {
  auto* self = static_cast<Self*>(me);
  Mark(self, "drained");
  if (self->behaviour == "fail-drain") throw std::runtime_error("from drain");
  const int64_t left = deadline_ns - host->now_ns(self->inst, DETENT_CLOCK_WALL);
  const std::string text = "drained where " + std::to_string(host->where(self->inst)) + ", " +
                           (left > 0 && left < 60'000'000'000 ? "in time" : "late");
  for (const auto& [handle, task] : self->tasks) {
    detent_blob blob{};
    blob.size = sizeof blob;
    blob.state_version = 1;
    blob.data = {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
    host->task_checkpoint(self->inst, handle, &blob, Nothing, task);
  }
  if (self->behaviour == "drain-together") {
    self->waiting_op = op;
    const detent_result now{};
    return AwaitOther(self, &now);
  }
  if (self->behaviour == "answer-in-drain") Complete(self, self->waiting_op, DETENT_OK);
  if (self->behaviour != "mute-drain") Complete(self, op, DETENT_OK);
}

void Close(void* me, detent_op op) {
  Complete(static_cast<Self*>(me), op, DETENT_OK);
}

void Destroy(void* me) {
  delete static_cast<Self*>(me);
}

void Observe(void* me, detent_op op, detent_task, void*) {
  Complete(static_cast<Self*>(me), op, DETENT_OK);
}

detent_status Schema(const detent_host* given, uint32_t which, detent_buf* out) {
  if (which != DETENT_SCHEMA_SPEC) return DETENT_E_UNSUPPORTED;
  const std::string text = R"({"type":"object"})";
  const detent_bytes bytes{reinterpret_cast<const uint8_t*>(text.data()), text.size()};
  *out = given->buf_new(0, &bytes);
  return DETENT_OK;
}

// Finds 150 mistakes in {"mode": "many"}, one in a spec without a mode.
detent_status Validate(const detent_host* given, const detent_bytes* spec, detent_diag* diag) {
  host = given;
  json = static_cast<const detent_json*>(given->service(0, DETENT_SVC_JSON));
  const std::string mode = Member(*spec, "mode");
  const int mistakes = mode == "many" ? 150 : mode.empty() ? 1 : 0;
  for (int i = 0; i < mistakes; ++i) {
    const std::string pointer = "/mode", reason = "Required", message = "must be set",
                      hint = "did you mean `instant`?";
    const detent_str p = Str(pointer), r = Str(reason), m = Str(message), h = Str(hint);
    given->diag_add(diag, DETENT_DIAG_ERROR, &p, &r, &m, &h);
  }
  return mistakes > 0 ? DETENT_E_INVALID : DETENT_OK;
}

void ReadLog(void* me, detent_op op, const detent_log_read* what) {
  auto* self = static_cast<Self*>(me);
  const std::string key(what->key.ptr, what->key.len);
  if (key == "nobody.0.1") return Complete(self, op, DETENT_E_NOT_FOUND, "NoSuchLog");
  if (key == "mute.0.1") return;
  const std::string line = "2026-11-20T10:00:00.000000000Z stdout F " + key + "\n";
  const detent_bytes bytes{reinterpret_cast<const uint8_t*>(line.data()), line.size()};
  detent_result result{};
  result.size = sizeof result;
  result.body = host->buf_new(self->inst, &bytes);
  result.value = what->offset + line.size();
  result.flags = what->offset > 0 ? DETENT_LOGS_GAP : 0;
  host->op_complete(self->inst, op, &result);
  host->buf_release(result.body);
}

void Discard(void*, const detent_str*) {}

const detent_logs logs = {sizeof logs, 0, ReadLog, Discard};

// What becomes of a check is written in its spec, {"live": "..."}; what it finds is at /place.
void CheckLive(void* me, detent_op op, const detent_str* ns, const detent_bytes* spec,
               detent_diag* diag) {
  auto* self = static_cast<Self*>(me);
  Mark(self, "checked");
  const std::string live = Member(*spec, "live"), place = Member(*spec, "place");
  if (live == "mute") return;
  if (live == "never") return Complete(self, op, DETENT_E_UNSUPPORTED);
  if (live == "away") return Complete(self, op, DETENT_E_UNAVAILABLE, "NoAnswer");
  if (live == "throw") throw std::runtime_error("from check");
  const std::string text(reinterpret_cast<const char*>(spec->ptr), spec->len);
  const std::string reason = "Invalid", message = std::string(ns->ptr, ns->len) + " " + text;
  const detent_str p = Str(place), r = Str(reason), m = Str(message);
  if (!live.empty()) host->diag_add(diag, DETENT_DIAG_ERROR, &p, &r, &m, nullptr);
  detent_result result{};
  result.size = sizeof result;
  result.flags = live == "refuse" ? DETENT_VALIDATE_LIVE_REFUSES : 0;
  host->op_complete(self->inst, op, &result);
}

#ifndef LIVE_FLAGS
#define LIVE_FLAGS 0
#endif
const detent_validate_live validate_live = {sizeof validate_live, LIVE_FLAGS, CheckLive};

#ifdef GVR
const detent_permission needs[] = {{DETENT_STR_INIT("v1/pods/log"), DETENT_STR_INIT("get")},
                                   {DETENT_STR_INIT(GVR), DETENT_STR_INIT(VERBS)}};
const detent_permissions permissions = {sizeof permissions, 2, needs};
#elif defined(WILD_PERMISSIONS)
const auto* const nowhere = reinterpret_cast<const detent_permission*>(16);
const detent_permissions permissions = {sizeof permissions, 2, nowhere};
#endif

const void* Extension(const char* id) {
#if defined(GVR) || defined(WILD_PERMISSIONS)
  if (std::strcmp(id, DETENT_EXT_PERMISSIONS) == 0) return &permissions;
#endif
  if (std::strcmp(id, DETENT_EXT_VALIDATE_LIVE) == 0) return &validate_live;
  return std::strcmp(id, DETENT_EXT_LOGS) == 0 ? &logs : nullptr;
}

#ifndef GOOD_KIND
#define GOOD_KIND "good"
#endif

detent_executor MakeTable() {
  detent_executor table{};
  table.size = sizeof table;
  table.kind = DETENT_STR_INIT(GOOD_KIND);
  table.state_version = 1;
  table.state_min_version = 1;
  table.schema = Schema;
  table.validate = Validate;
  table.create = Create;
  table.open = Open;
  table.drain = Drain;
  table.close = Close;
  table.destroy = Destroy;
  table.start = Start;
  table.recover = Recover;
  table.observe = Observe;
  table.kill = Kill;
  table.force_delete = ForceDelete;
  table.release = LetGo;
  table.detach = LetGo;
  table.extension = Extension;
  return table;
}

const detent_executor executor = MakeTable();
const detent_executor* const all[] = {&executor};

const detent_plugin plugin = {sizeof plugin,
                              DETENT_ABI_MAJOR,
                              DETENT_ABI_MINOR,
                              DETENT_STR_INIT("dev.detent.test.good"),
                              DETENT_STR_INIT(GOOD_VERSION),
                              1,
                              0,
                              all};

}  // namespace

const detent_plugin* detent_plugin_entry(const detent_hello*) {
  return &plugin;
}
