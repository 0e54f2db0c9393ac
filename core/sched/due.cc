#include "core/sched/due.h"

#include <algorithm>
#include <deque>

#include "core/sched/reason.h"

namespace detent {
namespace {

struct DueSlots {
  std::deque<WallTime> kept;  // Oldest first.
  int64_t dropped = 0;
  WallTime newest_dropped{};
};

// A slot that is decided no later than this is on time, however short max_downtime is.
constexpr std::chrono::seconds kOnTime{10};
// Slots that are counted one by one when the host was away; more are said to be this many.
constexpr int64_t kCountedMissed = 1'000;

// Walks the slots in (from, now], keeping the newest `keep`. The walk is bounded by max_downtime,
// and a schedule has at most one slot a second.
void CollectDue(const SlotsView& view, WallTime from, size_t keep, DueSlots& due) {
  WallTime t = from;
  while (const auto slot = NextSlot(*view.schedule, *view.spec, t)) {
    if (*slot > view.now) break;
    due.kept.push_back(*slot);
    if (due.kept.size() > keep) {
      due.newest_dropped = due.kept.front();
      due.kept.pop_front();
      ++due.dropped;
    }
    t = *slot;
  }
}

// Counts the slots in (decided, from], which are too old to be caught up.
void CountTooOld(const SlotsView& view, WallTime decided, WallTime from, DueSlots& due) {
  WallTime t = decided;
  while (due.dropped < kCountedMissed) {
    const auto slot = NextSlot(*view.schedule, *view.spec, t);
    if (!slot || *slot > from) return;
    due.newest_dropped = t = *slot;
    ++due.dropped;
  }
  due.newest_dropped = from;
}

}  // namespace

std::optional<WallTime> NextSlot(const Schedule& schedule, const ScheduleSpec& spec, WallTime t) {
  // A slot is strictly after t, and notBefore itself is allowed.
  if (spec.not_before) t = std::max(t, *spec.not_before - std::chrono::microseconds(1));
  const auto slot = schedule.NextAfter(t);
  if (slot && spec.not_after && *slot > *spec.not_after) return std::nullopt;
  return slot;
}

SlotsPlan PlanSlots(const SlotsView& view) {
  SlotsPlan plan;
  WallTime decided = view.decided_until;
  if (view.spec->last_updated) decided = std::max(decided, *view.spec->last_updated);
  const WallTime from =
      std::max(decided, view.now - std::max<std::chrono::seconds>(view.max_downtime, kOnTime));
  DueSlots due;
  CountTooOld(view, decided, from, due);
  CollectDue(view, from, static_cast<size_t>(view.max_missed) + 1, due);
  plan.decided_until = view.decided_until;
  if (due.dropped > 0) {
    plan.decided_until = std::max(plan.decided_until, due.newest_dropped);
    plan.decisions.push_back({due.newest_dropped, false, reason::kMissed,
                              reason::MissedMessage(due.dropped, int64_t(due.kept.size()))});
    plan.skipped += due.dropped;
  }
  int64_t active = view.active;
  for (const WallTime slot : due.kept) {
    const bool free = view.policy == ConcurrencyPolicy::kAllow || active < view.max_concurrency;
    if (free) {
      plan.decisions.push_back({slot, true, "", ""});
      ++active;
    } else {
      plan.decisions.push_back({slot, false, reason::kForbid,
                                reason::ForbidMessage(view.name, active, view.max_concurrency)});
      ++plan.skipped;
    }
    plan.decided_until = std::max(plan.decided_until, slot);
  }
  plan.next = NextSlot(*view.schedule, *view.spec, std::max(plan.decided_until, view.now));
  return plan;
}

}  // namespace detent
