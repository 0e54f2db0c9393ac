#include "core/api/job_from_config.h"

#include "core/api/codec.h"
#include "core/api/field_reader.h"
#include "core/api/labels.h"
#include "core/base/names.h"

namespace detent {
namespace {

OwnerReference OwnedBy(const ObjectMeta& job_config) {
  return {kGroupVersion, NameOf(Kind::kJobConfig), job_config.name, job_config.uid, true, true};
}

Result<void> CheckAlive(const ObjectMeta& job_config) {
  if (!job_config.deleted) return {};
  return Error(Code::kForbidden, "jobconfig " + job_config.ns + "/" + job_config.name +
                                     " is being deleted and makes no more Jobs");
}

Json& ObjectMember(Json& parent, std::string_view name) {
  Json* member = parent.Find(name);
  if (member == nullptr || member->is_null()) {
    parent.Set(name, Json(Json::Object{}));
    member = parent.Find(name);
  }
  return *member;
}

// Adds the entries that `object` does not have, unless it is no object: that is admission's to say.
void AddMissing(Json& object, const StringMap& entries) {
  if (!object.is_object()) return;
  for (const auto& [key, value] : entries) {
    if (object.Find(key) == nullptr) object.Set(key, Json(value));
  }
}

Json OwnerDocument(const OwnerReference& owner) {
  Json json{Json::Object{}};
  json.Set("apiVersion", Json(owner.api_version));
  json.Set("kind", Json(owner.kind));
  json.Set("name", Json(owner.name));
  json.Set("uid", Json(owner.uid));
  json.Set("controller", Json(true));
  json.Set("blockOwnerDeletion", Json(true));
  return json;
}

void ResolveMetadata(Json& metadata, const ObjectMeta& job_config, const JobConfigSpec& spec) {
  if (!metadata.is_object()) return;
  const auto absent = [&](std::string_view name) {
    const Json* value = metadata.Find(name);
    return value == nullptr || value->is_null();
  };
  if (absent("name") && absent("generateName")) {
    metadata.Set("generateName", Json(job_config.name + "-"));
  }
  // Who made the Job is no matter of taste: these two labels replace what the document says.
  Json& merged = ObjectMember(metadata, "labels");
  if (merged.is_object()) {
    merged.Set(labels::kJobConfigUid, Json(job_config.uid));
    merged.Set(labels::kJobConfigName, Json(job_config.name));
  }
  AddMissing(merged, spec.template_labels);
  if (!spec.template_annotations.empty()) {
    AddMissing(ObjectMember(metadata, "annotations"), spec.template_annotations);
  }
  Json* owners = metadata.Find("ownerReferences");
  if (owners != nullptr && owners->is_array()) {
    owners->Append(OwnerDocument(OwnedBy(job_config)));
  } else if (absent("ownerReferences")) {
    metadata.Set("ownerReferences", Json(Json::Array{OwnerDocument(OwnedBy(job_config))}));
  }
}

}  // namespace

Result<Object> JobFromConfig(const ObjectMeta& job_config, const JobConfigSpec& spec,
                             const JobOverrides& overrides, WallTime now) {
  TRY(CheckAlive(job_config));
  Object job;
  job.kind = Kind::kJob;
  ObjectMeta& meta = job.meta;
  meta.ns = job_config.ns;
  meta.created = now;
  meta.generation = 1;
  meta.labels = overrides.labels;
  meta.labels.insert(spec.template_labels.begin(), spec.template_labels.end());
  meta.labels.insert_or_assign(labels::kJobConfigUid, job_config.uid);
  meta.labels.insert_or_assign(labels::kJobConfigName, job_config.name);
  meta.annotations = overrides.annotations;
  meta.annotations.insert(spec.template_annotations.begin(), spec.template_annotations.end());
  meta.finalizers.emplace_back(labels::kDeleteDependents);
  meta.owners.push_back(OwnedBy(job_config));

  JobSpec own;
  own.concurrency_policy = overrides.concurrency_policy;
  own.start_after = overrides.start_after;
  own.substitutions = overrides.substitutions;
  own.ttl_seconds_after_finished = overrides.ttl_seconds_after_finished;
  if (overrides.slot) {
    own.type = JobType::kScheduled;
    meta.name = SlotJobName(job_config.name, UnixSeconds(*overrides.slot));
    meta.annotations.insert_or_assign(labels::kSlot, FormatTime(*overrides.slot));
  } else if (overrides.name.empty()) {
    meta.generate_name = job_config.name + "-";
  } else {
    meta.name = overrides.name;
  }
  job.spec = EncodeJobSpec(own, spec.template_spec);
  return job;
}

Result<Json> ResolveConfigName(Json job_document, const Object& job_config) {
  TRY(CheckAlive(job_config.meta));
  Json* spec = job_document.Find("spec");
  if (spec == nullptr || !spec->is_object()) return job_document;
  const Json* given = spec->Find("template");
  if (given != nullptr && !given->is_null()) return job_document;
  auto config_spec = DecodeJobConfigSpec(job_config.spec);
  if (!config_spec) {
    return std::move(config_spec).error().While("read " + ToString(job_config.key()));
  }
  spec->Remove("configName");
  spec->Set("template", TRY(ParseJson(config_spec->template_spec)));
  ResolveMetadata(ObjectMember(job_document, "metadata"), job_config.meta, *config_spec);
  return job_document;
}

}  // namespace detent
