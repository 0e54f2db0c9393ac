#include "core/plugin/service_kube_requests.h"

#include <utility>
#include <vector>

#include "core/base/json_writer.h"
#include "core/plugin/abi_convert.h"
#include "core/plugin/buffer.h"
#include "core/plugin/instance.h"
#include "core/plugin/task_ref.h"

namespace detent {
namespace {

constexpr size_t kRequestsInFlight = 64;
constexpr size_t kAnswerBytes = kBufferBytesMax;
constexpr size_t kFailureBytes = 64u << 10;  // More than a Status with all its causes has.

detent_status StatusFor(KubeOutcome outcome) {
  switch (outcome) {
    case KubeOutcome::kOk:
      return DETENT_OK;
    case KubeOutcome::kNotFound:
    case KubeOutcome::kGone:
      return DETENT_E_NOT_FOUND;
    case KubeOutcome::kAlreadyExists:
      return DETENT_E_ALREADY_EXISTS;
    case KubeOutcome::kConflict:
      return DETENT_E_CONFLICT;
    case KubeOutcome::kInvalid:
      return DETENT_E_INVALID;
    case KubeOutcome::kDenied:
      return DETENT_E_DENIED;
    case KubeOutcome::kBusy:
      return DETENT_E_BUSY;
    case KubeOutcome::kUnavailable:
      return DETENT_E_UNAVAILABLE;
    case KubeOutcome::kDeadline:
      return DETENT_E_DEADLINE;
    case KubeOutcome::kCancelled:
      return DETENT_E_CANCELLED;
  }
  return DETENT_E_INTERNAL;
}

// Of a deposed host's change: none of its tries had an effect, or one of them may have.
detent_status StatusFor(const KubeReply& reply) {
  const bool deposed = reply.outcome == KubeOutcome::kCancelled && reply.reason == kReasonDeposed;
  if (!deposed) return StatusFor(reply.outcome);
  return reply.not_sent ? DETENT_E_FENCED : DETENT_E_UNAVAILABLE;
}

TrackedTask TrackedTaskOf(const TaskOrder& order) {
  TrackedTask task;
  task.key = AbiKey(order.key);
  task.name = order.name;
  task.ns = order.ns;
  task.job_name = order.job_name;
  task.job_uid = JobUidOf(order);
  task.index = IndexOf(order);
  task.attempt = order.attempt;
  return task;
}

std::string KindJson(const KubeKind& kind) {
  std::string json;
  JsonWriter writer(json);
  const auto texts = [&](const char* name, const std::vector<std::string>& each) {
    writer.Key(name).BeginArray();
    for (const std::string& text : each) writer.Value(text);
    writer.EndArray();
  };
  writer.BeginObject();
  writer.Member("gvr", ToString(kind.resource)).Member("namespaced", kind.namespaced);
  texts("verbs", kind.verbs);
  texts("subresources", kind.subresources);
  writer.EndObject();
  return json;
}

std::string FullPath(const KubeOrder& order) {
  std::string path = PathOf(order.resource, order.ns, order.name);
  return order.query.empty() ? path : path + "?" + order.query;
}

}  // namespace

detent_status KubeRequests::Begin(KubeOrder order, detent_cb cb, void* ctx, detent_op* out) {
  if (instance_.closed()) return DETENT_E_CLOSING;
  detent_op op = 0;
  {
    std::lock_guard lock(mutex_);
    if (closed_) return DETENT_E_CLOSING;
    if (calls_.live() - finding_ >= kRequestsInFlight) return DETENT_E_BUSY;
    op = calls_.Take([&](Call& call) { call = {cb, ctx, 0, order.or_adopt, false, false}; });
    if (op == 0) return DETENT_E_NO_MEMORY;
  }
  if (out != nullptr) *out = op;
  // What a task is, only the strand knows.
  if (!order.marked || instance_.OnStrand()) {
    Send(op, order);
    return DETENT_OK;
  }
  const bool posted =
      instance_.Post([this, op, order = std::move(order)]() mutable { Send(op, order); });
  if (posted) return DETENT_OK;
  Call call;
  return Take(op, call) ? DETENT_E_CLOSING : DETENT_OK;
}

// Whatever goes wrong from here on is told by the callback.
void KubeRequests::Send(detent_op op, KubeOrder& order) {
  try {
    if (order.marked) return SendMarked(op, order);
    order.request.path = FullPath(order);
    auto on_reply = [this, op](KubeReply&& reply) { OnReply(op, std::move(reply), false); };
    NoteSent(op, order.writes ? door_.Write(std::move(order.request), std::move(on_reply))
                              : door_.client().Send(std::move(order.request), std::move(on_reply)));
  } catch (...) {  // Memory, threads or descriptors have run out.
    AnswerLater(op, {DETENT_E_NO_MEMORY, {}, 0});
  }
}

// On the strand.
void KubeRequests::SendMarked(detent_op op, KubeOrder& order) {
  const TaskOrder* task = instance_.desk().OrderOf(order.task);
  if (task == nullptr) return AnswerLater(op, {DETENT_E_STALE, {}, 0});
  TrackingMarks marks = door_.MarksOf(TrackedTaskOf(*task));
  // An owner in another namespace is as good as none: the object would be taken for an orphan.
  if (order.ns != task->ns) marks.job_api_version.clear();
  auto body = WithTracking(order.request.body, marks);
  if (!body) {
    KubeReply reply;
    reply.message = body.error().message();
    reply.not_sent = true;
    return AnswerLater(op, {DETENT_E_INVALID, std::move(reply), 0});
  }
  order.request.body = *std::move(body);
  order.marked = false;
  if (!order.or_adopt) return Send(op, order);
  KubeDoor::EnsureOrder ensure;
  ensure.resource = order.resource;
  ensure.ns = order.ns;
  ensure.body = std::move(order.request.body);
  ensure.query = order.query;
  ensure.accept = order.request.accept;
  ensure.timeout = order.request.timeout;
  NoteSent(op, door_.Ensure(std::move(ensure), [this, op](KubeDoor::Ensured&& ensured) {
    OnReply(op, std::move(ensured.reply), ensured.adopted);
  }));
}

void KubeRequests::NoteSent(detent_op op, uint64_t sent) {
  Call cancelled;
  {
    std::lock_guard lock(mutex_);
    Call* call = calls_.Find(op);
    if (call == nullptr) return;  // It has been answered already.
    call->sent = sent;
    if (!call->cancelled) return;
    cancelled = *call;
  }
  CancelSent(cancelled);
}

void KubeRequests::CancelSent(const Call& call) {
  if (call.sent == 0) return;
  if (call.or_adopt) return door_.CancelEnsure(call.sent);
  door_.client().Cancel(call.sent);
}

void KubeRequests::OnReply(detent_op op, KubeReply&& reply, bool adopted) {
  Answer answer{StatusFor(reply), std::move(reply), adopted ? 1u : 0u};
  if (answer.code == DETENT_OK && answer.reply.body.size() > kAnswerBytes) {
    answer.code = DETENT_E_TOO_LARGE;
    answer.reply.message = "the answer has more than " + std::to_string(kAnswerBytes >> 20) +
                           " MiB; ask for less of it (limit=, or a selector)";
  }
  const bool failed = answer.code != DETENT_OK;
  if (failed && answer.reply.body.size() > kFailureBytes) answer.reply.body.clear();
  AnswerTogether(op, std::move(answer));
}

// Once the client's thread is through with what has come: the strand wakes once for all of it.
void KubeRequests::AnswerTogether(detent_op op, Answer answer) {
  std::lock_guard lock(mutex_);
  answers_.emplace_back(op, std::move(answer));
  if (answers_.size() > 1) return;
  door_.client().After(std::chrono::milliseconds(0), [this] {
    auto answers = std::make_shared<std::vector<std::pair<detent_op, Answer>>>();
    {
      std::lock_guard again(mutex_);
      answers->swap(answers_);
    }
    instance_.Post([this, answers] {
      for (auto& [answered, kept] : *answers) Deliver(answered, std::move(kept));
    });
  });
}

void KubeRequests::AnswerLater(detent_op op, Answer answer) {
  const auto kept = std::make_shared<Answer>(std::move(answer));
  instance_.Post([this, op, kept] { Deliver(op, std::move(*kept)); });
}

bool KubeRequests::Take(detent_op op, Call& call) {
  std::lock_guard lock(mutex_);
  if (!calls_.End(op)) return false;
  call = calls_.Ended(op);
  calls_.Recycle(op);
  if (call.finds_kind) --finding_;
  return true;
}

void KubeRequests::Deliver(detent_op op, Answer&& answer) {
  Call call;
  if (!Take(op, call)) return;  // Answered by close.
  detent_result result{};
  result.size = sizeof result;
  result.code = answer.code;
  std::string reason = Repaired(answer.reply.reason, 64);
  if (reason.empty()) reason = ReasonFor(answer.code);
  const std::string message = Repaired(answer.reply.message, 1024);
  result.reason = View(reason);
  result.message = View(message);
  result.http_status = static_cast<uint32_t>(answer.reply.status);
  result.value = answer.value;
  if (answer.reply.retry_after) {
    result.retry = DETENT_HINT_LATER;
    result.retry_after_ms = static_cast<uint32_t>(
        std::clamp<int64_t>(answer.reply.retry_after->count(), 0, UINT32_MAX));
  }
  if (!answer.reply.body.empty()) {
    result.body = NewBuffer(std::move(answer.reply.body), &instance_.buffers());
  }
  instance_.Guard("kube callback", [&] { call.cb(call.ctx, &result); });
  ReleaseBuffer(result.body);
}

detent_status KubeRequests::LetGo(KubeDoor::LetGoOrder order, detent_cb cb, void* ctx) {
  if (instance_.closed()) return DETENT_E_CLOSING;
  uint64_t expected = 0;
  if (cb != nullptr) {
    expected = instance_.Expect(cb, ctx);
    if (expected == 0) return DETENT_E_NO_MEMORY;
  }
  door_.LetGo(std::move(order), [this, expected](KubeOutcome outcome) {
    if (expected == 0) return;
    instance_.Answer(expected, outcome == KubeOutcome::kOk ? DETENT_OK : DETENT_E_CLOSING);
  });
  return DETENT_OK;
}

detent_status KubeRequests::FindKind(const KindOrder& order, detent_cb cb, void* ctx) {
  if (instance_.closed()) return DETENT_E_CLOSING;
  detent_op op = 0;
  {
    std::lock_guard lock(mutex_);
    if (closed_) return DETENT_E_CLOSING;
    op = calls_.Take([&](Call& call) { call = {cb, ctx, 0, false, false, true}; });
    if (op == 0) return DETENT_E_NO_MEMORY;
    ++finding_;
  }
  try {
    KubeDiscovery& discovery = door_.discovery();
    if (order.fresh) discovery.Forget(order.api_version);
    discovery.Find(order.api_version, order.kind,
                   [this, op](const Result<KubeKind>& kind) { OnKind(op, kind); });
  } catch (...) {  // Memory, threads or descriptors have run out.
    AnswerLater(op, {DETENT_E_NO_MEMORY, {}, 0});
  }
  return DETENT_OK;
}

void KubeRequests::OnKind(detent_op op, const Result<KubeKind>& kind) {
  Answer answer;
  if (kind) {
    answer.reply.body = KindJson(*kind);
  } else {
    answer.code = ToStatus(kind.error().code());
    answer.reply.message = kind.error().message();
  }
  AnswerTogether(op, std::move(answer));
}

detent_status KubeRequests::Cancel(detent_op request) {
  Call cancelled;
  {
    std::lock_guard lock(mutex_);
    Call* call = calls_.Find(request);
    if (call == nullptr) return DETENT_E_STALE;
    call->cancelled = true;
    cancelled = *call;
  }
  CancelSent(cancelled);
  return DETENT_OK;
}

void KubeRequests::CloseAll() {
  std::vector<uint64_t> open;
  {
    std::lock_guard lock(mutex_);
    closed_ = true;
    open = calls_.Handles();
  }
  for (const uint64_t op : open) {
    Call call;
    if (!Take(op, call)) continue;
    CancelSent(call);
    detent_result result{};
    result.size = sizeof result;
    result.code = DETENT_E_CLOSING;
    result.reason = View("Closing");
    instance_.Guard("kube callback", [&] { call.cb(call.ctx, &result); });
  }
}

}  // namespace detent
