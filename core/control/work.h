// What the loop must look at again: entities that are due now, and when the others are.
//
// Level-based: an entity is listed once, however often it is asked for, and it does not matter why.
// Ordered, so that one seed gives one run. The loop's thread only.

#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "core/base/clock.h"

namespace detent {

// kOwners is no entity but what the store refused of the collection of dependents; its id is 0.
enum class EntityType : uint8_t { kConfig, kJob, kTask, kOwners };

struct EntityRef {
  EntityType type = EntityType::kJob;
  uint64_t id = 0;  // Never used again within one run of the host.
  auto operator<=>(const EntityRef&) const = default;
};

// When to look at an entity again, by one kind of clock. One time for each entity.
template <typename Time>
class Alarms {
 public:
  void Set(EntityRef ref, Time time) {
    const auto [known, is_new] = times_.try_emplace(ref, time);
    if (!is_new) {
      if (known->second == time) return;
      order_.erase({known->second, ref});
      known->second = time;
    }
    order_.emplace(time, ref);
  }
  // Sets it unless it is set to an earlier time already.
  void SetNoLater(EntityRef ref, Time time) {
    const auto known = times_.find(ref);
    if (known == times_.end() || time < known->second) Set(ref, time);
  }
  void Clear(EntityRef ref) {
    const auto known = times_.find(ref);
    if (known == times_.end()) return;
    order_.erase({known->second, ref});
    times_.erase(known);
  }
  std::optional<Time> next() const {
    if (order_.empty()) return std::nullopt;
    return order_.begin()->first;
  }
  std::optional<EntityRef> PopDue(Time now) {
    if (order_.empty() || order_.begin()->first > now) return std::nullopt;
    const EntityRef ref = order_.begin()->second;
    Clear(ref);
    return ref;
  }

 private:
  std::set<std::pair<Time, EntityRef>> order_;
  std::map<EntityRef, Time> times_;
};

class Work {
 public:
  void Enqueue(EntityRef ref) {
    if (listed_.insert(ref).second) queue_.push_back(ref);
  }
  std::optional<EntityRef> Pop() {
    if (queue_.empty()) return std::nullopt;
    const EntityRef ref = queue_.front();
    queue_.pop_front();
    listed_.erase(ref);
    return ref;
  }
  bool empty() const { return queue_.empty(); }

  void EnqueueDue(WallTime now, MonoTime mono) {
    while (const auto ref = wall.PopDue(now)) Enqueue(*ref);
    while (const auto ref = ticks.PopDue(mono)) Enqueue(*ref);
  }
  void Forget(EntityRef ref) {
    wall.Clear(ref);
    ticks.Clear(ref);
  }

  Alarms<WallTime> wall;  // Slots, retries, deadlines: what users think in.
  Alarms<MonoTime>
      ticks;  // Pacing of writes, and trying again after the store or a plugin said no.

 private:
  std::deque<EntityRef> queue_;
  std::set<EntityRef> listed_;
};

}  // namespace detent
