#include "core/plugin/host_table.h"

#include <cstring>

#include "core/base/json.h"
#include "core/plugin/abi_convert.h"
#include "core/plugin/buffer.h"
#include "core/plugin/diag_sink.h"
#include "core/plugin/instance.h"
#include "core/plugin/offload_pool.h"
#include "detent/services/expr.h"
#include "detent/services/http.h"
#include "detent/services/io.h"
#include "detent/services/json.h"
#include "detent/services/kube.h"
#include "detent/services/watch.h"
#include "detent/version.h"

namespace detent {
namespace {

// Runs `work` on the caller's instance. Nothing is thrown through the border: the only exception
// that these functions can meet is a lack of memory.
template <typename Work>
detent_status With(detent_instance handle, Work&& work) noexcept {
  Instance* instance = Instance::Of(handle);
  if (instance == nullptr) return DETENT_E_STALE;
  try {
    return work(*instance);
  } catch (...) {
    return DETENT_E_NO_MEMORY;
  }
}

const void* Service(detent_instance inst, const char* id) {
  if (id == nullptr) return nullptr;
  const Instance* instance = Instance::Of(inst);
  return ServiceTable(id, instance != nullptr && instance->parts().kube != nullptr);
}

void Log(detent_instance inst, const detent_log* line) {
  With(inst, [&](Instance& instance) {
    const detent_log known = Known(line);
    if (known.size > 0) instance.WriteLog(known);
    return DETENT_OK;
  });
}

int64_t NowNs(detent_instance inst, uint32_t clock) {
  int64_t now = 0;
  With(inst, [&](Instance& instance) {
    const Clock& source = *instance.parts().clock;
    if (clock == DETENT_CLOCK_WALL) now = ToNanos(source.Now());
    if (clock == DETENT_CLOCK_MONOTONIC) now = source.Mono().time_since_epoch().count();
    return DETENT_OK;
  });
  return now;
}

detent_status OpComplete(detent_instance inst, detent_op op, const detent_result* result) {
  return With(inst, [&](Instance& instance) { return instance.CompleteOp(op, result); });
}

detent_status OpProgress(detent_instance inst, detent_op, uint32_t permille, const detent_str*) {
  return With(inst, [&](Instance&) { return permille > 1000 ? DETENT_E_INVALID : DETENT_OK; });
}

detent_status TaskUpdate(detent_instance inst, detent_task task, const detent_task_status* status) {
  return With(inst, [&](Instance& instance) { return instance.desk().Update(task, status); });
}

detent_status TaskBind(detent_instance inst, detent_task task, void* user) {
  return With(inst, [&](Instance& instance) { return instance.desk().Bind(task, user); });
}

detent_status TaskCheckpoint(detent_instance inst, detent_task task, const detent_blob* blob,
                             detent_cb cb, void* ctx) {
  return With(inst,
              [&](Instance& instance) { return instance.desk().Checkpoint(task, blob, cb, ctx); });
}

detent_status TimerStart(detent_instance inst, uint64_t delay_ns, detent_cb cb, void* ctx,
                         detent_timer* out) {
  return With(inst,
              [&](Instance& instance) { return instance.StartTimer(delay_ns, cb, ctx, out); });
}

detent_status TimerCancel(detent_instance inst, detent_timer timer) {
  return With(inst, [&](Instance& instance) { return instance.CancelTimer(timer); });
}

detent_status PostTo(detent_instance inst, detent_cb cb, void* ctx) {
  return With(inst, [&](Instance& instance) { return instance.PostCallback(cb, ctx); });
}

detent_status OffloadFrom(detent_instance inst, detent_work work, detent_cb done, void* ctx) {
  return With(inst, [&](Instance& instance) { return instance.Offload(work, done, ctx); });
}

detent_status HealthOf(detent_instance inst, uint32_t state, const detent_str* why,
                       const detent_bytes* attributes) {
  return With(inst, [&](Instance& instance) {
    if (attributes != nullptr && attributes->len > 0 && !ParseJson(Text(*attributes))) {
      return DETENT_E_INVALID;
    }
    return instance.Health(state, why);
  });
}

detent_buf BufNew(detent_instance inst, const detent_bytes* bytes) {
  if (bytes == nullptr || bytes->len > kBufferBytesMax) return 0;
  Instance* instance = Instance::Of(inst);
  if (instance == nullptr && inst != 0) return 0;
  try {
    return NewBuffer(std::string(Text(*bytes)),
                     instance == nullptr ? nullptr : &instance->buffers());
  } catch (...) {
    return 0;
  }
}

detent_status BufView(detent_buf buffer, detent_bytes* out) {
  if (out == nullptr) return DETENT_E_INVALID;
  if (!BufferLives(buffer)) return DETENT_E_STALE;
  *out = Bytes(BufferView(buffer));
  return DETENT_OK;
}

std::string Given(const detent_str* text, size_t most) {
  return text == nullptr ? std::string() : Repaired(Text(*text), most);
}

void DiagAdd(detent_diag* diag, uint32_t severity, const detent_str* pointer,
             const detent_str* reason, const detent_str* message, const detent_str* hint) {
  if (diag == nullptr) return;
  try {
    Diagnostic finding;
    finding.pointer = Given(pointer, 1024);
    finding.message = Given(message, 1024);
    finding.hint = Given(hint, 1024);
    AddFinding(*diag, severity, std::move(finding), Given(reason, 64));
  } catch (...) {
    ++diag->dropped;
  }
}

uint32_t Where(detent_instance inst) {
  if (OffloadPool::OnPoolThread()) return DETENT_ON_OFFLOAD;
  const Instance* instance = Instance::Of(inst);
  return instance != nullptr && instance->OnStrand() ? DETENT_ON_STRAND : DETENT_ON_FOREIGN;
}

constexpr detent_host kTable = {
    sizeof(detent_host),
    DETENT_ABI_MAJOR,
    DETENT_ABI_MINOR,
    &Service,
    &Log,
    &NowNs,
    &OpComplete,
    &OpProgress,
    &TaskUpdate,
    &TaskBind,
    &TaskCheckpoint,
    &TimerStart,
    &TimerCancel,
    &PostTo,
    &OffloadFrom,
    &HealthOf,
    &BufNew,
    &BufView,
    &RetainBuffer,
    &ReleaseBuffer,
    &DiagAdd,
    &Where,
};

}  // namespace

const detent_host* HostTable() {
  return &kTable;
}

const void* ServiceTable(const char* id, bool has_cluster) {
  if (std::strcmp(id, DETENT_SVC_JSON) == 0) return JsonService();
  if (std::strcmp(id, DETENT_SVC_EXPR) == 0) return ExprService();
  if (std::strcmp(id, DETENT_SVC_HTTP) == 0) return HttpService();
  if (std::strcmp(id, DETENT_SVC_IO) == 0) return IoService();
  if (std::strcmp(id, DETENT_SVC_KUBE) == 0) return has_cluster ? KubeService() : nullptr;
  if (std::strcmp(id, DETENT_SVC_WATCH) == 0) return has_cluster ? WatchService() : nullptr;
  return AbsentService(id);
}

}  // namespace detent
