#include "core/furiko/furiko_plan.h"

#include <utility>

#include "core/api/codec.h"
#include "core/api/furiko.h"
#include "core/api/job_from_config.h"
#include "core/api/labels.h"
#include "core/furiko/furiko_requests.h"
#include "core/furiko/furiko_status.h"

namespace detent {
namespace {

using Step = std::optional<FurikoStep>;
using Write = FurikoStep::Write;

// Of a Job that must not start yet. A time that everybody who reads it can see is none.
constexpr const char* kHeldUntil = "2100-01-01T00:00:00Z";
constexpr const char* kStartAfter = "/spec/startPolicy/startAfter";

bool SameOrAbsent(const Json* a, const Json* b) {
  const Json none;
  return (a == nullptr ? none : *a) == (b == nullptr ? none : *b);
}

// The origin as a manifest of ours, without what is only true of the original.
Json DraftOf(const ObjectKey& key, const KnownObject& theirs) {
  Json metadata(Json::Object{{"name", key.name}, {"namespace", key.ns}});
  if (!theirs.meta.labels.empty()) metadata.Set("labels", *theirs.At("/metadata/labels"));
  if (!theirs.meta.annotations.empty()) {
    Json annotations = *theirs.At("/metadata/annotations");
    annotations.Remove(labels::kLastApplied);
    metadata.Set("annotations", std::move(annotations));
  }
  Json draft(Json::Object{{"apiVersion", kGroupVersion},
                          {"kind", NameOf(key.kind)},
                          {"metadata", std::move(metadata)}});
  const Json* spec = theirs.At("/spec");
  draft.Set("spec", spec == nullptr ? Json(Json::Object{}) : *spec);
  // Ours says when its own schedule changed.
  Json* schedule = draft.Find("spec")->Find("schedule");
  if (schedule != nullptr && schedule->is_object()) schedule->Remove("lastUpdated");
  return draft;
}

Object ObjectOf(const ObjectKey& key, const KnownObject& ours) {
  Object object;
  object.kind = key.kind;
  object.meta = ours.meta;
  if (const Json* spec = ours.At("/spec")) object.spec = DumpJson(*spec);
  return object;
}

// Whatever was made by one of ours of that name which is made for the origin of the same name.
const KnownObject* MirroredConfig(const FurikoState& state, const ObjectKey& key) {
  const KnownObject* theirs = state.Find(FurikoSide::kTheirs, key);
  const KnownObject* ours = state.Find(FurikoSide::kOurs, key);
  if (theirs == nullptr || ours == nullptr || ours->meta.deleted) return nullptr;
  return IsMadeFor(*ours, *theirs) ? ours : nullptr;
}

class Planner {
 public:
  Planner(const FurikoState& state, const ObjectKey& key, const FurikoPlanContext& context)
      : state_(state),
        key_(key),
        context_(context),
        theirs_(state.Find(FurikoSide::kTheirs, key)),
        ours_(state.Find(FurikoSide::kOurs, key)) {}

  Step JobConfig();
  Step Job();

 private:
  FurikoTarget Theirs() const { return {FurikoSide::kTheirs, key_, theirs_->meta.uid}; }
  FurikoTarget Ours() const { return {FurikoSide::kOurs, key_, ours_->meta.uid}; }

  Step Status(Json status) const;
  Step Create(Object object, const char* owned_by) const;
  Step Remove(FurikoTarget target) const {
    return FurikoStep{Write::kDelete, target.side, DeleteRequest(target)};
  }
  FurikoTrouble NameTaken() const;

  Step ChangeJobConfig();
  Step View();
  Step ShowJob();
  Step WithoutOrigin();
  Step CreateJob();
  Step Release() const;
  Step Follow() const;

  const FurikoState& state_;
  const ObjectKey& key_;
  const FurikoPlanContext& context_;
  const KnownObject* theirs_;
  const KnownObject* ours_;
};

Step Planner::Status(Json status) const {
  const Json* stored = theirs_->At("/status");
  const Json nothing(Json::Object{});
  if ((stored == nullptr ? nothing : *stored) == status) return std::nullopt;
  return FurikoStep{Write::kStatus, FurikoSide::kTheirs,
                    StatusRequest(Theirs(), std::move(status))};
}

FurikoTrouble Planner::NameTaken() const {
  const std::string kind = NameOf(key_.kind);
  return {"NameTaken", "there is a " + kind + " of that name in " + kApiGroup +
                           " which was not made for this one; give this one another name, or "
                           "delete that one"};
}

Step Planner::Create(Object object, const char* owned_by) const {
  object.meta.labels[labels::kFurikoUid] = theirs_->meta.uid;
  if (ControllerOf(object.meta) == nullptr) {
    object.meta.owners.push_back(
        {kFurikoGroupVersion, owned_by, key_.name, theirs_->meta.uid, true, true});
  }
  object.meta.created = {};
  object.meta.generation = 0;
  auto document = ParseJson(EncodeObject(object));
  if (!document) return std::nullopt;
  return FurikoStep{Write::kCreate, FurikoSide::kOurs,
                    CreateRequest(FurikoSide::kOurs, key_, *document)};
}

Step Planner::JobConfig() {
  // What was made for one that is gone, Kubernetes' collector takes.
  if (theirs_ == nullptr || theirs_->meta.deleted) return std::nullopt;
  if (ours_ != nullptr) {
    if (ours_->meta.deleted) return std::nullopt;
    if (!IsMadeFor(*ours_, *theirs_)) {
      return Status(RefusedFurikoJobConfigStatus(NameTaken(), nullptr));
    }
    return ChangeJobConfig();
  }
  if (!context_.refusal.empty()) {
    return Status(RefusedFurikoJobConfigStatus({"Refused", context_.refusal}, nullptr));
  }
  Admission admission = AdmitNew(key_.kind, DraftOf(key_, *theirs_), context_.admission, false);
  if (!admission.mistakes.empty()) {
    return Status(
        RefusedFurikoJobConfigStatus({"InvalidSpec", Sentences(admission.mistakes)}, nullptr));
  }
  return Create(std::move(admission.object), NameOf(key_.kind));
}

Step Planner::ChangeJobConfig() {
  const Object old = ObjectOf(key_, *ours_);
  const Admission admission = AdmitUpdate(old, DraftOf(key_, *theirs_), context_.admission, false);
  if (!admission.mistakes.empty()) {
    return Status(RefusedFurikoJobConfigStatus(
        {"InvalidSpec", Sentences(admission.mistakes) + "; what was written before it stays"},
        ours_));
  }
  auto spec = ParseJson(admission.object.spec);
  const Json* stored = ours_->At("/spec");
  if (!spec || SameOrAbsent(&*spec, stored)) return Status(FurikoJobConfigStatus(*ours_));
  // In the version that was read: a change by somebody else in between is looked at first.
  const std::string version = std::to_string(ours_->meta.resource_version);
  return FurikoStep{Write::kChange, FurikoSide::kOurs,
                    PatchRequest(Ours(), {SetOperation("/metadata/resourceVersion", version),
                                          SetOperation("/spec", *std::move(spec))})};
}

Step Planner::Job() {
  if (theirs_ == nullptr) return WithoutOrigin();
  if (IsFurikoView(*theirs_)) return View();
  if (theirs_->meta.deleted) return std::nullopt;
  const std::string made = theirs_->TextAt("/status/detentUID");
  if (!made.empty() && (ours_ == nullptr || ours_->meta.uid != made)) return Remove(Theirs());
  if (ours_ == nullptr) return CreateJob();
  if (!IsMadeFor(*ours_, *theirs_)) {
    if (ours_->meta.deleted) return std::nullopt;
    return Status(QueuedFurikoJobStatus(NameTaken()));
  }
  if (ours_->meta.deleted) return Status(FurikoJobStatus(*ours_));
  if (ours_->TextAt(kStartAfter) == kHeldUntil) {
    if (made.empty()) {
      KnownObject unheld = *ours_;  // Nobody shall read of the time that holds it.
      unheld.document.Remove("status");
      return Status(FurikoJobStatus(unheld));
    }
    return Release();
  }
  if (Step step = Follow()) return step;
  return Status(FurikoJobStatus(*ours_));
}

// Of ours there may be one that was made for an origin which is gone, or one that wants a view.
Step Planner::WithoutOrigin() {
  if (ours_ == nullptr || ours_->meta.deleted) return std::nullopt;
  const OwnerReference* owner = ControllerOf(ours_->meta);
  if (owner == nullptr || owner->api_version != kGroupVersion || owner->kind != "JobConfig") {
    return std::nullopt;  // The collector takes what an origin itself owns.
  }
  if (!ours_->Label(labels::kFurikoUid).empty()) return Remove(Ours());
  return ShowJob();
}

Step Planner::ShowJob() {
  const OwnerReference* owner = ControllerOf(ours_->meta);
  const KnownObject* config = MirroredConfig(state_, {Kind::kJobConfig, key_.ns, owner->name});
  if (config == nullptr || config->meta.uid != owner->uid) return std::nullopt;
  Object view;
  view.kind = Kind::kJob;
  view.meta.ns = key_.ns;
  view.meta.name = key_.name;
  view.meta.labels = ours_->meta.labels;
  view.meta.labels[labels::kFurikoView] = ours_->meta.uid;
  view.meta.labels[labels::kFurikoJobConfigUid] = config->Label(labels::kFurikoUid);
  const auto slot = ours_->meta.annotations.find(labels::kSlot);
  const auto time = slot == ours_->meta.annotations.end() ? std::nullopt : ParseTime(slot->second);
  if (time) view.meta.annotations[labels::kFurikoScheduleTime] = std::to_string(UnixSeconds(*time));
  // Until ours has been told to go: a view that is deleted deletes the Job.
  view.meta.finalizers.emplace_back(labels::kFurikoView);
  view.meta.owners.push_back(
      {kGroupVersion, NameOf(Kind::kJob), key_.name, ours_->meta.uid, true, false});
  if (const Json* spec = ours_->At("/spec")) view.spec = DumpJson(*spec);
  auto document = ParseJson(EncodeObject(view));
  if (!document) return std::nullopt;
  document->Set("apiVersion", kFurikoGroupVersion);
  return FurikoStep{Write::kCreate, FurikoSide::kTheirs,
                    CreateRequest(FurikoSide::kTheirs, key_, *document)};
}

Step Planner::View() {
  const bool shown = ours_ != nullptr && ours_->meta.uid == theirs_->Label(labels::kFurikoView);
  if (theirs_->meta.deleted) {
    if (shown && !ours_->meta.deleted) return Remove(Ours());
    if (shown || !HasFinalizer(theirs_->meta, labels::kFurikoView)) return std::nullopt;
    ObjectMeta rest = theirs_->meta;
    RemoveFinalizer(rest, labels::kFurikoView);
    Json::Array finalizers(rest.finalizers.begin(), rest.finalizers.end());
    // In the version that was read: others may have put theirs there.
    const std::string version = std::to_string(theirs_->meta.resource_version);
    return FurikoStep{
        Write::kChange, FurikoSide::kTheirs,
        PatchRequest(Theirs(), {SetOperation("/metadata/resourceVersion", version),
                                SetOperation("/metadata/finalizers", std::move(finalizers))})};
  }
  if (!shown) {
    // What it showed has gone, and the collector takes it; or it is a copy that a user made.
    if (!theirs_->TextAt("/status/detentUID").empty()) return std::nullopt;
    return Status(QueuedFurikoJobStatus(
        {"NotAnOrigin", std::string("has the marks of an object that only shows a Job of ") +
                            kApiGroup +
                            ", so it does not run; to run it again create it without "
                            "the label " +
                            labels::kFurikoView + " and without owners"}));
  }
  if (ours_->meta.deleted) return std::nullopt;
  if (Step step = Follow()) return step;
  return Status(FurikoJobStatus(*ours_));
}

Step Planner::CreateJob() {
  if (theirs_->TextAt("/status/phase") == "AdmissionError") return std::nullopt;
  const auto refuse = [&](const FurikoTrouble& why) {
    return Status(RefusedFurikoJobStatus(why, context_.admission.now));
  };
  if (!context_.refusal.empty()) return refuse({"Refused", context_.refusal});
  Json draft = DraftOf(key_, *theirs_);
  if (const std::string name = theirs_->TextAt("/spec/configName"); !name.empty()) {
    const ObjectKey config_key{Kind::kJobConfig, key_.ns, name};
    const KnownObject* config = MirroredConfig(state_, config_key);
    if (config == nullptr) {
      return Status(QueuedFurikoJobStatus(
          {"NoJobConfig", "waits for the JobConfig '" + name + "' of " + kFurikoGroup +
                              ", which spec.configName names and which is not there or was "
                              "refused"}));
    }
    auto resolved = ResolveConfigName(std::move(draft), ObjectOf(config_key, *config));
    if (!resolved) return refuse({"InvalidSpec", resolved.error().message()});
    draft = *std::move(resolved);
  }
  Admission admission = AdmitNew(key_.kind, draft, context_.admission, false);
  if (!admission.mistakes.empty()) return refuse({"InvalidSpec", Sentences(admission.mistakes)});
  auto spec = ParseJson(admission.object.spec);
  if (!spec) return refuse({"InvalidSpec", spec.error().message()});
  const Json* policy = spec->Find("startPolicy");
  Json held = policy == nullptr ? Json(Json::Object{}) : *policy;
  held.Set("startAfter", kHeldUntil);
  spec->Set("startPolicy", std::move(held));
  admission.object.spec = DumpJson(*spec);
  return Create(std::move(admission.object), NameOf(key_.kind));
}

Step Planner::Release() const {
  const Json* policy = theirs_->At("/spec/startPolicy");
  Json operation = policy == nullptr ? RemoveOperation("/spec/startPolicy")
                                     : SetOperation("/spec/startPolicy", *policy);
  return FurikoStep{Write::kChange, FurikoSide::kOurs,
                    PatchRequest(Ours(), {std::move(operation)})};
}

// What may change while a Job lives goes from an origin to ours; what only ours says stays. A view
// asks for a kill where there is none yet: the rest of it was ours before.
Step Planner::Follow() const {
  const bool view = IsFurikoView(*theirs_);
  const bool finished = ours_->TextAt("/status/state") == "Finished";
  Json::Array operations;
  const auto follow = [&](const char* pointer) {
    const Json* wanted = theirs_->At(pointer);
    const Json* is = ours_->At(pointer);
    if (wanted == nullptr || SameOrAbsent(wanted, is) || (view && is != nullptr)) return;
    operations.push_back(SetOperation(pointer, *wanted));
  };
  if (!finished) follow("/spec/killTimestamp");
  follow("/spec/ttlSecondsAfterFinished");
  if (operations.empty()) return std::nullopt;
  return FurikoStep{Write::kChange, FurikoSide::kOurs, PatchRequest(Ours(), std::move(operations))};
}

}  // namespace

Step NextFurikoStep(const FurikoState& state, const ObjectKey& key,
                    const FurikoPlanContext& context) {
  Planner planner(state, key, context);
  return key.kind == Kind::kJobConfig ? planner.JobConfig() : planner.Job();
}

}  // namespace detent
