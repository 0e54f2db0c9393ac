// The outside, simulated: what executors run goes on when the host dies, as processes do.
//
// Three kinds. "exec" work outlives the host and is found again; "http" work is lost with it; of
// "pod" work the outside has the only record, and people delete it there. Every call of the host is
// judged against what is stored at that instant.

#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/api/job.h"
#include "core/base/random.h"
#include "core/plugin/executor.h"
#include "core/store/store.h"
#include "tests/sim/sim_clock.h"

namespace detent {

// One piece of work outside, by task key.
struct OutsideWork {
  TaskId id = 0;  // The host's name for it; 0 = no host of today has it.
  std::string kind;
  std::string ns, name;
  WallTime runs_until{};
  bool ran = false;
  bool over = false;
  TaskStatus end;  // Once over.
  bool kill_asked = false;
  bool letting_go = false;  // Of a pod: released, and the marks are being taken off.
};

class SimWorld {
 public:
  SimWorld(SimClock& clock, Random& random) : clock_(clock), random_(random) {}

  // The host in service: its store, for judging, and where news goes.
  void Attach(Store* store, ExecutorSink* sink);
  // The host died: news for it is dropped, and what lives in it is lost.
  void HostDied();

  ExecutorDirectory& directory() { return directory_; }

  void SetUsable(const std::string& kind, bool usable);
  bool usable(const std::string& kind) const { return !unusable_.contains(kind); }

  // Somebody deletes a pod: its end is a failure. `by_force`: without waiting for the host.
  void DeleteSomePod(bool by_force);

  // Ends what is due, and delivers one batch of the news that waits. False if there was nothing.
  bool Step();
  // The instant at which something happens by itself.
  std::optional<WallTime> NextEvent() const;

  // Empty: all went by the contract. Otherwise the first breach, in words.
  const std::string& breach() const { return breach_; }
  bool has_news() const { return !news_.empty(); }
  size_t live() const;
  size_t held() const { return work_.size(); }  // Not yet released.
  int64_t executions() const { return executions_; }
  std::function<void(const std::string&)> trace = [](const std::string&) {};

 private:
  class SimExecutor final : public Executor {
   public:
    SimExecutor(SimWorld& world, std::string kind) : world_(world), kind_(std::move(kind)) {}
    void Start(TaskOrder order) override { world_.Start(kind_, order); }
    void Recover(TaskOrder order) override { world_.Recover(kind_, order); }
    void Kill(KillOrder order) override { world_.Kill(order); }
    void ForceDelete(TaskId id) override { world_.Kill({id, true, {}, "ForceDeleted"}); }
    void Release(TaskId id) override { world_.Release(id); }
    void Discard(const std::string&) override {}
    void LetGo(const std::string& key, bool remove) override { world_.LetGo(key, remove); }
    void Flush() override {}

   private:
    SimWorld& world_;
    const std::string kind_;
  };

  class Directory final : public ExecutorDirectory {
   public:
    explicit Directory(SimWorld& world)
        : world_(world), exec_(world, "exec"), http_(world, "http"), pod_(world, "pod") {}
    Executor* Find(std::string_view kind) override {
      if (!world_.usable(std::string(kind))) return nullptr;
      return kind == "exec" ? &exec_ : kind == "http" ? &http_ : kind == "pod" ? &pod_ : nullptr;
    }
    // Now and then a Job is admitted while nobody knows: its plugin could not be loaded.
    bool BackendIsRecord(std::string_view kind) override {
      return kind == "pod" && (world_.usable("pod") || world_.random_.Below(2) == 0);
    }
    std::pair<std::string, std::string> WhyNot(std::string_view) override {
      return {"Refused", "it is switched off"};
    }
    std::string Complaint(std::string_view) override { return ""; }
    void FlushAll() override {}

   private:
    SimWorld& world_;
    SimExecutor exec_, http_, pod_;
  };

  void Start(const std::string& kind, const TaskOrder& order);
  void Recover(const std::string& kind, const TaskOrder& order);
  void Kill(const KillOrder& order);
  void Release(TaskId id);
  void LetGo(const std::string& key, bool remove);
  void CheckPodStart(const TaskOrder& order);
  void CheckPodRelease(const std::string& key);
  void TellStrays();
  void Finish(const std::string& key, OutsideWork& work, TaskStatus end);
  void Breach(const std::string& what);
  ObjectPtr Stored(const std::string& ns, const std::string& name) const;
  ObjectPtr Stored(const TaskOrder& order) const;
  // The stored status of the Job that a task key names, and which of its attempts it is.
  struct Attempt {
    std::optional<JobStatus> job;  // Null: there is no such Job any more.
    int64_t index = 0, attempt = 1;
  };
  Attempt AttemptOf(const std::string& key) const;

  SimClock& clock_;
  Random& random_;
  Directory directory_{*this};
  Store* store_ = nullptr;
  ExecutorSink* sink_ = nullptr;
  std::map<std::string, OutsideWork> work_;
  std::map<TaskId, std::string> keys_;
  std::set<std::string> released_;  // Keys the host let go of: none of them may come back.
  std::set<std::string> taken_;     // Keys of pods that were taken away by force.
  std::set<std::string> unusable_;
  std::vector<ExecutorEvent> news_;
  int64_t executions_ = 0;
  std::string breach_;
};

}  // namespace detent
