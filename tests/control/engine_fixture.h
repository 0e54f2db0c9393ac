// The engine on a store in memory, a clock that stands still, and an executor that does as it is
// told: one call of Settle lets everything happen that can happen at this instant. One thread.

#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/api/job.h"
#include "core/api/job_config.h"
#include "core/control/engine.h"
#include "core/control/job_intake.h"
#include "core/store/memory_store.h"
#include "tests/sim/sim_clock.h"

namespace detent {

// How an attempt ends at once; nullopt: it runs until it is told to end.
using Behaviour = std::function<std::optional<TaskStatus>(const TaskOrder&)>;

// Ends of an attempt.
TaskStatus Ended(TaskResult result, const std::string& reason = "");

// Carries tasks out as `behaviour` says. Its news waits until the world hands it to the inbox.
class FakeExecutor final : public Executor {
 public:
  void Start(TaskOrder order) override;
  void Recover(TaskOrder order) override;
  void Kill(KillOrder order) override;
  void ForceDelete(TaskId id) override { End(id, Ended(TaskResult::kKilled, "ForceDeleted")); }
  void Release(TaskId id) override;
  void Discard(const std::string&) override {}
  void LetGo(const std::string& key, bool remove) override { let_go[key] = remove; }
  void Flush() override {}

  // The host's next life gives ids anew; what runs outside is found by its name.
  void ForgetIds();

  // Ends a task that runs.
  void End(TaskId id, TaskStatus status);
  void EndAll(TaskResult result);

  Behaviour behaviour = [](const TaskOrder&) { return Ended(TaskResult::kSucceeded); };
  bool backend_record = false;
  std::map<std::string, bool> let_go;  // Strays by task key, and whether they were to be removed.
  bool silent = false;                 // Takes tasks, and never says that they run.
  std::vector<std::string> started;    // Names, in order.
  std::vector<std::string> killed;
  std::map<TaskId, std::string> live;  // Name.
  std::map<TaskId, std::string> held;  // Started and not released.
  std::vector<ExecutorEvent> news;
};

// One executor, of the kind "exec".
class FakeDirectory final : public ExecutorDirectory {
 public:
  Executor* Find(std::string_view kind) override {
    return usable && kind == "exec" ? &executor : nullptr;
  }
  bool BackendIsRecord(std::string_view) override { return executor.backend_record; }
  std::pair<std::string, std::string> WhyNot(std::string_view) override {
    return {"Refused", "it is switched off"};
  }
  std::string Complaint(std::string_view) override { return complaint; }
  void FlushAll() override {}

  bool usable = true;
  std::string complaint;
  FakeExecutor executor;
};

class EngineWorld {
 public:
  EngineWorld();

  // Stores what a user wrote: `spec` is JSON; the namespace is "n" and the UID follows the name.
  void CreateJob(const std::string& name, const std::string& spec);
  void CreateConfig(const std::string& name, const std::string& spec);
  void Store(Object object);
  // The same of a Job by way of the loop, as the API does; what the user is answered.
  Result<Committed> WishJob(const std::string& name, const std::string& spec);
  // The same of a Job of a JobConfig that is stored, but that the loop has not heard of yet.
  Result<Committed> WishJobOfNewConfig(const std::string& config, const std::string& spec);
  // The store refuses some transactions, after a few that go through.
  void FailNext(size_t count, size_t after = 0) { store_.FailNext(count, after); }
  // Deletes as the API does; `finalizer` is how the cascade is chosen, empty for the background.
  void Delete(const ObjectKey& key, const std::string& finalizer = "");
  // The same; the next reads after the deletion fail.
  void DeleteThenFailReads(const ObjectKey& key, const std::string& finalizer, size_t reads);
  void SetUsable(bool usable);
  // Another life of the host on the same store; the executor's work goes on outside.
  void Restart();

  // Runs until nothing more happens at this instant; fails the test if that never is.
  void Settle();
  void Advance(std::chrono::microseconds by);  // And settles.

  ObjectPtr Stored(Kind kind, const std::string& name);  // Null where there is none.
  std::vector<std::string> Names(Kind kind);
  JobStatus StatusOf(const std::string& job);
  std::string PhaseOf(const std::string& job);
  JobConfigStatus ConfigStatusOf(const std::string& config);
  std::string Explain(Kind kind, const std::string& name);  // Its lines, joined.

  SimClock clock{FromUnixSeconds(1'800'000'000)};
  ControlOptions options;
  FakeDirectory directory;
  std::map<ObjectKey, int> writes;  // Commits that changed an object.
  int commits = 0;

 private:
  Result<Committed> Wish(Object job, const std::function<void()>& meanwhile);
  Object Admitted(Kind kind, const std::string& name, const std::string& spec);

  Inbox inbox_;
  MemoryStore store_;
  JobIntake intake_{store_, inbox_};
  Logger log_;
  Metrics metrics_;
  std::unique_ptr<Engine> engine_;
};

}  // namespace detent
