#include "core/cli/list_watch.h"

#include <algorithm>

namespace detent {
namespace {

using std::chrono::seconds;

// How long one watch lasts; the server would end it itself some time later.
constexpr seconds kOneWatch{300};
constexpr seconds kServerAway{30};
constexpr int64_t kPauseMillis = 250;

class Follower {
 public:
  Follower(ApiClient& api, const Clock& clock, Random& random, const ListWatch& plan)
      : api_(api), clock_(clock), random_(random), plan_(plan) {}

  Result<void> Run() {
    bool listed = false;
    for (bool more = true; more;) {
      const Result<bool> went = version_.empty() ? List() : Watch();
      if (went) {
        more = *went;
        listed = true;
        away_since_.reset();
        continue;
      }
      version_.clear();
      const Code code = went.error().code();
      if (code == Code::kExpired && listed) continue;
      if (code != Code::kUnavailable || !listed) return went.error();
      if (auto waited = Wait(went.error()); !waited) return waited;
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
    if (plan_.deadline) {
      const auto left = std::chrono::ceil<seconds>(*plan_.deadline - clock_.Mono());
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
    if (plan_.deadline && clock_.Mono() >= *plan_.deadline) {
      return Error(Code::kDeadline, "the time given by --timeout is over");
    }
    return {};
  }

  // A server that restarts is back soon; many clients should not all ask at once.
  Result<void> Wait(const Error& error) {
    if (!away_since_) away_since_ = clock_.Mono();
    if (clock_.Mono() - *away_since_ > kServerAway) return error;
    api_.Pause(std::chrono::milliseconds(kPauseMillis + static_cast<int64_t>(random_.Below(250))));
    return {};
  }

  ApiClient& api_;
  const Clock& clock_;
  Random& random_;
  const ListWatch& plan_;
  std::string version_;
  std::optional<MonoTime> away_since_;
};

}  // namespace

Result<void> RunListWatch(ApiClient& api, const Clock& clock, Random& random,
                          const ListWatch& plan) {
  return Follower(api, clock, random, plan).Run();
}

}  // namespace detent
