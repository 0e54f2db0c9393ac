#include "core/kube/credentials.h"

#include <algorithm>
#include <utility>

namespace detent {
namespace {

constexpr std::chrono::milliseconds kFirstFailure{500}, kLongestFailure{30'000};
// A server that refuses everything must not have a plugin run for each request.
constexpr std::chrono::seconds kBetweenRefusals{10};

}  // namespace

CredentialKeeper::CredentialKeeper(const ClusterAccess& access, CredentialTimes times,
                                   const Clock& clock, Logger& log)
    : clock_(clock), log_(log), source_(access, times, clock, stop_) {
  if (source_.is_constant()) {
    Take(source_.Make(false));
  } else {
    thread_ = std::thread([this] { Run(); });
  }
}

CredentialKeeper::~CredentialKeeper() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  stop_.Raise();
  asked_.notify_all();
  if (thread_.joinable()) thread_.join();
}

bool CredentialKeeper::IsUsable(MonoTime now) const {
  return current_ != nullptr && !refused_ && now < current_->valid_until;
}

Result<KubeIdentityPtr> CredentialKeeper::Get() {
  std::lock_guard lock(mutex_);
  if (source_.is_constant()) return current_;
  const MonoTime now = clock_.Mono();
  const bool usable = IsUsable(now);
  if (usable && now < current_->renew_at) return current_;
  const bool failed = failure_ && now < try_again_at_;
  if (!failed) Ask();
  if (usable && (failure_ || now < current_->wait_at)) return current_;
  if (failed) return *failure_;
  return KubeIdentityPtr();
}

bool CredentialKeeper::Refuse(const KubeIdentityPtr& shown) {
  std::lock_guard lock(mutex_);
  if (source_.is_constant()) return false;
  if (shown != current_ || refused_) return true;
  const MonoTime now = clock_.Mono();
  if (now < refuse_again_at_) return false;
  refuse_again_at_ = now + kBetweenRefusals;
  refused_ = true;
  Ask();
  return true;
}

void CredentialKeeper::Ask() {
  if (wanted_ || stopping_) return;
  wanted_ = true;
  asked_.notify_all();
}

void CredentialKeeper::Run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    asked_.wait(lock, [this] { return wanted_ || stopping_; });
    if (stopping_) return;
    const bool refused = refused_;
    lock.unlock();
    auto had = source_.Make(refused);
    lock.lock();
    if (stopping_) return;
    wanted_ = false;
    Take(std::move(had));
    lock.unlock();
    on_change_();
    lock.lock();
  }
}

void CredentialKeeper::Take(Result<KubeIdentity> had) {
  if (had) {
    if (failure_) log_.Info("kubernetes credentials are there again");
    current_ = std::make_shared<const KubeIdentity>(*std::move(had));
    refused_ = false;
    failure_.reset();
    failures_ = 0;
    return;
  }
  if (!failure_) {
    log_.Warning("kubernetes credentials cannot be had", {{"error", had.error().message()}});
  }
  failure_ = std::move(had).error();
  const auto pause = kFirstFailure * (1 << std::min(failures_++, 6));
  try_again_at_ = clock_.Mono() + std::min(pause, kLongestFailure);
}

}  // namespace detent
