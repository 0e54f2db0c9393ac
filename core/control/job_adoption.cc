// The part of the job controller for Jobs that came past the host's own API, as they may into a
// cluster: nobody has judged them, filled in what they leave out, or put the JobConfig that they
// name into them. The host does so before they start, by one write; its finalizer is the sign.

#include <utility>

#include "core/api/codec.h"
#include "core/api/job_from_config.h"
#include "core/api/labels.h"
#include "core/base/names.h"
#include "core/control/job_controller.h"
#include "core/sched/reason.h"

namespace detent {
namespace {

// A Job may be seen before the JobConfig that was created right ahead of it.
constexpr std::chrono::seconds kConfigPatience{10};

std::string ConfigNameIn(const Json& document) {
  const Json* name = document.At("/spec/configName");
  return name != nullptr && name->is_string() ? name->as_string() : std::string();
}

}  // namespace

bool JobController::IsRaw(const JobEntry& job) const {
  return context_.options.raw_objects && !job.wish && !job.status.started && !job.status.finished &&
         !job.object->meta.deleted && !HasFinalizer(job.object->meta, labels::kDeleteDependents);
}

// False: it has to wait, for its JobConfig or for the write.
bool JobController::Adopt(JobEntry& job) {
  if (job.write_in_flight) return false;
  const auto reject = [&](const std::string& why, const std::string& message) {
    Finish(job, {JobPhase::kAdmissionError, why, message});
    return true;
  };
  auto document = ParseJson(EncodeObject(*job.object));
  if (!document) return reject(reason::kInvalidSpec, document.error().message());
  if (const std::string name = ConfigNameIn(*document); !name.empty()) {
    const ConfigEntry* config =
        context_.model.FindConfig({Kind::kJobConfig, job.object->meta.ns, name});
    const WallTime until = job.seen_at + kConfigPatience;  // When it was made is another's clock.
    if (!config && context_.now < until) {
      context_.work.wall.SetNoLater(job.ref, until);
      return false;
    }
    if (!config) return reject(reason::kNoJobConfig, reason::NoJobConfigMessage(name));
    document = ResolveConfigName(*std::move(document), *config->object);
    if (!document) return reject(reason::kInvalidSpec, document.error().message());
  }
  const AdmissionContext admission_context{context_.validator, context_.now,
                                           context_.options.default_timezone};
  Admission admission = AdmitNew(Kind::kJob, *document, admission_context, false);
  if (!admission.mistakes.empty()) {
    return reject(reason::kInvalidSpec, Sentences(admission.mistakes));
  }
  auto adopted = CopyOf(job);
  adopted->spec = std::move(admission.object.spec);
  adopted->meta.labels = std::move(admission.object.meta.labels);
  adopted->meta.annotations = std::move(admission.object.meta.annotations);
  adopted->meta.finalizers = std::move(admission.object.meta.finalizers);
  adopted->meta.owners = std::move(admission.object.meta.owners);
  job.write_in_flight = true;
  context_.Submit({UpdateOf(std::move(adopted), job.object)},
                  [this, id = job.ref.id](auto result) { AdoptionDone(id, result); });
  return false;
}

void JobController::AdoptionDone(uint64_t id, Result<Committed>& result) {
  JobEntry* job = context_.model.Job(id);
  if (!job) return;
  if (result) {
    Accept(*job, result->objects.front());
  } else if (Catchup(context_, *job, result.error()) == AfterRefusal::kGone) {
    return Gone(job->object);
  }
  Read(*job);
  context_.Enqueue(*job);
}

void JobController::ConfigSeen(const Object& config) {
  for (const auto& [id, job] : context_.model.jobs()) {
    if (!job->config && !job->status.started && job->object->meta.ns == config.meta.ns) {
      context_.Enqueue(*job);
    }
  }
}

void JobController::LinkConfig(JobEntry& job) {
  const OwnerReference* owner = ControllerOf(job.object->meta);
  if (!owner || owner->kind != "JobConfig") return;
  ConfigEntry* config =
      context_.model.FindConfig({Kind::kJobConfig, job.object->meta.ns, owner->name});
  if (!config || config->object->meta.uid != owner->uid) return;
  NoteSlot(job, *config);
  if (job.status.finished) return;
  job.config = config;
  config->unfinished.insert({job.object->meta.created, &job});
  context_.Enqueue(*config);
}

// That there is a Job of a slot says that the slot is decided, and all before it are, even where
// the host died before it could say so in the JobConfig.
void JobController::NoteSlot(const JobEntry& job, ConfigEntry& config) const {
  const auto annotation = job.object->meta.annotations.find(labels::kSlot);
  if (annotation == job.object->meta.annotations.end()) return;
  const auto slot = ParseTime(annotation->second);
  if (!slot || *slot > context_.now) return;
  const std::string name = SlotJobName(config.object->meta.name, UnixSeconds(*slot));
  if (job.object->meta.name != name) return;
  if (!config.newest_slot || *config.newest_slot < *slot) config.newest_slot = *slot;
}

}  // namespace detent
