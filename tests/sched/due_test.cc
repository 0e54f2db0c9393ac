#include "core/sched/due.h"

#include <gtest/gtest.h>

#include <string>

#include "core/sched/reason.h"

namespace detent {
namespace {

using std::chrono::seconds;

WallTime At(const std::string& time_of_day) {
  return *ParseTime("2026-11-21T" + time_of_day + "Z");
}

std::string TimeOfDay(WallTime time) {
  return FormatTime(time).substr(11, 8);
}

// A schedule of every minute, decided until ten o'clock.
struct Scene {
  explicit Scene(const std::string& now, const std::string& cron = "* * * * *")
      : schedule(*Schedule::Parse({cron}, "UTC")) {
    view.schedule = &schedule;
    view.spec = &spec;
    view.name = "nightly";
    view.decided_until = At("10:00:00");
    view.now = At(now);
    view.max_downtime = seconds(3600);
  }

  Schedule schedule;
  ScheduleSpec spec;
  SlotsView view;
};

// "10:01:00 create, 10:02:00 Forbid"
std::string Drawn(const SlotsPlan& plan) {
  std::string text;
  for (const SlotDecision& decision : plan.decisions) {
    if (!text.empty()) text += ", ";
    text += TimeOfDay(decision.slot) + " " + (decision.create ? "create" : decision.reason);
  }
  return text;
}

TEST(Due, DecidesASlotOnceItIsReached) {
  const struct {
    const char* because;
    const char* now;
    const char* decisions;
    const char* cursor;
    const char* next;
  } cases[] = {
      {"no slot has come yet", "10:00:59", "", "10:00:00", "10:01:00"},
      {"a slot is due in its very second", "10:01:00", "10:01:00 create", "10:01:00", "10:02:00"},
      {"a slot seen late is still one slot", "10:01:59", "10:01:00 create", "10:01:00", "10:02:00"},
      {"the clock went back: what is decided stays", "09:58:00", "", "10:00:00", "10:01:00"},
  };
  for (const auto& c : cases) {
    const Scene scene(c.now);
    const SlotsPlan plan = PlanSlots(scene.view);
    EXPECT_EQ(Drawn(plan), c.decisions) << c.because;
    EXPECT_EQ(TimeOfDay(plan.decided_until), c.cursor) << c.because;
    ASSERT_TRUE(plan.next.has_value()) << c.because;
    EXPECT_EQ(TimeOfDay(*plan.next), c.next) << c.because;
  }
}

TEST(Due, DecidesNothingTwiceWhenItStartsFromItsOwnCursor) {
  Scene scene("10:04:30");
  scene.view.decided_until = PlanSlots(scene.view).decided_until;
  EXPECT_EQ(Drawn(PlanSlots(scene.view)), "");
}

TEST(Due, CatchesUpTheNewestSlots) {
  const struct {
    const char* because;
    int64_t max_missed;
    const char* now;
    const char* decisions;
    int64_t skipped;
  } cases[] = {
      {"all fit: the newest is on time, the others are missed ones", 2, "10:03:00",
       "10:01:00 create, 10:02:00 create, 10:03:00 create", 0},
      {"those that do not fit are one decision, at the newest of them", 2, "10:10:00",
       "10:07:00 MissedSlot, 10:08:00 create, 10:09:00 create, 10:10:00 create", 7},
      {"to catch up none still keeps the slot that is on time", 0, "10:01:00", "10:01:00 create",
       0},
      {"to catch up none drops all but the newest", 0, "10:03:20",
       "10:02:00 MissedSlot, 10:03:00 create", 2},
  };
  for (const auto& c : cases) {
    Scene scene(c.now);
    scene.view.max_missed = c.max_missed;
    const SlotsPlan plan = PlanSlots(scene.view);
    EXPECT_EQ(Drawn(plan), c.decisions) << c.because;
    EXPECT_EQ(plan.skipped, c.skipped) << c.because;
    EXPECT_LE(int64_t(plan.decisions.size()), c.max_missed + 2) << c.because;
  }
}

TEST(Due, SaysHowManySlotsAMissedOneStandsFor) {
  Scene scene("10:10:00");
  scene.view.max_missed = 2;
  EXPECT_EQ(PlanSlots(scene.view).decisions[0].message, reason::MissedMessage(7, 3));
}

TEST(Due, LooksBackOnlySoFar) {
  const struct {
    const char* because;
    seconds max_downtime;
    const char* last_updated;
    const char* decisions;
  } cases[] = {
      {"the cursor is the oldest bound", seconds(3600), nullptr,
       "10:01:00 create, 10:02:00 create, 10:03:00 create, 10:04:00 create"},
      {"slots older than the longest downtime are not caught up", seconds(100), nullptr,
       "10:02:00 MissedSlot, 10:03:00 create, 10:04:00 create"},
      {"a new schedule is not caught up before it was written", seconds(3600), "10:02:30",
       "10:03:00 create, 10:04:00 create"},
      {"an old schedule's update does not move the cursor back", seconds(3600), "09:00:00",
       "10:01:00 create, 10:02:00 create, 10:03:00 create, 10:04:00 create"},
      {"the later of both bounds counts", seconds(100), "10:03:30", "10:04:00 create"},
  };
  for (const auto& c : cases) {
    Scene scene("10:04:30");
    scene.view.max_downtime = c.max_downtime;
    if (c.last_updated) scene.spec.last_updated = At(c.last_updated);
    EXPECT_EQ(Drawn(PlanSlots(scene.view)), c.decisions) << c.because;
  }
}

TEST(Due, TreatsConstraintsAsInclusive) {
  const struct {
    const char* because;
    const char* not_before;
    const char* not_after;
    const char* decisions;
  } cases[] = {
      {"a slot at notBefore is allowed", "10:02:00", nullptr,
       "10:02:00 create, 10:03:00 create, 10:04:00 create"},
      {"a slot just before notBefore is not", "10:02:01", nullptr,
       "10:03:00 create, 10:04:00 create"},
      {"a slot at notAfter is allowed", nullptr, "10:02:00", "10:01:00 create, 10:02:00 create"},
      {"a slot just after notAfter is not", nullptr, "10:01:59", "10:01:00 create"},
      {"both may name the same slot", "10:03:00", "10:03:00", "10:03:00 create"},
      {"between two slots there is none", "10:02:01", "10:02:59", ""},
  };
  for (const auto& c : cases) {
    Scene scene("10:04:30");
    if (c.not_before) scene.spec.not_before = At(c.not_before);
    if (c.not_after) scene.spec.not_after = At(c.not_after);
    EXPECT_EQ(Drawn(PlanSlots(scene.view)), c.decisions) << c.because;
  }
}

TEST(Due, ForbidCountsTheJobsThatThisPassMakes) {
  const struct {
    const char* because;
    ConcurrencyPolicy policy;
    int64_t active;
    int64_t max;
    const char* decisions;
    int64_t skipped;
  } cases[] = {
      {"only the first slot finds room", ConcurrencyPolicy::kForbid, 0, 1,
       "10:01:00 create, 10:02:00 Forbid, 10:03:00 Forbid", 2},
      {"two may be active", ConcurrencyPolicy::kForbid, 0, 2,
       "10:01:00 create, 10:02:00 create, 10:03:00 Forbid", 1},
      {"another Job stands in the way of all", ConcurrencyPolicy::kForbid, 1, 1,
       "10:01:00 Forbid, 10:02:00 Forbid, 10:03:00 Forbid", 3},
      {"Allow does not count", ConcurrencyPolicy::kAllow, 9, 1,
       "10:01:00 create, 10:02:00 create, 10:03:00 create", 0},
  };
  for (const auto& c : cases) {
    Scene scene("10:03:00");
    scene.view.policy = c.policy;
    scene.view.active = c.active;
    scene.view.max_concurrency = c.max;
    const SlotsPlan plan = PlanSlots(scene.view);
    EXPECT_EQ(Drawn(plan), c.decisions) << c.because;
    EXPECT_EQ(plan.skipped, c.skipped) << c.because;
    EXPECT_EQ(TimeOfDay(plan.decided_until), "10:03:00") << c.because;
  }
}

TEST(Due, SaysWhichJobConfigForbids) {
  Scene scene("10:01:00");
  scene.view.policy = ConcurrencyPolicy::kForbid;
  scene.view.active = 1;
  EXPECT_EQ(PlanSlots(scene.view).decisions[0].message, reason::ForbidMessage("nightly", 1, 1));
}

TEST(Due, HasNothingNextAfterTheEndOfTheSchedule) {
  Scene over("10:01:00", "0 0 10 21 11 * 2026");
  EXPECT_EQ(PlanSlots(over.view).next, std::nullopt);
  Scene closed("10:01:00");
  closed.spec.not_after = At("10:01:00");
  const SlotsPlan plan = PlanSlots(closed.view);
  EXPECT_EQ(Drawn(plan), "10:01:00 create");
  EXPECT_EQ(plan.next, std::nullopt);
}

TEST(Due, WaitsForTheFirstSlotWithinTheConstraints) {
  Scene scene("10:01:30");
  scene.spec.not_before = At("11:30:00");
  const SlotsPlan plan = PlanSlots(scene.view);
  EXPECT_TRUE(plan.decisions.empty());
  EXPECT_EQ(plan.next, At("11:30:00"));
}

}  // namespace
}  // namespace detent
