// The creating half of the job controller: Jobs that are stored together with their first attempts.

#include <utility>

#include "core/control/job_controller.h"
#include "core/sched/reason.h"

namespace detent {

void JobController::Create(std::shared_ptr<JobWish> wish) {
  const bool taken = context_.model.FindJob(wish->object->key()) != nullptr;
  if (taken || OwnerIsMissing(context_.model, *wish->object)) {
    // The name's holder may be about to go, the owner about to come: what the store says of both
    // arrives here in order.
    wish->StoreAlone(context_.store);
    return;
  }
  JobEntry& job = Add(wish->object);
  job.wish = std::move(wish);
  job.dirty = job.urgent = true;
  if (job.status.reason == reason::kInvalidSpec) CreateAlone(job.ref.id, {});
}

// The transaction was refused as a whole, be it for the name of one task only. So the Job is stored
// as it was asked for, alone, and goes on from there as any Job that is found.
void JobController::CreateAlone(uint64_t id, const std::vector<uint64_t>& task_ids) {
  for (const uint64_t task_id : task_ids) {
    if (TaskEntry* task = context_.model.Task(task_id)) context_.Drop(*task);
  }
  JobEntry* job = context_.model.Job(id);
  const std::shared_ptr<JobWish> wish = std::move(job->wish);
  const ObjectPtr seen = job->seen;
  if (job->config) context_.Enqueue(*job->config);
  context_.Drop(*job);
  wish->StoreAlone(context_.store);
  if (seen) Seen(seen);
}

}  // namespace detent
