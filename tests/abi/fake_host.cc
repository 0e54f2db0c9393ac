#include "tests/abi/fake_host.h"

#include <algorithm>
#include <cstring>

#include "core/plugin/buffer.h"
#include "core/plugin/host_table.h"
#include "detent/sdk/text.h"

namespace detent::test {

using sdk::View;

namespace {
FakeHost* current = nullptr;  // the one that lives; see the header
}  // namespace

// The functions of the table.
struct FakeCalls {
  static const void* Service(detent_instance, const char* id) {
    return std::strcmp(id, DETENT_SVC_JSON) == 0 ? JsonService() : nullptr;
  }
  static void Log(detent_instance, const detent_log* line) {
    current->logs.push_back(std::string(View(line->msg)) + " " + std::string(View(line->fields)));
  }
  static int64_t Now(detent_instance, uint32_t) { return current->now; }

  static detent_status Complete(detent_instance, detent_op op, const detent_result* result) {
    SeenResult seen{result->code,
                    std::string(View(result->reason)),
                    std::string(View(result->message)),
                    "",
                    result->value,
                    result->value2,
                    result->flags};
    if (result->body != 0) seen.body = BufferView(result->body);
    current->completed[op].push_back(seen);
    return current->completed[op].size() == 1 ? DETENT_OK : DETENT_E_STALE;
  }
  static detent_status Progress(detent_instance, detent_op, uint32_t, const detent_str*) {
    return DETENT_OK;
  }
  static detent_status Update(detent_instance, detent_task task, const detent_task_status* s) {
    current->updates[task].push_back({s->phase, s->result, s->flags, s->seq,
                                      std::string(View(s->reason)), std::string(View(s->output))});
    return DETENT_OK;
  }
  static detent_status Bind(detent_instance, detent_task task, void* user) {
    current->users[task] = user;
    return DETENT_OK;
  }
  static detent_status Checkpoint(detent_instance, detent_task, const detent_blob* blob,
                                  detent_cb cb, void* ctx) {
    if (current->checkpoint_refusal != DETENT_OK) return current->checkpoint_refusal;
    current->blobs.emplace_back(View(blob->data));
    return Later(0, cb, ctx, nullptr);
  }

  static detent_status Later(int64_t delay, detent_cb cb, void* ctx, uint64_t* out) {
    const uint64_t id = ++current->next_;
    const auto run = [cb, ctx](detent_status code) {
      detent_result result{};
      result.size = sizeof(result);
      result.code = code;
      if (cb != nullptr) cb(ctx, &result);
    };
    current->pending_.push_back({id, current->now + delay, false, run});
    if (out != nullptr) *out = id;
    return DETENT_OK;
  }
  static detent_status TimerStart(detent_instance, uint64_t delay, detent_cb cb, void* ctx,
                                  detent_timer* out) {
    return Later(static_cast<int64_t>(delay), cb, ctx, out);
  }
  static detent_status TimerCancel(detent_instance, detent_timer timer) {
    for (auto& pending : current->pending_) {
      if (pending.id != timer) continue;
      pending.cancelled = true;
      pending.due = current->now;
      return DETENT_OK;
    }
    return DETENT_E_STALE;
  }
  static detent_status Post(detent_instance, detent_cb cb, void* ctx) {
    return Later(0, cb, ctx, nullptr);
  }
  static detent_status Offload(detent_instance, detent_work work, detent_cb done, void* ctx) {
    work(ctx);
    return Later(0, done, ctx, nullptr);
  }
  static detent_status Health(detent_instance, uint32_t, const detent_str*, const detent_bytes*) {
    return DETENT_OK;
  }

  static detent_buf BufNew(detent_instance, const detent_bytes* bytes) {
    return NewBuffer(std::string(View(*bytes)));
  }
  static detent_status BufView(detent_buf buf, detent_bytes* out) {
    if (!BufferLives(buf)) return DETENT_E_STALE;
    *out = sdk::Bytes(BufferView(buf));
    return DETENT_OK;
  }

  static void Diag(detent_diag*, uint32_t, const detent_str* pointer, const detent_str* reason,
                   const detent_str*, const detent_str* hint) {
    std::string line(View(*pointer));
    line.append(" ").append(View(*reason));
    if (hint != nullptr) line.append(" ").append(View(*hint));
    current->findings.push_back(line);
  }
  static uint32_t Where(detent_instance) { return DETENT_ON_STRAND; }
};

FakeHost::FakeHost()
    : table_{sizeof(detent_host),     DETENT_ABI_MAJOR,       DETENT_ABI_MINOR,
             &FakeCalls::Service,     &FakeCalls::Log,        &FakeCalls::Now,
             &FakeCalls::Complete,    &FakeCalls::Progress,   &FakeCalls::Update,
             &FakeCalls::Bind,        &FakeCalls::Checkpoint, &FakeCalls::TimerStart,
             &FakeCalls::TimerCancel, &FakeCalls::Post,       &FakeCalls::Offload,
             &FakeCalls::Health,      &FakeCalls::BufNew,     &FakeCalls::BufView,
             &RetainBuffer,           &ReleaseBuffer,         &FakeCalls::Diag,
             &FakeCalls::Where} {
  current = this;
}

FakeHost::~FakeHost() {
  current = nullptr;
}

void FakeHost::Advance(int64_t ns) {
  const int64_t until = now + ns;
  while (true) {
    const auto next =
        std::min_element(pending_.begin(), pending_.end(),
                         [](const Pending& a, const Pending& b) { return a.due < b.due; });
    if (next == pending_.end() || next->due > until) break;
    const Pending due = *next;
    pending_.erase(next);
    now = std::max(now, due.due);
    due.run(due.cancelled ? DETENT_E_CANCELLED : DETENT_OK);
  }
  now = until;
}

void FakeHost::CloseAll() {
  while (!pending_.empty()) {
    const Pending first = pending_.front();
    pending_.pop_front();
    first.run(DETENT_E_CLOSING);
  }
}

}  // namespace detent::test
