#include "core/cli/patience.h"

#include <ostream>

#include "core/cli/command.h"
#include "core/cli/interrupt.h"

namespace detent {
namespace {

constexpr std::chrono::seconds kServerAway{30};
constexpr int64_t kPauseMillis = 250;

}  // namespace

Result<void> Patience::Wait(CommandContext& context, const Error& error) {
  const ApiClient& api = *context.api;
  if (error.code() != Code::kUnavailable || !api.has_answered()) return error;
  const std::string server = api.Named();
  const std::string away = std::to_string(kServerAway.count()) + " s";
  const bool refused = api.was_replied();
  const MonoTime now = context.clock.Mono();
  if (!away_since_) {
    away_since_ = now;
    context.err() << (IsLineOpen() ? "\n" : "") << "note: "
                  << (refused ? server + " answered: " + error.message()
                              : "the connection to " + server + " broke")
                  << "; asking again for " << away << '\n';
    context.err().flush();
    SetLineOpen(false);
  }
  if (const auto deadline = context.Deadline(); deadline && now >= *deadline) {
    return Error(Code::kDeadline,
                 "the time given by --timeout is over, and " + server +
                     (refused ? " still answers: " + error.message()
                              : std::string(" has not come back; ") + api.Remedy()));
  }
  if (now - *away_since_ > kServerAway) {
    if (refused) return error;
    return Error(Code::kUnavailable, "the connection to " + server +
                                         " broke, and it did not come back within " + away + "; " +
                                         api.Remedy() + ", then repeat the command");
  }
  // Many clients should not all ask at once.
  context.api->Pause(
      std::chrono::milliseconds(kPauseMillis + static_cast<int64_t>(context.random.Below(250))));
  return {};
}

}  // namespace detent
