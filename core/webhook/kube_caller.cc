#include "core/webhook/kube_caller.h"

#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <utility>

namespace detent {
namespace {

KubeReply NoReply(KubeOutcome outcome, const char* reason, std::string message) {
  KubeReply reply;
  reply.outcome = outcome;
  reply.reason = reason;
  reply.message = std::move(message);
  return reply;
}

}  // namespace

struct KubeCaller::State {
  std::mutex mutex;
  std::condition_variable changed;
  bool closed = false;  // Guarded by mutex, as is every reply.
};

KubeCaller::KubeCaller(KubeClient& client) : client_(client), state_(std::make_shared<State>()) {}

KubeCaller::~KubeCaller() {
  Close();
}

void KubeCaller::Close() {
  const std::lock_guard lock(state_->mutex);
  state_->closed = true;
  state_->changed.notify_all();
}

KubeReply KubeCaller::Ask(KubeRequest request, std::chrono::milliseconds patience) {
  const auto answer = std::make_shared<std::optional<KubeReply>>();
  uint64_t id = 0;
  try {
    id = client_.Send(std::move(request), [state = state_, answer](KubeReply&& reply) {
      const std::lock_guard lock(state->mutex);
      *answer = std::move(reply);
      state->changed.notify_all();
    });
  } catch (const std::exception& error) {  // Memory, threads or descriptors have run out.
    return NoReply(KubeOutcome::kUnavailable, "NotSent", error.what());
  }
  bool closed = false;
  {
    std::unique_lock lock(state_->mutex);
    state_->changed.wait_for(lock, patience, [&] { return state_->closed || answer->has_value(); });
    if (answer->has_value()) return std::move(**answer);
    closed = state_->closed;
  }
  client_.Cancel(id);
  if (closed) return NoReply(KubeOutcome::kCancelled, "Cancelled", "the webhook stops");
  return NoReply(KubeOutcome::kDeadline, "Deadline",
                 "no reply in " + std::to_string(patience.count()) + " ms");
}

}  // namespace detent
