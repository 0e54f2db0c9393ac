#include "core/api/scale.h"

#include "core/api/admission_steps.h"
#include "core/api/codec.h"
#include "core/api/field_reader.h"
#include "core/api/schema_fields.h"
#include "core/base/json_patch.h"

namespace detent {
namespace {

const Fields& ScaleFields() {
  static const Fields fields = {
      Text("apiVersion", "autoscaling/v1."),
      Text("kind", "Scale."),
      Struct("metadata", "Of the JobConfig.", MetadataFields()),
      Struct("spec", "What is wanted.", {Number("replicas", "How many Jobs may be active.")}),
      Struct("status", "What is so.",
             {Number("replicas", "How many Jobs are active."), Text("selector", "Not used.")}),
  };
  return fields;
}

}  // namespace

Result<Json> ScaleOf(const Object& config) {
  const JobConfigSpec spec = TRY(DecodeJobConfigSpec(config.spec));
  const JobConfigStatus status = TRY(DecodeJobConfigStatus(config.status));
  const ObjectMeta& meta = config.meta;
  Json::Object wanted;
  if (spec.policy == ConcurrencyPolicy::kForbid) {
    wanted.emplace_back("replicas", spec.max_concurrency);
  }
  Json::Object metadata = {{"name", meta.name},
                           {"namespace", meta.ns},
                           {"uid", meta.uid},
                           {"resourceVersion", std::to_string(meta.resource_version)},
                           {"creationTimestamp", TimeText(meta.created)}};
  return Json(Json::Object{{"kind", kScaleKind},
                           {"apiVersion", kScaleGroupVersion},
                           {"metadata", std::move(metadata)},
                           {"spec", std::move(wanted)},
                           {"status", Json::Object{{"replicas", status.active}}}});
}

Admission AdmitScale(const Object& old, const Json& scale, const AdmissionContext& context,
                     bool strict) {
  Review review{context, old.kind, &old};
  CheckObject(ScaleFields(), scale, "", review.mistakes);
  if (!strict) ForgiveUnknown(review);
  auto document = ParseJson(EncodeObject(old));
  if (!document) review.Add("", Diagnostic::Reason::kInvalid, document.error().message());
  if (!review.mistakes.empty()) {
    return {old, std::move(review.mistakes), std::move(review.warnings)};
  }
  const Json* given = scale.At("/spec/replicas");
  const Json replicas = given == nullptr || given->is_null() ? Json(0) : *given;
  const Json limit = Json::Object{{"maxConcurrency", replicas}};
  const Json spec = Json::Object{{"concurrency", limit}};
  Json changed = MergePatch(*std::move(document), Json::Object{{"spec", spec}});
  Admission admission = AdmitUpdate(old, changed, context, strict);
  admission.warnings.insert(admission.warnings.begin(), review.warnings.begin(),
                            review.warnings.end());
  return admission;
}

}  // namespace detent
