// Tasks in hand: hands them to executors, takes the news, makes outcomes durable, lets go.
//
// Carries out what core/sched/task_plan.h decides. The loop's thread only.

#pragma once

#include <string>

#include "core/control/context.h"
#include "core/control/job_controller.h"

namespace detent {

class TaskController {
 public:
  TaskController(Context& context, JobController& jobs) : context_(context), jobs_(jobs) {}

  // Somebody changed or removed a Task.
  void Seen(const ObjectPtr& object);
  void Gone(const ObjectPtr& object);

  // A Task with our finalizer was found at start. False if it cannot be read.
  bool TakeBack(const ObjectPtr& object);

  void Reconcile(TaskEntry& task);

  // What executors say.
  void On(TaskNews& news);
  void On(StartAnswer& answer);
  void On(RecoverAnswer& answer);
  void On(CheckpointRequest& request);
  void On(KillAnswer& answer);
  void On(ExecutorChange& change);
  void On(StrayObject& stray);

  TaskView View(const TaskEntry& task) const;

 private:
  void Do(TaskEntry& task, TaskAction action);
  void StoreIntent(TaskEntry& task);
  void Start(TaskEntry& task);
  void Recover(TaskEntry& task);
  void Kill(TaskEntry& task);
  void Release(TaskEntry& task);
  void DropTracking(TaskEntry& task);
  void End(TaskEntry& task, TaskResult result, const std::string& why, const std::string& message);
  void Ended(TaskEntry& task);
  void HeldUp(TaskEntry& task, const std::string& why, const std::string& message);
  void GoesOn(TaskEntry& task);
  void Lost(TaskEntry& task, const RecoverAnswer& answer);
  void TakeWishes(TaskEntry& task);
  void SeenUnknown(const ObjectPtr& object);
  TaskOrder OrderOf(const TaskEntry& task) const;

  void WriteStatus(TaskEntry& task, TaskWrite purpose);
  void WriteDone(uint64_t id, TaskWrite purpose, Result<Committed>& result);
  void Written(TaskEntry& task, TaskWrite purpose);
  void ProgressSoon(TaskEntry& task);

  Context& context_;
  JobController& jobs_;
};

}  // namespace detent
