// Many tasks in a world in which anything may happen at any time: replies are lost, requests arrive
// late, the watch begins anew, others delete Pods, the host stops and comes back. Whatever the
// seed, each task has one outcome, it is a true one, and nothing is left behind.

#include <random>

#include "tests/plugins/pod/pod_fixture.h"

namespace detent::testing {
namespace {

// What the real host keeps of a task, and does with it (core/sched/task_plan.h).
struct HeldTask {
  enum class Stage { kIntended, kOffered, kUnsure, kGoing, kOver, kReleased };
  std::string name;
  detent_task handle = 0;
  Stage stage = Stage::kIntended;
  detent_op start = 0, recover = 0, kill = 0;
  bool introduced = true, kill_wanted = false, durable = false;
  bool put_back = false;  // it was not there, so the executor was told to forget it
  uint32_t last_phase = DETENT_PHASE_STARTING;
  std::string outcome;   // as it was told first
  std::string natural;   // how its Pod ended by itself, with nobody's help
  bool meddled = false;  // others took its Pod away with its finalizer
};

class PodChance : public PodRun {
 protected:
  using Stage = HeldTask::Stage;

  void Live(uint32_t seed);
  bool Chance(int of) { return random_() % static_cast<unsigned>(of) == 0; }
  HeldTask& Any() { return tasks_[random_() % tasks_.size()]; }

  void Conclude(HeldTask& task, const std::string& outcome);
  void Look(HeldTask& task);
  void Pump(HeldTask& task);
  void PumpKill(HeldTask& task);
  void PumpOver(HeldTask& task);
  void OnStarted(HeldTask& task, const Answer& answer);
  void OnRecovered(HeldTask& task, const Answer& answer);
  void PutBack(HeldTask& task);
  void RemoveStrays();
  void Restart();
  void Trouble();
  void World();
  void Turn();
  void Calm();

  std::mt19937 random_;
  std::vector<HeldTask> tasks_;
};

void PodChance::Conclude(HeldTask& task, const std::string& outcome) {
  // J09: a second life sees the same end, unless there is nothing left to be seen, or only now.
  if (!task.outcome.empty() && !task.meddled && kube().late().count(task.name) == 0) {
    EXPECT_EQ(task.outcome, outcome) << task.name;
  }
  if (task.outcome.empty()) task.outcome = outcome;
  task.stage = Stage::kOver;
}

void PodChance::Look(HeldTask& task) {
  const Update& update = host().last(task.handle);
  if (update.phase != DETENT_PHASE_TERMINATED) {
    task.last_phase = std::max(task.last_phase, update.phase);
  } else if (task.stage < Stage::kOver) {
    Conclude(task, Is(task.handle));  // Recorded with the outcome, or not at all.
  }
}

void PodChance::OnStarted(HeldTask& task, const Answer& answer) {
  task.start = 0;
  switch (answer.code) {
    case DETENT_OK:
      task.stage = Stage::kGoing;
      return;
    case DETENT_E_BUSY:
    case DETENT_E_UNAVAILABLE:
      task.stage = Stage::kIntended;
      return;
    case DETENT_E_INVALID:
    case DETENT_E_DENIED:
    case DETENT_E_ALREADY_EXISTS:
      return Conclude(task, "Failed " + answer.reason);
    default:
      task.stage = Stage::kUnsure;
  }
}

void PodChance::OnRecovered(HeldTask& task, const Answer& answer) {
  task.recover = 0;
  task.introduced = true;
  if (task.stage >= Stage::kOver) {
    if (answer.code == DETENT_RETRY_LATER) task.introduced = false;
    return;
  }
  if (answer.code == DETENT_ADOPTED) task.stage = Stage::kGoing;
  EXPECT_NE(answer.code, DETENT_TERMINATED) << "without an update";
  if (answer.code != DETENT_NOT_FOUND) return;
  if (task.last_phase >= DETENT_PHASE_RUNNING) return Conclude(task, "Lost");
  PutBack(task);
}

// As JobController::PutBack does: it is begun again later, in another handle.
void PodChance::PutBack(HeldTask& task) {
  task.stage = Stage::kIntended;
  if (task.kill != 0 && !host().answer(task.kill).given) return;
  host().Release(task.handle);
  task.handle = host().NewTask(task.name, kPlain);
  task.start = task.kill = 0;
  task.put_back = true;
}

void PodChance::PumpKill(HeldTask& task) {
  if (!task.kill_wanted || task.stage >= Stage::kOver || task.stage == Stage::kIntended) return;
  if (task.stage == Stage::kUnsure && task.recover == 0) return;  // The plugin may not know it.
  if (task.kill == 0) {
    task.kill = Chance(2) ? host().Kill(task.handle, 5'000'000'000) : host().KillNow(task.handle);
    return;
  }
  const Answer& answer = host().answer(task.kill);
  if (!answer.given || answer.code == DETENT_OK) return;
  task.kill = 0;
  if (answer.code == DETENT_E_NOT_FOUND && task.start == 0) Conclude(task, "Lost");
}

void PodChance::PumpOver(HeldTask& task) {
  const auto open = [&](detent_op op) { return op != 0 && !host().answer(op).given; };
  if (Chance(2)) task.durable = true;
  if (!task.durable || open(task.start) || open(task.recover) || open(task.kill)) return;
  if (task.put_back) {
    task.stage = Stage::kReleased;  // The executor has not heard of it.
    return;
  }
  if (!task.introduced) {
    if (task.recover == 0) task.recover = host().Recover(task.handle);
    return;
  }
  host().Release(task.handle);
  task.stage = Stage::kReleased;
}

void PodChance::Pump(HeldTask& task) {
  if (task.stage == Stage::kReleased) return;
  server().Advance(1);
  Look(task);
  if (task.start != 0 && host().answer(task.start).given && task.stage == Stage::kOffered) {
    OnStarted(task, host().answer(task.start));
  }
  if (task.recover != 0 && host().answer(task.recover).given) {
    OnRecovered(task, host().answer(task.recover));
  }
  PumpKill(task);
  switch (task.stage) {
    case Stage::kIntended:
      // Nothing was said to run: the host ends it without a question.
      if (task.kill_wanted) return Conclude(task, "Killed UserRequested");
      task.stage = Stage::kOffered;
      task.put_back = false;
      task.start = host().Start(task.handle);
      return;
    case Stage::kUnsure:
      if (task.recover == 0) task.recover = host().Recover(task.handle);
      return;
    case Stage::kOver:
      return PumpOver(task);
    default:
      return;
  }
}

void PodChance::Restart() {
  // No request is under way for longer than a life.
  kube().ArriveLate();
  kube().DeliverEvents();
  kube().syncs = Chance(2);
  NewHost();
  for (HeldTask& task : tasks_) {
    if (task.stage == Stage::kReleased) continue;
    task.handle = host().NewTask(task.name, kPlain, DETENT_REF_START_ACKED);
    host().Remember(task.handle, "", task.last_phase);
    task.start = task.recover = task.kill = 0;
    task.introduced = task.put_back = false;
    if (!task.durable || task.stage < Stage::kOver) task.stage = Stage::kUnsure;
  }
}

void PodChance::Trouble() {
  constexpr KubeAct kActs[] = {KubeAct::kCreate, KubeAct::kGet, KubeAct::kDelete, KubeAct::kPatch};
  switch (random_() % 8) {
    case 0:
    case 1:
    case 2:
      return kube().Inject({kActs[random_() % 4], DETENT_E_UNAVAILABLE, 0, "", "lost", Chance(2)});
    case 3:
      return kube().Inject({KubeAct::kCreate, DETENT_E_DENIED, 403, "", "exceeded quota"});
    case 4:
      return kube().Hold(Chance(2) ? KubeAct::kCreate : KubeAct::kLetGo);
    case 5:
      return kube().Arrive();
    case 6:
      return kube().RestartWatch();
    default:
      return Chance(4) ? Restart() : kube().Sync();
  }
}

void PodChance::World() {
  HeldTask& task = Any();
  const Json* const pod = server().Find(task.name);
  if (pod == nullptr) return;
  const bool deleting = !TextAt(*pod, "/metadata/deletionTimestamp").empty();
  const std::string phase = TextAt(*pod, "/status/phase");
  const bool over = phase == "Succeeded" || phase == "Failed";
  server().Advance(2);
  switch (random_() % 6) {
    case 0:
    case 1:
      if (!over && !deleting) server().Run(task.name);
      return;
    case 2:
      if (phase != "Running" || deleting) return;
      if (task.outcome.empty()) task.natural = Chance(2) ? "Succeeded" : "Failed ExitCode";
      return server().End(task.name, task.natural == "Succeeded" ? 0 : 1);
    case 3:
      return server().ConfirmDeletion(task.name);
    case 4:
      if (Chance(4) && !over) server().DeleteByOthers(task.name);
      return;
    default:
      if (!Chance(12)) return;
      task.meddled = true;
      return server().Wipe(task.name);
  }
}

void PodChance::Turn() {
  server().Advance(1);  // Within one second nobody can tell what came first.
  if (Chance(2)) kube().DeliverAnswers();
  if (Chance(2)) kube().DeliverEvents();
  // For what waits in the host's own queue.
  if (Chance(3)) host().RunReady();
}

// As JobController::Judge does of what no task belongs to, once the Job has ended.
void PodChance::RemoveStrays() {
  for (const HeldTask& task : tasks_) {
    const Json* const pod = server().Find(task.name);
    if (!task.put_back || task.stage != Stage::kReleased || pod == nullptr) continue;
    server().LetGo("default", task.name, TextAt(*pod, "/metadata/uid"), kTrackedLabel, kFinalizer);
    server().DeleteByOthers(task.name, 0);
  }
}

// All troubles end, and so does everything that runs.
void PodChance::Calm() {
  for (int round = 0; round < 60; ++round) {
    kube().ForgetFaults();
    kube().Arrive();
    kube().Sync();
    for (HeldTask& task : tasks_) {
      Pump(task);
      server().Advance(2);
      const Json* const pod = server().Find(task.name);
      if (pod == nullptr) continue;
      if (!TextAt(*pod, "/metadata/deletionTimestamp").empty()) {
        server().ConfirmDeletion(task.name);
      } else if (TextAt(*pod, "/status/phase") == "Pending") {
        server().Run(task.name);
      } else if (TextAt(*pod, "/status/phase") == "Running") {
        if (task.outcome.empty()) task.natural = "Succeeded";
        server().End(task.name, task.natural == "Succeeded" ? 0 : 1);
      }
    }
    FakeHost::SkipTime(20);
    Settle();
  }
  RemoveStrays();
}

void PodChance::Live(uint32_t seed) {
  random_.seed(seed);
  for (int i = 0; i < 8; ++i) {
    HeldTask& task = tasks_.emplace_back();
    task.name = "job-" + std::to_string(i) + "-1";
    task.handle = host().NewTask(task.name, kPlain);
  }
  for (int step = 0; step < 400; ++step) {
    Pump(Any());
    World();
    Turn();
    if (Chance(6)) Trouble();
    if (Chance(25)) Any().kill_wanted = true;
  }
  Calm();
  for (const HeldTask& task : tasks_) {
    EXPECT_EQ(task.stage, Stage::kReleased) << task.name;
    const bool killed = task.outcome.starts_with("Killed");
    if (!task.natural.empty() && !task.meddled && !killed) {
      EXPECT_EQ(task.outcome, task.natural) << task.name;
    }
    if (task.outcome == "Succeeded") {
      EXPECT_EQ(task.natural, "Succeeded") << task.name;
    }
    if (killed) {
      EXPECT_TRUE(task.kill_wanted) << task.name;
    }
    const std::string left = Marks(task.name);
    EXPECT_TRUE(left == "gone" || left == "free") << task.name << " " << left;
    const Json* const pod = server().Find(task.name);
    if (pod == nullptr) continue;
    const std::string phase = TextAt(*pod, "/status/phase");
    EXPECT_TRUE(phase == "Succeeded" || phase == "Failed") << task.name << " still runs: " << phase;
  }
}

class PodChanceSeeds : public PodChance, public ::testing::WithParamInterface<uint32_t> {};

TEST_P(PodChanceSeeds, LeaveOneTrueOutcomeAndNothingBehind) {
  Live(GetParam());
}

INSTANTIATE_TEST_SUITE_P(Seeds, PodChanceSeeds, ::testing::Range(uint32_t{1}, uint32_t{2001}));

}  // namespace
}  // namespace detent::testing
