#include "core/sched/job_plan.h"

#include <gtest/gtest.h>

#include <string>

#include "core/sched/outcome.h"
#include "core/sched/reason.h"

namespace detent {
namespace {

using std::chrono::seconds;

const WallTime kNow = *ParseTime("2026-11-21T10:00:00Z");

// A Job of three indexes that was just created; `set` of a case makes something else of it.
struct JobScene {
  JobScene() {
    spec.job_template.parallelism = Parallelism{3};
    view.spec = &spec;
    view.status = &status;
    view.indexes_not_begun = 3;
    view.room = 100;
    view.job_config = "nightly";
  }
  JobScene(const JobScene&) = delete;
  JobScene& operator=(const JobScene&) = delete;

  void Start(int64_t in_hand = 0) {
    status.started = kNow - seconds(60);
    view.tasks_in_hand = in_hand;
    view.indexes_not_begun = 3 - in_hand;
  }
  void End(int64_t index, OutcomeKind kind) {
    RecordOutcome(status, spec.job_template, {index, NextAttempt(status, index), kind});
  }
  void Succeed() {
    view.indexes_not_begun = 0;
    for (const int64_t index : {0, 1, 2}) End(index, OutcomeKind::kSucceeded);
  }
  void KillAt(int offset) { spec.kill_timestamp = kNow + seconds(offset); }
  void Finish(JobPhase phase = JobPhase::kSucceeded) {
    Start();
    status.finished = kNow - seconds(10);
    status.phase = phase;
  }

  JobSpec spec;
  JobStatus status;
  JobView view;
};

struct Case {
  const char* because;
  void (*set)(JobScene&);
  const char* expected;
};

std::string Drawn(const JobAction& action) {
  struct Draw {
    std::string operator()(const Admit&) { return "Admit"; }
    std::string operator()(const RejectJob& a) { return "Reject(" + a.reason + ")"; }
    std::string operator()(const BeginAttempts& a) { return "Begin " + std::to_string(a.most); }
    std::string operator()(const KillTasks& a) { return "KillTasks(" + a.reason + ")"; }
    std::string operator()(const FinishJob& a) {
      return std::string("Finish ") + NameOf(a.phase) + "(" + a.reason + ")";
    }
    std::string operator()(const DeleteJob&) { return "Delete"; }
    std::string operator()(const DropFinalizer&) { return "DropFinalizer"; }
  };
  return std::visit(Draw(), action);
}

// "Begin 3, wake 10:00:30, NotYetDue": the actions, when to look again, and why nothing goes on.
std::string Drawn(const JobPlan& plan) {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  for (const JobAction& action : plan.actions) add(Drawn(action));
  if (plan.wake) add("wake " + FormatTime(*plan.wake).substr(11, 8));
  if (plan.actions.empty() && !plan.reason.empty()) add(plan.reason);
  return text;
}

template <size_t N>
void Check(const Case (&cases)[N]) {
  for (const Case& c : cases) {
    JobScene scene;
    c.set(scene);
    EXPECT_EQ(Drawn(PlanJob(scene.view, kNow)), c.expected) << c.because;
  }
}

void ForbidBySibling(JobScene& s) {
  s.view.config_policy = ConcurrencyPolicy::kForbid;
  s.view.config_started = 1;
}

TEST(JobPlan, AdmitsAJobOrSaysWhyNot) {
  Check({
      {"nothing stands in the way", [](JobScene&) {}, "Admit"},
      {"its time lies ahead", [](JobScene& s) { s.spec.start_after = kNow + seconds(30); },
       "wake 10:00:30, NotYetDue"},
      {"its time is now", [](JobScene& s) { s.spec.start_after = kNow; }, "Admit"},
      {"its JobConfig is gone, and it will go, too", [](JobScene& s) { s.view.owner_gone = true; },
       "OwnerGone"},
      {"another Job is active", ForbidBySibling, "Reject(ConcurrencyPolicyForbid)"},
      {"there is room beside the other",
       [](JobScene& s) {
         ForbidBySibling(s);
         s.view.config_max = 2;
       },
       "Admit"},
      {"the Job's own policy wins over the JobConfig's",
       [](JobScene& s) {
         ForbidBySibling(s);
         s.spec.concurrency_policy = ConcurrencyPolicy::kAllow;
       },
       "Admit"},
      {"the Job's own policy may be the stricter one",
       [](JobScene& s) {
         s.view.config_started = 1;
         s.view.config_policy = ConcurrencyPolicy::kAllow;
         s.spec.concurrency_policy = ConcurrencyPolicy::kForbid;
       },
       "Reject(ConcurrencyPolicyForbid)"},
      {"Forbid is asked once its time has come, not before",
       [](JobScene& s) {
         ForbidBySibling(s);
         s.spec.start_after = kNow + seconds(30);
       },
       "wake 10:00:30, NotYetDue"},
  });
}

TEST(JobPlan, EndsAQueuedJobWithoutStartingIt) {
  Check({
      {"it is to be killed", [](JobScene& s) { s.KillAt(0); }, "Finish Killed(KillRequested)"},
      {"it is being deleted", [](JobScene& s) { s.view.deleting = true; },
       "Finish Killed(Deleted)"},
      {"a kill does not wait for startAfter",
       [](JobScene& s) {
         s.KillAt(-5);
         s.spec.start_after = kNow + seconds(30);
       },
       "Finish Killed(KillRequested)"},
      {"a kill that lies ahead wakes it in time",
       [](JobScene& s) {
         s.KillAt(10);
         s.spec.start_after = kNow + seconds(30);
       },
       "wake 10:00:10, NotYetDue"},
  });
}

TEST(JobPlan, BeginsNoMoreAttemptsThanThereIsRoom) {
  Check({
      {"all indexes fit", [](JobScene& s) { s.Start(); }, "Begin 3"},
      {"the executor has room for two",
       [](JobScene& s) {
         s.Start();
         s.view.room = 2;
       },
       "Begin 2"},
      {"the executor is full",
       [](JobScene& s) {
         s.Start();
         s.view.room = 0;
       },
       ""},
      {"retries that are due come beside new indexes",
       [](JobScene& s) {
         s.Start(1);
         s.view.retries_due = 2;
       },
       "Begin 4"},
      {"all is in hand", [](JobScene& s) { s.Start(3); }, ""},
      {"a kill that lies ahead wakes it",
       [](JobScene& s) {
         s.Start(3);
         s.KillAt(30);
       },
       "wake 10:00:30"},
  });
}

TEST(JobPlan, HoldsOnlyAFewAttemptsWhileTheExecutorIsUnusable) {
  const struct {
    const char* because;
    int64_t in_hand, room;
    const char* expected;
  } cases[] = {
      {"the first twenty are held", 0, 1000, "Begin 20"},
      {"what is in hand counts", 15, 1000, "Begin 5"},
      {"no more than twenty", 20, 1000, ""},
      {"tasks from before may be more", 500, 1000, ""},
      {"room still bounds", 0, 4, "Begin 4"},
  };
  for (const auto& c : cases) {
    JobScene scene;
    scene.Start(c.in_hand);
    scene.view.indexes_not_begun = 400;
    scene.view.room = c.room;
    scene.view.executor_usable = false;
    EXPECT_EQ(Drawn(PlanJob(scene.view, kNow)), c.expected) << c.because;
  }
}

TEST(JobPlan, WaitsForTheNextRetry) {
  Check({
      {"nothing else is to be done",
       [](JobScene& s) {
         s.Start();
         s.view.indexes_not_begun = 0;
         s.view.next_retry = kNow + seconds(15);
       },
       "wake 10:00:15, RetryBackoff"},
      {"other indexes are in hand",
       [](JobScene& s) {
         s.Start(2);
         s.view.indexes_not_begun = 0;
         s.view.next_retry = kNow + seconds(15);
       },
       "wake 10:00:15"},
      {"the earlier of retry and kill wakes it",
       [](JobScene& s) {
         s.Start(2);
         s.view.indexes_not_begun = 0;
         s.view.next_retry = kNow + seconds(15);
         s.KillAt(5);
       },
       "wake 10:00:05"},
  });
}

TEST(JobPlan, FinishesOnceNothingIsInHand) {
  Check({
      {"every index succeeded",
       [](JobScene& s) {
         s.Start();
         s.Succeed();
       },
       "Finish Succeeded()"},
      {"an index failed and the others go on",
       [](JobScene& s) {
         s.Start(2);
         s.End(2, OutcomeKind::kFailedForGood);
       },
       "KillTasks(OtherIndexFailed)"},
      {"an index failed and nothing is left",
       [](JobScene& s) {
         s.Start();
         s.End(2, OutcomeKind::kFailedForGood);
       },
       "Finish Failed(AttemptsUsedUp)"},
  });
}

TEST(JobPlan, EndsItsTasksBeforeItEndsByAKill) {
  Check({
      {"it is killed while tasks go on",
       [](JobScene& s) {
         s.Start(2);
         s.KillAt(0);
       },
       "KillTasks(JobKilled)"},
      {"it was killed and nothing is left",
       [](JobScene& s) {
         s.Start();
         s.KillAt(-9);
       },
       "Finish Killed(KillRequested)"},
      {"it is deleted while tasks go on",
       [](JobScene& s) {
         s.Start(1);
         s.view.deleting = true;
       },
       "KillTasks(JobDeleted)"},
      {"it was deleted and nothing is left",
       [](JobScene& s) {
         s.Start();
         s.view.deleting = true;
       },
       "Finish Killed(Deleted)"},
  });
}

TEST(JobPlan, ASuccessStandsWhenAKillComesAfterIt) {
  Check({
      {"killed after the last success",
       [](JobScene& s) {
         s.Start();
         s.Succeed();
         s.KillAt(-1);
       },
       "Finish Succeeded()"},
      {"deleted after the last success",
       [](JobScene& s) {
         s.Start();
         s.Succeed();
         s.view.deleting = true;
       },
       "Finish Succeeded()"},
  });
}

// A kill fails the attempts that it ends, so an index that has failed does not speak against it.
TEST(JobPlan, AKillExplainsTheFailuresThatItCauses) {
  Check({
      {"one attempt has ended by the kill, one goes on",
       [](JobScene& s) {
         s.Start(1);
         s.KillAt(-1);
         s.End(0, OutcomeKind::kEndedByJob);
       },
       "KillTasks(JobKilled)"},
      {"the last attempt has ended by the kill",
       [](JobScene& s) {
         s.Start();
         s.KillAt(-1);
         s.End(0, OutcomeKind::kEndedByJob);
       },
       "Finish Killed(KillRequested)"},
  });
}

TEST(JobPlan, SaysWhichIndexFailedAndWhy) {
  JobScene scene;
  scene.Start();
  scene.spec.job_template.max_attempts = 2;
  scene.End(1, OutcomeKind::kFailed);
  scene.End(1, OutcomeKind::kFailed);
  TaskRecord record;
  record.name = "job-1-2";
  record.index = 1;
  record.attempt = 2;
  record.state = TaskState::kTerminated;
  record.result = TaskResult::kFailed;
  record.reason = "ExitCode";
  record.message = "exit code 3";
  KeepRecord(scene.status, record);
  const JobPlan plan = PlanJob(scene.view, kNow);
  ASSERT_EQ(plan.actions.size(), 1U);
  EXPECT_EQ(std::get<FinishJob>(plan.actions[0]).message,
            reason::IndexFailedMessage(1, 2, "ExitCode, exit code 3"));
}

TEST(JobPlan, LetsAFinishedJobGoAfterItsTimeToLive) {
  // It finished ten seconds ago.
  Check({
      {"the host's default is an hour", [](JobScene& s) { s.Finish(); }, "wake 10:59:50"},
      {"its own time to live wins",
       [](JobScene& s) {
         s.Finish();
         s.spec.ttl_seconds_after_finished = 15;
       },
       "wake 10:00:05"},
      {"its time is over",
       [](JobScene& s) {
         s.Finish();
         s.spec.ttl_seconds_after_finished = 10;
       },
       "Delete"},
      {"zero is at once",
       [](JobScene& s) {
         s.Finish();
         s.spec.ttl_seconds_after_finished = 0;
       },
       "Delete"},
      {"it is deleted, and our finalizer is all that holds it",
       [](JobScene& s) {
         s.Finish();
         s.view.deleting = s.view.has_finalizer = true;
       },
       "DropFinalizer"},
      {"it is deleted, and somebody else holds it",
       [](JobScene& s) {
         s.Finish();
         s.view.deleting = true;
       },
       ""},
  });
}

struct Situation {
  const char* name;
  void (*set)(JobScene&);
};

constexpr Situation kSituations[] = {
    {"queued", [](JobScene&) {}},
    {"started", [](JobScene& s) { s.Start(); }},
    {"first tasks made",
     [](JobScene& s) {
       s.Start();
       s.status.created_tasks = s.status.active_tasks = 2;
     }},
    {"one runs",
     [](JobScene& s) {
       s.Start();
       s.status.created_tasks = s.status.active_tasks = 2;
       s.status.running_tasks = 1;
     }},
    {"waits to retry",
     [](JobScene& s) {
       s.Start();
       s.spec.job_template.max_attempts = 2;
       s.status.created_tasks = 1;
       s.End(0, OutcomeKind::kFailed);
       s.view.next_retry = kNow + seconds(1);
     }},
    {"second attempt made",
     [](JobScene& s) {
       s.Start();
       s.spec.job_template.max_attempts = 2;
       s.status.created_tasks = 2;
       s.status.active_tasks = 1;
       s.End(0, OutcomeKind::kFailed);
     }},
    {"all succeeded",
     [](JobScene& s) {
       s.Start();
       s.Succeed();
     }},
    {"finished", [](JobScene& s) { s.Finish(JobPhase::kFailed); }},
};

TEST(JobPlan, DerivesThePhaseFromWhatIsThere) {
  std::string drawn;
  for (const Situation& situation : kSituations) {
    drawn += std::string(situation.name) + ":";
    for (const int how : {0, 1, 2}) {
      JobScene scene;
      situation.set(scene);
      if (how == 1) scene.KillAt(0);
      if (how == 2) scene.view.deleting = true;
      drawn += std::string(" ") + NameOf(DerivePhase(scene.view, kNow));
    }
    drawn += "\n";
  }
  // Columns: left alone, to be killed, being deleted.
  EXPECT_EQ(drawn,
            "queued: Queued Killing Killing\n"
            "started: Starting Killing Killing\n"
            "first tasks made: Pending Killing Killing\n"
            "one runs: Running Killing Killing\n"
            "waits to retry: RetryBackoff Killing Killing\n"
            "second attempt made: Retrying Killing Killing\n"
            "all succeeded: Terminating Terminating Terminating\n"
            "finished: Failed Failed Failed\n");
}

}  // namespace
}  // namespace detent
