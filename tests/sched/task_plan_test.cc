#include "core/sched/task_plan.h"

#include <gtest/gtest.h>

#include <string>

namespace detent {
namespace {

using std::chrono::seconds;

constexpr TaskStage kStages[] = {TaskStage::kStoring, TaskStage::kHeld,     TaskStage::kIntended,
                                 TaskStage::kUnsure,  TaskStage::kOffered,  TaskStage::kGoing,
                                 TaskStage::kEnded,   TaskStage::kRecorded, TaskStage::kReleased,
                                 TaskStage::kGone};

const WallTime kTaskNow = FromUnixSeconds(1'800'000'000);

const char* NameOf(TaskAction action) {
  constexpr const char* kNames[] = {"Nothing",      "StoreIntent", "Start",        "Recover",
                                    "Kill",         "ForceDelete", "EndUnstarted", "TimeOutPending",
                                    "StoreOutcome", "Release",     "DropTracking", "Forget"};
  return kNames[static_cast<int>(action)];
}

TaskView In(TaskStage stage) {
  TaskView view;
  view.stage = stage;
  view.executor_usable = true;
  return view;
}

TaskView Killed(TaskStage stage) {
  TaskView view = In(stage);
  view.kill_wanted = true;
  return view;
}

// One line for each stage; in it, one action for each of four situations.
std::string Matrix(TaskView view) {
  std::string drawn;
  for (const TaskStage stage : kStages) {
    view.stage = stage;
    drawn += std::string(NameOf(stage)) + ":";
    for (const bool usable : {true, false}) {
      for (const bool kill : {false, true}) {
        view.executor_usable = usable;
        view.kill_wanted = kill;
        drawn += std::string(" ") + NameOf(PlanTask(view, kTaskNow).action);
      }
    }
    drawn += "\n";
  }
  return drawn;
}

TEST(TaskPlan, ActsByStageExecutorAndKill) {
  // Columns: usable, usable and to be killed, unusable, unusable and to be killed.
  EXPECT_EQ(Matrix(TaskView()),
            "storing: Nothing Nothing Nothing Nothing\n"
            "held: StoreIntent EndUnstarted Nothing EndUnstarted\n"
            "intended: Start EndUnstarted Nothing EndUnstarted\n"
            "unsure: Recover Recover Nothing Nothing\n"
            "offered: Nothing Kill Nothing Nothing\n"
            "going: Nothing Kill Nothing Nothing\n"
            "ended: StoreOutcome StoreOutcome StoreOutcome StoreOutcome\n"
            "recorded: Release Release Nothing Nothing\n"
            "released: DropTracking DropTracking DropTracking DropTracking\n"
            "gone: Nothing Nothing Nothing Nothing\n");
}

TEST(TaskPlan, WritesNothingBesideAWriteInFlight) {
  TaskView view;
  view.write_in_flight = true;
  EXPECT_EQ(Matrix(view),
            "storing: Nothing Nothing Nothing Nothing\n"
            "held: Nothing Nothing Nothing Nothing\n"
            "intended: Start EndUnstarted Nothing EndUnstarted\n"
            "unsure: Recover Recover Nothing Nothing\n"
            "offered: Nothing Kill Nothing Nothing\n"
            "going: Nothing Kill Nothing Nothing\n"
            "ended: Nothing Nothing Nothing Nothing\n"
            "recorded: Release Release Nothing Nothing\n"
            "released: Nothing Nothing Nothing Nothing\n"
            "gone: Nothing Nothing Nothing Nothing\n");
}

TEST(TaskPlan, RecoversBeforeItReleasesWhatTheExecutorDoesNotKnow) {
  TaskView view = In(TaskStage::kRecorded);
  view.introduced = false;
  EXPECT_EQ(PlanTask(view, kTaskNow).action, TaskAction::kRecover);
  view.introduced = view.asked = true;
  EXPECT_EQ(PlanTask(view, kTaskNow).action, TaskAction::kNothing) << "the answer is not in yet";
  view.asked = false;
  EXPECT_EQ(PlanTask(view, kTaskNow).action, TaskAction::kRelease);
}

TEST(TaskPlan, ReleasesWithoutAnExecutorWhatNoneWasGiven) {
  TaskView view = In(TaskStage::kRecorded);
  view.executor_usable = false;
  view.never_handed_over = true;
  EXPECT_EQ(PlanTask(view, kTaskNow).action, TaskAction::kRelease);
}

TEST(TaskPlan, WaitsUntilTheOutcomeIsInTheJobToo) {
  TaskView view = In(TaskStage::kEnded);
  view.outcome_stored = true;
  EXPECT_EQ(PlanTask(view, kTaskNow).action, TaskAction::kNothing);
}

TEST(TaskPlan, ForgetsATaskWhoseObjectIsGoneOnceItIsReleased) {
  TaskView view = In(TaskStage::kReleased);
  view.removed = true;
  EXPECT_EQ(PlanTask(view, kTaskNow).action, TaskAction::kForget);
}

TEST(TaskPlan, AsksAgainOnlyWhenItIsTime) {
  const struct {
    const char* because;
    TaskStage stage;
    bool kill;
    TaskAction then;
  } cases[] = {
      {"a start is tried again", TaskStage::kIntended, false, TaskAction::kStart},
      {"a recovery is tried again", TaskStage::kUnsure, false, TaskAction::kRecover},
      {"a kill is tried again", TaskStage::kGoing, true, TaskAction::kKill},
  };
  for (const auto& c : cases) {
    TaskView view = In(c.stage);
    view.kill_wanted = c.kill;
    view.not_before = kTaskNow + seconds(1);
    const TaskPlan early = PlanTask(view, kTaskNow);
    EXPECT_EQ(early.action, TaskAction::kNothing) << c.because;
    EXPECT_EQ(early.wake, view.not_before) << c.because;
    EXPECT_EQ(PlanTask(view, kTaskNow + seconds(1)).action, c.then) << c.because;
  }
}

TEST(TaskPlan, AKilledTaskThatWasNeverStartedDoesNotWaitForItsRetry) {
  TaskView view = Killed(TaskStage::kIntended);
  view.not_before = kTaskNow + seconds(60);
  EXPECT_EQ(PlanTask(view, kTaskNow).action, TaskAction::kEndUnstarted);
}

TEST(TaskPlan, DoesNotAskTwiceWhatBecameOfATask) {
  TaskView view = In(TaskStage::kUnsure);
  view.asked = true;
  EXPECT_EQ(PlanTask(view, kTaskNow).action, TaskAction::kNothing);
}

TEST(TaskPlan, TimesOutATaskThatDoesNotRun) {
  const struct {
    const char* because;
    seconds timeout;
    bool running;
    int since_offered;
    TaskAction action;
    bool wakes;
  } cases[] = {
      {"it has time left", seconds(60), false, 59, TaskAction::kNothing, true},
      {"its time is over", seconds(60), false, 60, TaskAction::kTimeOutPending, false},
      {"it runs", seconds(60), true, 600, TaskAction::kNothing, false},
      {"zero means never", seconds(0), false, 600, TaskAction::kNothing, false},
  };
  for (const TaskStage stage : {TaskStage::kOffered, TaskStage::kGoing}) {
    for (const auto& c : cases) {
      TaskView view = In(stage);
      view.pending_timeout = c.timeout;
      view.offered_at = kTaskNow;
      if (c.running) view.running_at = kTaskNow;
      const TaskPlan plan = PlanTask(view, kTaskNow + seconds(c.since_offered));
      EXPECT_EQ(plan.action, c.action) << c.because;
      EXPECT_EQ(plan.wake.has_value(), c.wakes) << c.because;
      EXPECT_EQ(plan.wake.value_or(kTaskNow + c.timeout), kTaskNow + c.timeout) << c.because;
    }
  }
}

TEST(TaskPlan, DoesNotTimeOutWhileTheExecutorCannotSay) {
  TaskView view = In(TaskStage::kGoing);
  view.executor_usable = false;
  view.offered_at = kTaskNow - seconds(100'000);
  EXPECT_EQ(PlanTask(view, kTaskNow).action, TaskAction::kNothing);
}

TEST(TaskPlan, DeletesByForceWhenAKillHasNoEffect) {
  const struct {
    const char* because;
    int since_kill;
    bool sent, forbidden;
    TaskAction action;
    bool wakes;
  } cases[] = {
      {"the kill has time left", 99, false, false, TaskAction::kNothing, true},
      {"the time is over", 100, false, false, TaskAction::kForceDelete, false},
      {"force is used once", 200, true, false, TaskAction::kNothing, false},
      {"the Job forbids force", 200, false, true, TaskAction::kNothing, false},
  };
  for (const auto& c : cases) {
    TaskView view = Killed(TaskStage::kGoing);
    view.kill_sent_at = kTaskNow;
    view.force_delete_timeout = seconds(100);
    view.force_sent = c.sent;
    view.force_forbidden = c.forbidden;
    const TaskPlan plan = PlanTask(view, kTaskNow + seconds(c.since_kill));
    EXPECT_EQ(plan.action, c.action) << c.because;
    EXPECT_EQ(plan.wake.has_value(), c.wakes) << c.because;
    EXPECT_EQ(plan.wake.value_or(kTaskNow + seconds(100)), kTaskNow + seconds(100)) << c.because;
  }
}

TEST(TaskPlan, SendsAKillOnceAndASharperOneOnceMore) {
  TaskView view = Killed(TaskStage::kGoing);
  view.kill_sent_at = kTaskNow;
  EXPECT_EQ(PlanTask(view, kTaskNow).action, TaskAction::kNothing);
  view.kill_immediate = true;
  EXPECT_EQ(PlanTask(view, kTaskNow).action, TaskAction::kKill);
  view.immediate_sent = true;
  EXPECT_EQ(PlanTask(view, kTaskNow).action, TaskAction::kNothing);
}

}  // namespace
}  // namespace detent
