#include "core/control/config_controller.h"

#include <algorithm>
#include <utility>

#include "core/api/codec.h"
#include "core/api/job_from_config.h"
#include "core/api/labels.h"
#include "core/base/limits.h"
#include "core/base/names.h"
#include "core/sched/reason.h"

namespace detent {

namespace {

// What is told of at once, and was made so much earlier, was made by a clock that is behind ours.
constexpr std::chrono::seconds kSkew{60};

}  // namespace

void ConfigController::TakeBack(const ObjectPtr& object) {
  Add(object);
}

void ConfigController::Seen(const ObjectPtr& object) {
  ConfigEntry* config = context_.model.FindConfig(object->key());
  if (!config) {
    ConfigEntry& added = Add(object);
    if (added.begins + kSkew < context_.now) added.begins = context_.now;
    return;
  }
  if (object->meta.resource_version <= config->version()) return;
  if (config->write_in_flight) {
    config->seen = object;
    return;
  }
  config->object = object;
  Read(*config);
  context_.Enqueue(*config);
}

// Slots are of this host's clock. The one that says when the object was made may be another, and
// ahead of it.
ConfigEntry& ConfigController::Add(const ObjectPtr& object) {
  ConfigEntry& added = context_.model.AddConfig(object);
  added.begins = std::min(object->meta.created, context_.now);
  Read(added);
  context_.Enqueue(added);
  return added;
}

void ConfigController::Gone(const ObjectPtr& object) {
  ConfigEntry* config = context_.model.FindConfig(object->key());
  if (!config || config->object->meta.uid != object->meta.uid) return;
  context_.work.Forget(config->ref);
  context_.model.Remove(*config);
}

void ConfigController::Read(ConfigEntry& config) {
  config.schedule.reset();
  config.mistake.clear();
  auto status = DecodeJobConfigStatus(config.object->status);
  if (status) config.status = std::move(*status);
  auto spec = DecodeJobConfigSpec(config.object->spec);
  if (!spec) {
    config.mistake = spec.error().message();
    return;
  }
  config.policy = spec->policy;
  config.max_concurrency = spec->max_concurrency;
  if (!spec->schedule || spec->schedule->disabled) return;
  const std::string hash_id =
      context_.options.hash_names ? config.object->meta.ns + "/" + config.object->meta.name : "-";
  const std::string& zone = spec->schedule->timezone.empty() ? context_.options.default_timezone
                                                             : spec->schedule->timezone;
  auto schedule =
      Schedule::Parse(spec->schedule->expressions, zone, {.hash_id = hash_id, .hash_fields = true});
  if (!schedule) {
    config.mistake = schedule.error().message();
    return;
  }
  config.schedule = std::make_unique<Schedule>(std::move(*schedule));
  config.schedule_spec = std::move(*spec->schedule);
  config.schedule_spec.expressions = {};
}

void ConfigController::Reconcile(ConfigEntry& config) {
  if (config.write_in_flight) return;
  if (config.retry_write_at && *config.retry_write_at > context_.mono) {
    context_.work.ticks.SetNoLater(config.ref, *config.retry_write_at);
    return;
  }
  const bool deciding = config.schedule && !config.object->meta.deleted;
  if (deciding && DecideSlots(config)) return;
  if (!deciding) context_.work.wall.Clear(config.ref);
  WriteStatusIfDue(config);
}

bool ConfigController::DecideSlots(ConfigEntry& config) {
  SlotsView view;
  view.schedule = config.schedule.get();
  view.spec = &config.schedule_spec;
  view.name = config.object->meta.name;
  view.decided_until = config.status.last_scheduled.value_or(config.begins);
  if (config.newest_slot) view.decided_until = std::max(view.decided_until, *config.newest_slot);
  view.now = context_.now;
  view.policy = config.policy;
  view.active = static_cast<int64_t>(config.unfinished.size());
  view.max_concurrency = config.max_concurrency;
  view.max_missed = context_.options.max_missed_schedules;
  view.max_downtime = context_.options.max_downtime;
  const SlotsPlan plan = PlanSlots(view);
  if (plan.next) {
    context_.work.wall.Set(config.ref, *plan.next);
  } else {
    context_.work.wall.Clear(config.ref);
  }
  config.status.next_scheduled = plan.next;
  if (plan.decisions.empty()) return false;
  SubmitSlots(config, plan);
  return true;
}

void ConfigController::SubmitSlots(ConfigEntry& config, const SlotsPlan& plan) {
  Transaction transaction;
  JobConfigStatus status = DeriveStatus(config);
  status.last_scheduled = plan.decided_until;
  status.skipped += plan.skipped;
  const auto spec = DecodeJobConfigSpec(config.object->spec);
  for (const SlotDecision& decision : plan.decisions) {
    std::string why = decision.reason;
    std::string message = decision.message;
    if (decision.create && spec) {
      auto job = MakeJob(config, *spec, decision.slot);
      if (job) {
        transaction.push_back({WriteOp::kCreate, std::move(*job), 0, nullptr});
        const auto late = context_.now - decision.slot;
        context_.metrics.slot_lateness.ObserveMicros(late.count());
        continue;
      }
      why = reason::kInvalidSpec;
      message = job.error().message();
      ++status.skipped;
    }
    status.last_skipped = SkippedSlot{decision.slot, why, message};
  }
  auto object = CopyOf(config);
  object->status = EncodeJobConfigStatus(status);
  transaction.push_back(UpdateOf(std::move(object), config.object));
  config.write_in_flight = true;
  config.written_at = context_.mono;
  context_.Submit(std::move(transaction), [this, id = config.ref.id, plan](auto result) {
    if (!result && result.error().code() == Code::kAlreadyExists) {
      SlotsRefused(id, plan, result.error());
      return;
    }
    if (result) {
      context_.metrics.slots_created.Add(int64_t(result->objects.size()) - 1);
      context_.metrics.slots_skipped.Add(plan.skipped);
    }
    WriteDone(id, std::move(result));
  });
}

// A Job of a slot's name is there already. Either it is the slot's own, written by a host that died
// before it knew, or somebody took the name, which is said.
void ConfigController::SlotsRefused(uint64_t id, const SlotsPlan& plan, const Error& error) {
  ConfigEntry* config = context_.model.Config(id);
  if (!config) return;
  SlotsPlan next = plan;
  bool changed = false;
  std::vector<SlotDecision> kept;
  for (SlotDecision& decision : next.decisions) {
    const std::string name = SlotJobName(config->object->meta.name, UnixSeconds(decision.slot));
    const bool taken = decision.create &&
                       context_.store.Read({Kind::kJob, config->object->meta.ns, name}).has_value();
    changed = changed || taken;
    if (taken && OwnsJobOf(*config, decision.slot)) continue;
    if (taken) {
      ++next.skipped;
      decision = {decision.slot, false, reason::kNameTaken,
                  "the name " + name + " belongs to another Job"};
    }
    kept.push_back(std::move(decision));
  }
  next.decisions = std::move(kept);
  config->write_in_flight = false;
  if (!changed) {
    Catchup(context_, *config, Error(Code::kUnavailable, error.message()));
    return;
  }
  SubmitSlots(*config, next);
}

bool ConfigController::OwnsJobOf(const ConfigEntry& config, WallTime slot) {
  const std::string name = SlotJobName(config.object->meta.name, UnixSeconds(slot));
  const auto job = context_.store.Read({Kind::kJob, config.object->meta.ns, name});
  if (!job) return false;
  const OwnerReference* owner = ControllerOf((*job)->meta);
  return owner && owner->uid == config.object->meta.uid &&
         (*job)->meta.annotations.contains(labels::kSlot);
}

Result<std::shared_ptr<Object>> ConfigController::MakeJob(const ConfigEntry& config,
                                                          const JobConfigSpec& spec,
                                                          WallTime slot) {
  JobOverrides overrides;
  overrides.slot = slot;
  auto job = JobFromConfig(config.object->meta, spec, overrides, context_.now);
  if (!job) return std::move(job).error();
  auto object = std::make_shared<Object>(std::move(*job));
  // Derived, so that the same slot makes the same Job on any host.
  object->meta.uid = DerivedUid(config.object->meta.uid + "/" + FormatTime(slot));
  return object;
}

void ConfigController::WriteDone(uint64_t id, Result<Committed> result) {
  ConfigEntry* config = context_.model.Config(id);
  if (!config) return;
  if (result) {
    Accept(*config, result->objects.back());
  } else if (Catchup(context_, *config, result.error()) == AfterRefusal::kGone) {
    Gone(config->object);
    return;
  }
  Read(*config);
  context_.Enqueue(*config);
}

JobConfigStatus ConfigController::DeriveStatus(const ConfigEntry& config) const {
  JobConfigStatus status = config.status;
  status.active = 0;
  status.queued = 0;
  status.active_jobs.clear();
  for (const auto& [created, job] : config.unfinished) {
    if (!job->status.started) {
      ++status.queued;
      continue;
    }
    ++status.active;
    if (!status.last_executed || *status.last_executed < *job->status.started) {
      status.last_executed = job->status.started;
    }
    if (status.active_jobs.size() < limits::kStatusTaskRecords) {
      status.active_jobs.push_back({job->object->meta.name, job->object->meta.uid,
                                    NameOf(job->status.phase), job->object->meta.created});
    }
  }
  status.state =
      status.active > 0   ? "Executing"
      : status.queued > 0 ? "JobQueued"
      : config.schedule   ? "ReadyEnabled"
      : config.mistake.empty() && config.object->spec.find("\"cron\"") != std::string::npos
          ? "ReadyDisabled"
          : "Ready";
  if (!config.schedule) status.next_scheduled.reset();
  return status;
}

void ConfigController::WriteStatusIfDue(ConfigEntry& config) {
  const JobConfigStatus status = DeriveStatus(config);
  std::string text = EncodeJobConfigStatus(status);
  if (text == config.object->status) return;
  if (config.written_at) {
    const MonoTime due = *config.written_at + context_.options.status_interval;
    if (due > context_.mono) {
      context_.work.ticks.SetNoLater(config.ref, due);
      return;
    }
  }
  auto object = CopyOf(config);
  object->status = std::move(text);
  config.write_in_flight = true;
  config.written_at = context_.mono;
  context_.Submit({UpdateOf(std::move(object), config.object)},
                  [this, id = config.ref.id](auto result) { WriteDone(id, std::move(result)); });
}

}  // namespace detent
