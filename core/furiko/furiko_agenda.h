// Which names are to be looked at, and when. One thread.

#pragma once

#include <map>
#include <optional>
#include <set>
#include <utility>

#include "core/api/object.h"
#include "core/base/clock.h"

namespace detent {

class FurikoAgenda {
 public:
  // No later than `time`; an earlier time that is set stays.
  void NoLater(const ObjectKey& key, MonoTime time) {
    const auto found = times_.find(key);
    if (found != times_.end() && found->second <= time) return;
    Forget(key);
    times_.emplace(key, time);
    order_.emplace(time, key);
  }

  void Forget(const ObjectKey& key) {
    const auto found = times_.find(key);
    if (found == times_.end()) return;
    order_.erase({found->second, key});
    times_.erase(found);
  }

  // One whose time has come, which is forgotten with it.
  std::optional<ObjectKey> TakeDue(MonoTime now) {
    if (order_.empty() || order_.begin()->first > now) return std::nullopt;
    ObjectKey key = order_.begin()->second;
    Forget(key);
    return key;
  }

  std::optional<MonoTime> Next() const {
    if (order_.empty()) return std::nullopt;
    return order_.begin()->first;
  }

  void Clear() {
    times_.clear();
    order_.clear();
  }

 private:
  std::map<ObjectKey, MonoTime> times_;
  std::set<std::pair<MonoTime, ObjectKey>> order_;
};

}  // namespace detent
