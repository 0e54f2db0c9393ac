#include "core/kube/client.h"

#include <condition_variable>
#include <mutex>
#include <utility>

#include "core/kube/client_core.h"

namespace detent {

KubeClient::KubeClient(ClusterAccess access, KubeClientOptions options, const Clock& clock,
                       Logger& log)
    : core_(std::make_unique<Core>(std::move(access), std::move(options), clock, log)) {}

KubeClient::~KubeClient() = default;

uint64_t KubeClient::Send(KubeRequest request, KubeCallback callback) {
  KubeStream end_only;
  end_only.on_end = std::move(callback);
  return core_->Send(std::move(request), std::move(end_only), false);
}

uint64_t KubeClient::Stream(KubeRequest request, KubeStream stream) {
  return core_->Send(std::move(request), std::move(stream), true);
}

void KubeClient::Cancel(uint64_t id) {
  core_->Cancel(id);
}

KubeReply KubeClient::Fetch(KubeRequest request) {
  struct Waiting {
    std::mutex mutex;
    std::condition_variable arrived;
    std::optional<KubeReply> reply;  // Guarded by mutex.
  };
  Waiting waiting;
  Send(std::move(request), [&waiting](KubeReply&& reply) {
    std::lock_guard lock(waiting.mutex);
    waiting.reply = std::move(reply);
    waiting.arrived.notify_all();  // Under the lock: the waiter takes `waiting` with it.
  });
  std::unique_lock lock(waiting.mutex);
  waiting.arrived.wait(lock, [&] { return waiting.reply.has_value(); });
  return *std::move(waiting.reply);
}

void KubeClient::After(std::chrono::milliseconds delay, std::function<void()> task) {
  core_->After(delay, std::move(task));
}

std::string KubeClient::Trouble() const {
  return core_->Trouble();
}

const ClusterAccess& KubeClient::access() const {
  return core_->access();
}

const Clock& KubeClient::clock() const {
  return core_->clock();
}

Random& KubeClient::random() const {
  return core_->random();
}

Logger& KubeClient::log() const {
  return core_->log();
}

}  // namespace detent
