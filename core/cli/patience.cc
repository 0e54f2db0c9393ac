#include "core/cli/patience.h"

#include <ostream>

#include "core/cli/interrupt.h"

namespace detent {
namespace {

constexpr std::chrono::seconds kServerAway{30};
constexpr int64_t kPauseMillis = 250;

}  // namespace

void Patience::Answered() {
  answered_ = true;
  away_since_.reset();
}

Result<void> Patience::Wait(const Error& error) {
  if (error.code() != Code::kUnavailable || !answered_) return error;
  const std::string server = "`detent serve` at " + context_.api->shown();
  const std::string away = std::to_string(kServerAway.count()) + " s";
  if (!away_since_) {
    away_since_ = context_.clock.Mono();
    context_.err() << (IsLineOpen() ? "\n" : "") << "note: the connection to " << server
                   << " broke; asking again for " << away << '\n';
    context_.err().flush();
    SetLineOpen(false);
  }
  if (const auto deadline = context_.Deadline(); deadline && context_.clock.Mono() >= *deadline) {
    return Error(Code::kDeadline, "the time given by --timeout is over, and " + server +
                                      " has not come back; start it again");
  }
  if (context_.clock.Mono() - *away_since_ > kServerAway) {
    return Error(Code::kUnavailable, "the connection to " + server +
                                         " broke, and it did not come back within " + away +
                                         "; start it again, then repeat the command");
  }
  // Many clients should not all ask at once.
  context_.api->Pause(
      std::chrono::milliseconds(kPauseMillis + static_cast<int64_t>(context_.random.Below(250))));
  return {};
}

}  // namespace detent
