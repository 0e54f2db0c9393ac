// Defaults that are part of the API. What is configured on the host is not among them: it is looked
// up when it is needed, so that a change of the configuration reaches existing objects.

#include "core/api/admission_steps.h"
#include "core/api/field_reader.h"
#include "core/api/labels.h"

namespace detent {
namespace {

void SetDefault(Json& object, std::string_view name, Json value) {
  const Json* member = object.Find(name);
  if (member == nullptr || member->is_null()) object.Set(name, std::move(value));
}

Json* MutableObject(Json* object, std::string_view name) {
  Json* member = object == nullptr ? nullptr : object->Find(name);
  return member != nullptr && member->is_object() ? member : nullptr;
}

void DefaultTemplate(Json* job_template) {
  if (job_template == nullptr) return;
  SetDefault(*job_template, "maxAttempts", Json(1));
  if (Json* parallelism = MutableObject(job_template, "parallelism")) {
    SetDefault(*parallelism, "completionStrategy", Json("AllSuccessful"));
  }
}

// The schedule as the user wrote it, to see whether it has changed.
Json WithoutLastUpdated(const Json* schedule) {
  if (schedule == nullptr) return {};
  Json copy = *schedule;
  copy.Remove("lastUpdated");
  return copy;
}

// lastUpdated rises to now when the schedule changes, and never falls: slots before it were missed
// under another schedule, so nobody catches up on them.
void DefaultLastUpdated(const Review& review, Json* schedule) {
  if (schedule == nullptr) return;
  Json old_schedule;
  if (review.old != nullptr) {
    const auto old_spec = ParseJson(review.old->spec);
    const Json* found = old_spec ? old_spec->Find("schedule") : nullptr;
    if (found != nullptr) old_schedule = *found;
  }
  const std::string* given = TextIn(schedule, "lastUpdated");
  const std::string* before = TextIn(&old_schedule, "lastUpdated");
  const bool changed = WithoutLastUpdated(schedule) !=
                       WithoutLastUpdated(old_schedule.is_null() ? nullptr : &old_schedule);
  if (!changed) {
    if (given == nullptr && before != nullptr) schedule->Set("lastUpdated", Json(*before));
    return;
  }
  const auto given_time = given == nullptr ? std::nullopt : ParseTime(*given);
  // What is no time stays, for the check of types to report.
  if (given != nullptr && !given_time) return;
  if (given_time && *given_time > review.context.now) return;
  schedule->Set("lastUpdated", Json(TimeText(review.context.now)));
}

void AddFinalizer(Json* metadata) {
  if (metadata == nullptr) return;
  SetDefault(*metadata, "finalizers", Json(Json::Array{}));
  Json& finalizers = *metadata->Find("finalizers");
  if (!finalizers.is_array()) return;
  for (const Json& finalizer : finalizers.as_array()) {
    if (finalizer == Json(labels::kDeleteDependents)) return;
  }
  finalizers.Append(Json(labels::kDeleteDependents));
}

}  // namespace

void ApplyDefaults(const Review& review, Json& document) {
  Json* spec = MutableObject(&document, "spec");
  if (spec == nullptr) return;
  if (review.kind == Kind::kJobConfig) {
    DefaultTemplate(MutableObject(MutableObject(spec, "template"), "spec"));
    DefaultLastUpdated(review, MutableObject(spec, "schedule"));
  } else if (review.kind == Kind::kJob) {
    SetDefault(*spec, "type", Json("Adhoc"));
    DefaultTemplate(MutableObject(spec, "template"));
    if (review.old == nullptr) AddFinalizer(MutableObject(&document, "metadata"));
  }
}

}  // namespace detent
