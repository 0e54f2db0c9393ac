#include "core/cli/list_watch.h"

#include <algorithm>

namespace detent {
namespace {

using std::chrono::seconds;

// How long one watch lasts; the server would end it itself some time later.
constexpr seconds kOneWatch{300};
// A watch that held for so long shows that the server was back, however it ended.
constexpr seconds kHeld{5};

class Follower {
 public:
  Follower(CommandContext& context, const ListWatch& plan)
      : context_(context), api_(*context.api), plan_(plan) {}

  Result<void> Run() {
    bool listed = false;
    for (bool more = true; more;) {
      const bool watches = !version_.empty();
      const MonoTime begun = context_.clock.Mono();
      const Result<bool> went = watches ? Watch() : List();
      const bool held = watches && context_.clock.Mono() - begun >= kHeld;
      // A server that lists and refuses to watch is not back yet.
      if (held || (went && (watches || !*went))) context_.patience.Back();
      if (went) {
        more = *went;
        listed = true;
        continue;
      }
      version_.clear();
      if (went.error().code() == Code::kExpired && listed) continue;
      TRY(context_.patience.Wait(context_, went.error()));
    }
    return {};
  }

 private:
  // True: go on.
  Result<bool> List() {
    TRY(CheckDeadline());
    const Json list =
        TRY(plan_.table ? api_.ListTable(plan_.selection) : api_.List(plan_.selection));
    version_ = TextAt(list, "/metadata/resourceVersion");
    return plan_.on_list(list);
  }

  Result<bool> Watch() {
    TRY(CheckDeadline());
    ApiClient::WatchRequest request;
    request.selection = plan_.selection;
    request.version = version_;
    request.table = plan_.table;
    request.limit = kOneWatch;
    if (const auto deadline = context_.Deadline()) {
      const auto left = std::chrono::ceil<seconds>(*deadline - context_.clock.Mono());
      request.limit = std::clamp(left, seconds(1), kOneWatch);
    }
    bool more = true;
    const auto watched = api_.Watch(request, [&](const std::string& type, const Json& object) {
      more = plan_.on_event(type, object);
      return more;
    });
    if (!watched) return watched.error();
    version_ = request.version;
    return more;
  }

  Result<void> CheckDeadline() const {
    const auto deadline = context_.Deadline();
    if (deadline && context_.clock.Mono() >= *deadline) {
      return Error(Code::kDeadline, "the time given by --timeout is over");
    }
    return {};
  }

  CommandContext& context_;
  ApiClient& api_;
  const ListWatch& plan_;
  std::string version_;
};

}  // namespace

Result<void> RunListWatch(CommandContext& context, const ListWatch& plan) {
  return Follower(context, plan).Run();
}

}  // namespace detent
