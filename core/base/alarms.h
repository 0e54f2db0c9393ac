// When to look at something again: each has one time at most, and those that are due come out in
// the order of their times, and of themselves at the same time, so that one seed gives one run.
//
// Ref is what is to be looked at, ordered and copied; Time a point of any clock. One thread.

#pragma once

#include <map>
#include <optional>
#include <set>
#include <utility>

namespace detent {

template <typename Ref, typename Time>
class Alarms {
 public:
  void Set(const Ref& ref, Time time) {
    const auto [known, is_new] = times_.try_emplace(ref, time);
    if (!is_new) {
      if (known->second == time) return;
      order_.erase({known->second, ref});
      known->second = time;
    }
    order_.emplace(time, ref);
  }

  // Sets it unless it is set to an earlier time already.
  void SetNoLater(const Ref& ref, Time time) {
    const auto known = times_.find(ref);
    if (known == times_.end() || time < known->second) Set(ref, time);
  }

  void Clear(const Ref& ref) {
    const auto known = times_.find(ref);
    if (known == times_.end()) return;
    order_.erase({known->second, ref});
    times_.erase(known);
  }

  void ClearAll() {
    order_.clear();
    times_.clear();
  }

  std::optional<Time> next() const {
    if (order_.empty()) return std::nullopt;
    return order_.begin()->first;
  }

  // One whose time has come, which is cleared with it.
  std::optional<Ref> PopDue(Time now) {
    if (order_.empty() || order_.begin()->first > now) return std::nullopt;
    Ref ref = order_.begin()->second;
    Clear(ref);
    return ref;
  }

 private:
  std::set<std::pair<Time, Ref>> order_;
  std::map<Ref, Time> times_;
};

}  // namespace detent
