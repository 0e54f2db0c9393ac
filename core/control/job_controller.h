// Jobs: admits them, begins attempts, records how these end, and brings each Job to its own end.
//
// Carries out what core/sched/job_plan.h decides. The loop's thread only.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/control/context.h"
#include "core/control/task_factory.h"
#include "core/sched/job_plan.h"

namespace detent {

class JobController {
 public:
  explicit JobController(Context& context) : context_(context) {}

  void Seen(const ObjectPtr& object);
  void Gone(const ObjectPtr& object);

  // A JobConfig that Jobs may have waited for.
  void ConfigSeen(const Object& config);

  // Stores a new Job as far as it can go at once: with its start and its first attempts, if nothing
  // stands in its way.
  void Create(std::shared_ptr<JobWish> wish);

  void Reconcile(JobEntry& job);

  // The end of an attempt is durable in its Task: puts it into the Job. Afterwards the task's stage
  // is kRecorded once the Job's status is durable too.
  void TaskEnded(TaskEntry& task);

  // Takes a task that was read back from the store into its Job. At start only.
  void TakeBack(TaskEntry& task);
  // After all tasks were taken back: finds out which indexes have not begun, and which wait.
  void FinishTakingBack(JobEntry& job);

  // The attempt was never begun outside: it is taken out of hand, to be begun when its time comes.
  void PutBack(TaskEntry& task);
  // What is to become of an object that no task in hand belongs to.
  enum class Stray : uint8_t { kKeep, kLetGo, kRemove };
  Stray Judge(const StrayObject& stray);

  JobView View(const JobEntry& job) const;
  // What the executor of a task is given. Of a backend's record it is not kept, but filled in as
  // often as it is asked for.
  SpecText SpecOf(const TaskEntry& task) const;

 private:
  // What a pass has gathered to be written as one transaction.
  struct Gathered {
    Transaction creates;
    std::vector<uint64_t> task_ids;
  };

  JobEntry& Add(const ObjectPtr& object);
  void LinkConfig(JobEntry& job);
  void NoteSlot(const JobEntry& job, ConfigEntry& config) const;
  bool IsRaw(const JobEntry& job) const;
  bool Adopt(JobEntry& job);
  void AdoptionDone(uint64_t id, Result<Committed>& result);
  void Read(JobEntry& job);
  void Apply(JobEntry& job, JobPlan& plan, Gathered& gathered);
  void Admit(JobEntry& job);
  void Begin(JobEntry& job, int64_t most, Gathered& gathered);
  bool CompileTemplate(JobEntry& job);
  void BeginIndex(JobEntry& job, int64_t index, Gathered& gathered);
  // The next attempt at an index, in hand from here on. Null: its template cannot be filled in, and
  // it has ended with that.
  struct NewAttempt {
    TaskEntry* entry = nullptr;
    std::shared_ptr<Object> object;
  };
  NewAttempt AddAttempt(JobEntry& job, int64_t index);
  Result<NewTask> MakeIdentity(const TaskFactory& factory, AttemptRef ref) const;
  void EndUnfillable(JobEntry& job, AttemptRef ref, const Error& error);
  void RetryAfter(JobEntry& job, const TaskEntry& ended);
  WallTime RetryTime(const JobEntry& job, int64_t index) const;
  bool MayBeginNew(const JobEntry& job) const;
  void Reserve(JobEntry& job);
  void TakeBackFromBackend(JobEntry& job);
  void KillAll(JobEntry& job, const std::string& reason);
  void Finish(JobEntry& job, const FinishJob& finish);
  void Delete(JobEntry& job);
  void QueueForRoom(const JobEntry& job);
  void UpdatePhase(JobEntry& job, const JobPlan& plan);
  static const TaskEntry* FirstHeldUp(JobEntry& job);

  bool StatusIsDue(JobEntry& job);
  std::shared_ptr<Object> StatusObject(JobEntry& job);
  void SubmitWithStatus(JobEntry& job, Gathered gathered);
  void SubmitCreates(JobEntry& job, Gathered gathered);
  void SubmitCreation(JobEntry& job, Transaction creates, std::vector<uint64_t> task_ids);
  void StatusDone(uint64_t id, Result<Committed>& result);
  void NoteDurable(JobEntry& job);
  void CreateAlone(uint64_t id, const std::vector<uint64_t>& task_ids);
  void TakeNewer(JobEntry& job);
  void CreatesDone(uint64_t job_id, const std::vector<uint64_t>& ids, Result<Committed>& result);
  void CreateRefused(TaskEntry& task, const Error& error);
  void EndWithNameTaken(TaskEntry& task);
  void Shrink(JobEntry& job);

  Context& context_;
};

// Keeps the count of a Job's running tasks. Both may be called twice.
void EnterRunning(TaskEntry& task);
void LeaveRunning(TaskEntry& task);

// The record of a task that a Job's status keeps.
TaskRecord RecordOf(const TaskEntry& task);

}  // namespace detent
