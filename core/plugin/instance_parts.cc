#include "core/plugin/instance_parts.h"

#include <algorithm>
#include <utility>

namespace detent {

const char* NameOf(OpKind kind) {
  switch (kind) {
    case OpKind::kOpen:
      return "open";
    case OpKind::kStart:
      return "start";
    case OpKind::kRecover:
      return "recover";
    case OpKind::kObserve:
      return "observe";
    case OpKind::kKill:
      return "kill";
    case OpKind::kForceDelete:
      return "force_delete";
    case OpKind::kDrain:
      return "drain";
    case OpKind::kClose:
      return "close";
    case OpKind::kReadLog:
      return "logs.read";
    case OpKind::kCheckLive:
      return "validate_live.check";
  }
  return "unknown";
}

bool LogBudget::Take(MonoTime now, int64_t& dropped) {
  constexpr double kPerSecond = 200, kBurst = 1000;
  std::lock_guard lock(mutex_);
  const double passed = std::chrono::duration<double>(now - filled_).count();
  tokens_ = std::min(kBurst, tokens_ + passed * kPerSecond);
  filled_ = now;
  if (tokens_ < 1) {
    ++dropped_;
    return false;
  }
  tokens_ -= 1;
  dropped = std::exchange(dropped_, 0);
  return true;
}

}  // namespace detent
