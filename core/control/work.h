// What the loop must look at again: entities that are due now, and when the others are.
//
// Level-based: an entity is listed once, however often it is asked for, and it does not matter why.
// Ordered, so that one seed gives one run. The loop's thread only.

#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <set>

#include "core/base/alarms.h"
#include "core/base/clock.h"

namespace detent {

// kOwners is no entity but what the store refused of the collection of dependents; its id is 0.
enum class EntityType : uint8_t { kConfig, kJob, kTask, kOwners };

struct EntityRef {
  EntityType type = EntityType::kJob;
  uint64_t id = 0;  // Never used again within one run of the host.
  auto operator<=>(const EntityRef&) const = default;
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

  // Slots, retries, deadlines: what users think in.
  Alarms<EntityRef, WallTime> wall;
  // Pacing of writes, and trying again after the store or a plugin said no.
  Alarms<EntityRef, MonoTime> ticks;

 private:
  std::deque<EntityRef> queue_;
  std::set<EntityRef> listed_;
};

}  // namespace detent
