#include "core/api/admission.h"

#include <algorithm>

#include "core/api/admission_steps.h"
#include "core/api/codec.h"
#include "core/api/furiko.h"
#include "core/api/schema_fields.h"
#include "core/base/limits.h"

namespace detent {
namespace {

using Reason = Diagnostic::Reason;

// A patch may nest what no parser would have let through.
bool DeeperThan(const Json& value, int levels) {
  if (levels == 0) return value.is_array() || value.is_object();
  if (value.is_array()) {
    return std::any_of(value.as_array().begin(), value.as_array().end(),
                       [&](const Json& element) { return DeeperThan(element, levels - 1); });
  }
  if (!value.is_object()) return false;
  return std::any_of(
      value.as_object().begin(), value.as_object().end(),
      [&](const Json::Member& member) { return DeeperThan(member.second, levels - 1); });
}

void CheckTypeMeta(Review& review, const Json& document) {
  const std::string* version = TextIn(&document, "apiVersion");
  if (version != nullptr && *version != kGroupVersion && *version != kFurikoGroupVersion) {
    review.Add("/apiVersion", Reason::kNotSupported,
               std::string("must be ") + kGroupVersion + ", not " + Quoted(*version));
  }
  const std::string* kind = TextIn(&document, "kind");
  if (kind != nullptr && *kind != NameOf(review.kind)) {
    review.Add("/kind", Reason::kInvalid,
               std::string("must be ") + NameOf(review.kind) + ", not " + Quoted(*kind));
  }
}

std::string TemplatePointer(Kind kind) {
  return kind == Kind::kJobConfig ? "/spec/template/spec" : "/spec/template";
}

Json* Descend(Json* value, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    value = value == nullptr ? nullptr : value->Find(name);
  }
  return value != nullptr && value->is_object() ? value : nullptr;
}

// The form of the first proposal. False where the document does not have it, or has anything beside
// it.
bool ModernizeTask(Kind kind, Json& document) {
  if (kind == Kind::kTask) return false;
  Json* holder = kind == Kind::kJobConfig ? Descend(&document, {"spec", "template", "spec"})
                                          : Descend(&document, {"spec", "template"});
  Json* task = Descend(holder, {"task"});
  Json* inner = Descend(task, {"template"});
  if (inner == nullptr || task->as_object().size() != 1) return false;
  if (holder->Find("taskTemplate") != nullptr) return false;
  Json moved = std::move(*inner);
  holder->Remove("task");
  holder->Set("taskTemplate", std::move(moved));
  return true;
}

void CheckSpec(Review& review, const Json& document) {
  switch (review.kind) {
    case Kind::kJobConfig:
      return CheckJobConfigSpec(review, document);
    case Kind::kJob:
      return CheckJobSpec(review, document);
    case Kind::kTask:
      return;  // A Task's spec is made by the host, and immutable.
  }
}

// All checks of one document, which becomes what can be stored.
void Examine(Review& review, Json& document, bool strict) {
  if (!document.is_object()) return CheckFields(review.kind, document, review.mistakes);
  if (DeeperThan(document, limits::kDocumentDepth)) {
    review.Add("", Reason::kTooLong,
               "must not nest deeper than " + std::to_string(limits::kDocumentDepth) + " levels");
    return;
  }
  document.Remove("status");
  const bool modernized = ModernizeTask(review.kind, document);
  CheckTypeMeta(review, document);
  CheckFields(review.kind, document, review.mistakes);
  if (!strict) ForgiveUnknown(review);
  DropUnknown(FieldsOf(review.kind), document);
  ApplyDefaults(review, document);
  CheckMeta(review, document);
  CheckSpec(review, document);
  if (review.old != nullptr) CheckImmutable(review, document);
  if (!modernized) return;
  for (Diagnostic& mistake : review.mistakes) {
    mistake.pointer = OlderPointer(review.kind, mistake.pointer);
  }
}

// What a user may write of the metadata; the rest is the server's.
std::optional<ObjectMeta> UserMeta(Review& review, const Json& document) {
  const Json* found = document.Find("metadata");
  Json metadata = found == nullptr ? Json(Json::Object{}) : *found;
  for (const char* name : {"uid", "resourceVersion", "generation", "creationTimestamp",
                           "deletionTimestamp", "deletionGracePeriodSeconds"}) {
    metadata.Remove(name);
  }
  auto meta = DecodeMeta(metadata);
  if (meta) return std::move(*meta);
  review.Add("/metadata", Reason::kInvalid, meta.error().message());
  return std::nullopt;
}

void CheckSize(Review& review, const Object& object) {
  const size_t bytes = EncodeObject(object).size();
  if (bytes <= limits::kObjectBytes) return;
  review.Add("", Reason::kTooLong,
             "must be at most " + std::to_string(limits::kObjectBytes) + " bytes as JSON, not " +
                 std::to_string(bytes));
}

std::string SpecText(const Json& document) {
  const Json* spec = document.Find("spec");
  return spec == nullptr ? "{}" : DumpJson(*spec);
}

Admission Finish(Review& review, Object object) {
  if (review.mistakes.empty()) CheckSize(review, object);
  return {std::move(object), std::move(review.mistakes), std::move(review.warnings)};
}

}  // namespace

bool Modernize(Kind kind, Json& document) {
  const std::string* version = TextIn(&document, "apiVersion");
  if (version != nullptr && *version == kFurikoGroupVersion) {
    document.Set("apiVersion", kGroupVersion);
  }
  return ModernizeTask(kind, document);
}

std::string OlderPointer(Kind kind, const std::string& pointer) {
  const std::string ours = TemplatePointer(kind) + "/taskTemplate";
  if (!pointer.starts_with(ours)) return pointer;
  return TemplatePointer(kind) + "/task/template" + pointer.substr(ours.size());
}

Admission AdmitNew(Kind kind, const Json& document, const AdmissionContext& context, bool strict) {
  Review review{context, kind};
  Object object;
  object.kind = kind;
  if (kind == Kind::kTask) {
    // Nothing would ever carry it out: tasks are counted and released by the Job that made them.
    review.Add("/kind", Reason::kForbidden,
               "a Task is made by its Job and cannot be created by hand; create a Job with this "
               "executor in spec.template.taskTemplate");
    return Finish(review, std::move(object));
  }
  Json draft = document;
  Examine(review, draft, strict);
  if (!review.mistakes.empty()) return Finish(review, std::move(object));
  if (auto meta = UserMeta(review, draft)) object.meta = std::move(*meta);
  object.meta.generation = 1;
  object.meta.created = context.now;
  object.spec = SpecText(draft);
  return Finish(review, std::move(object));
}

Admission AdmitUpdate(const Object& old, const Json& document, const AdmissionContext& context,
                      bool strict) {
  Review review{context, old.kind, &old};
  Json draft = document;
  Examine(review, draft, strict);
  Object object = old;
  if (!review.mistakes.empty()) return Finish(review, std::move(object));
  if (auto meta = UserMeta(review, draft)) {
    object.meta.labels = std::move(meta->labels);
    object.meta.annotations = std::move(meta->annotations);
    object.meta.finalizers = std::move(meta->finalizers);
    object.meta.owners = std::move(meta->owners);
  }
  const Json* spec = draft.Find("spec");
  const auto old_spec = ParseJson(old.spec);
  // What only stands in another order is the same spec.
  if (!old_spec || spec == nullptr || *old_spec != *spec) {
    object.spec = SpecText(draft);
    ++object.meta.generation;
  }
  return Finish(review, std::move(object));
}

namespace {

Result<void> Decodes(Kind kind, const std::string& status) {
  switch (kind) {
    case Kind::kJobConfig:
      TRY(DecodeJobConfigStatus(status));
      break;
    case Kind::kJob:
      TRY(DecodeJobStatus(status));
      break;
    case Kind::kTask:
      TRY(DecodeTaskStatus(status));
      break;
  }
  return {};
}

}  // namespace

Admission AdmitStatus(const Object& old, const Json& document) {
  const AdmissionContext context;
  Review review{context, old.kind, &old};
  CheckTypeMeta(review, document);
  Object object = old;
  const Json* status = document.Find("status");
  if (status == nullptr || status->is_null()) {
    object.status.clear();
    return Finish(review, std::move(object));
  }
  const Fields& fields = FieldsOf(old.kind);
  CheckObject(FindField(fields, "status")->fields, *status, "/status", review.mistakes);
  object.status = DumpJson(*status);
  if (review.mistakes.empty()) {
    const auto decoded = Decodes(old.kind, object.status);
    if (!decoded) review.Add("/status", Reason::kInvalid, decoded.error().message());
  }
  return Finish(review, std::move(object));
}

}  // namespace detent
