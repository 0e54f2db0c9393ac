#include "core/control/context.h"

namespace detent {

ControlMetrics::ControlMetrics(Metrics& m)
    : slots_created(m.AddCounter("detent_slots_total", "Slots decided.", "result=\"created\"")),
      slots_skipped(m.AddCounter("detent_slots_total", "Slots decided.", "result=\"skipped\"")),
      jobs_started(m.AddCounter("detent_jobs_started_total", "Jobs that were admitted.")),
      jobs_finished(m.AddCounter("detent_jobs_finished_total", "Jobs that came to their end.")),
      tasks_started(m.AddCounter("detent_tasks_started_total", "Tasks handed to an executor.")),
      tasks_succeeded(
          m.AddCounter("detent_tasks_finished_total", "Tasks that ended.", "result=\"succeeded\"")),
      tasks_failed(
          m.AddCounter("detent_tasks_finished_total", "Tasks that ended.", "result=\"other\"")),
      tasks_adopted(m.AddCounter("detent_tasks_adopted_total",
                                 "Tasks of an earlier life of the host that were found going.")),
      writes(m.AddCounter("detent_loop_writes_total", "Transactions the loop asked for.")),
      write_conflicts(
          m.AddCounter("detent_loop_writes_refused_total", "Of these, refused by the store.")),
      slot_lateness(
          m.AddHistogram("detent_slot_lateness_seconds", "From a slot to its decision.")) {}

void Context::Submit(Transaction transaction, std::function<void(Result<Committed>)> then) {
  metrics.writes.Add();
  store.Submit(std::move(transaction),
               [&inbox = inbox, then = std::move(then)](Result<Committed> result) mutable {
                 inbox.PostAnswer(WriteDone{std::move(then), std::move(result)});
               });
}

void Context::OfferRoom(const std::string& kind) {
  if (RoomFor(kind) <= 0) return;
  if (const auto job = model.PopWaitingForRoom(kind)) work.Enqueue(*job);
}

void Context::Drop(TaskEntry& task) {
  const std::string kind = task.kind;
  work.Forget(task.ref);
  model.Remove(task);
  OfferRoom(kind);
}

void Context::Drop(JobEntry& job) {
  const std::string kind = job.spec.job_template.task_template.kind;
  work.Forget(job.ref);
  model.Remove(job);
  OfferRoom(kind);
}

AfterRefusal Catchup(Context& context, StoredEntry& entry, const Error& error) {
  context.metrics.write_conflicts.Add();
  entry.write_in_flight = false;
  if (error.code() == Code::kConflict || error.code() == Code::kNotFound) {
    auto newest = context.store.Read(entry.object->key());
    if (!newest && newest.error().code() == Code::kNotFound) return AfterRefusal::kGone;
    if (newest && (*newest)->meta.uid != entry.object->meta.uid) return AfterRefusal::kGone;
    if (newest) entry.object = *newest;
    entry.seen = nullptr;
  }
  if (error.code() == Code::kConflict) {
    context.Enqueue(entry);
    return AfterRefusal::kAgain;
  }
  context.log.Error("store refused a write",
                    {{"object", ToString(entry.object->key())}, {"error", error.message()}});
  entry.retry_write_at = context.mono + context.options.store_retry;
  context.work.ticks.SetNoLater(entry.ref, *entry.retry_write_at);
  return AfterRefusal::kAgain;
}

bool Accept(StoredEntry& entry, const ObjectPtr& committed) {
  entry.write_in_flight = false;
  entry.retry_write_at.reset();
  entry.object = committed;
  const ObjectPtr seen = std::move(entry.seen);
  entry.seen = nullptr;
  if (!seen || seen->meta.resource_version <= committed->meta.resource_version) return false;
  entry.object = seen;
  return true;
}

std::shared_ptr<Object> CopyOf(const StoredEntry& entry) {
  return std::make_shared<Object>(*entry.object);
}

Write UpdateOf(std::shared_ptr<Object> object, ObjectPtr previous) {
  const bool gone = object->meta.deleted && object->meta.finalizers.empty();
  const int64_t version = previous->meta.resource_version;
  return {gone ? WriteOp::kDelete : WriteOp::kUpdate, std::move(object), version,
          std::move(previous)};
}

Write DeletionOf(const ObjectPtr& object, WallTime now, const char* let_go) {
  auto copy = std::make_shared<Object>(*object);
  if (!copy->meta.deleted) {
    copy->meta.deleted = now;
    copy->meta.deletion_grace_seconds = 0;
  }
  if (let_go) RemoveFinalizer(copy->meta, let_go);
  return UpdateOf(std::move(copy), object);
}

}  // namespace detent
