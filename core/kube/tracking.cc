#include "core/kube/tracking.h"

#include <algorithm>

#include "core/api/labels.h"
#include "core/base/json.h"
#include "core/base/json_scan.h"
#include "core/base/json_writer.h"
#include "core/base/names.h"

namespace detent {
namespace {

Error BadObject(const std::string& field, const std::string& why) {
  return Error(Code::kInvalid, field + ": " + why);
}

std::string FieldOf(const char* list, size_t index, const char* member) {
  return std::string("metadata.") + list + "[" + std::to_string(index) + "]" + member;
}

// The member of that name, made where it is missing or null; null if it is of another type.
Json* Within(Json& object, const char* name, Json empty) {
  Json* found = object.Find(name);
  if (found == nullptr || found->is_null()) {
    object.Set(name, std::move(empty));
    return object.Find(name);
  }
  return found->type_name() == empty.type_name() ? found : nullptr;
}

Result<void> AddLabels(Json& metadata, const TrackingMarks& marks) {
  Json* labels = Within(metadata, "labels", Json(Json::Object()));
  if (labels == nullptr) return BadObject("metadata.labels", "must be an object");
  const TrackedTask& task = marks.task;
  const std::pair<const char*, std::string> all[] = {
      {labels::kTaskKey, task.key},
      {labels::kTrackedBy, marks.host_id},
      {labels::kJobName, task.job_name},
      {labels::kJobUid, task.job_uid},
      {labels::kIndex, std::to_string(task.index)},
      {labels::kAttempt, std::to_string(task.attempt)}};
  for (const auto& [key, value] : all) {
    if (const auto good = CheckLabelValue(value); !good) {
      return BadObject("metadata.labels[" + std::string(key) + "]",
                       "'" + value + "' " + good.error().message());
    }
    labels->Set(key, value);
  }
  return {};
}

Result<void> AddFinalizer(Json& metadata) {
  Json* finalizers = Within(metadata, "finalizers", Json(Json::Array()));
  if (finalizers == nullptr) return BadObject("metadata.finalizers", "must be an array");
  bool there = false;
  for (size_t i = 0; i < finalizers->as_array().size(); ++i) {
    const Json& finalizer = finalizers->as_array()[i];
    if (!finalizer.is_string()) {
      return BadObject(FieldOf("finalizers", i, ""), "must be a string");
    }
    there = there || finalizer.as_string() == labels::kTaskTracking;
  }
  if (!there) finalizers->Append(labels::kTaskTracking);
  return {};
}

// Whether an owner reference is to the Job itself; kInvalid where it stands in the Job's way.
Result<bool> IsJobs(const Json& owner, size_t index, const TrackedTask& task) {
  if (!owner.is_object()) {
    return BadObject(FieldOf("ownerReferences", index, ""), "must be an object");
  }
  const Json* uid = owner.Find("uid");
  if (uid != nullptr && *uid == Json(task.job_uid)) return true;
  const Json* controller = owner.Find("controller");
  if (controller != nullptr && *controller == Json(true)) {
    return BadObject(FieldOf("ownerReferences", index, ".controller"),
                     "an object has one controller, and it must be the Job; take this one out");
  }
  return false;
}

Result<void> AddOwner(Json& metadata, const TrackingMarks& marks) {
  if (marks.job_api_version.empty()) return {};
  const Json* ns = metadata.Find("namespace");
  if (ns != nullptr && !ns->is_null() && *ns != Json(marks.task.ns) && *ns != Json("")) return {};
  Json* owners = Within(metadata, "ownerReferences", Json(Json::Array()));
  if (owners == nullptr) return BadObject("metadata.ownerReferences", "must be an array");
  Json::Array& all = owners->as_array();
  for (size_t i = 0; i < all.size();) {
    const bool jobs = TRY(IsJobs(all[i], i, marks.task));
    if (jobs) {
      all.erase(all.begin() + static_cast<std::ptrdiff_t>(i));
    } else {
      ++i;
    }
  }
  Json owner;
  owner.Set("apiVersion", marks.job_api_version);
  owner.Set("kind", "Job");
  owner.Set("name", marks.task.job_name);
  owner.Set("uid", marks.task.job_uid);
  owner.Set("controller", true);
  owner.Set("blockOwnerDeletion", true);
  owners->Append(std::move(owner));
  return {};
}

}  // namespace

Result<std::string> WithTracking(std::string_view object_json, const TrackingMarks& marks) {
  auto parsed = ParseJson(object_json);
  if (!parsed) return std::move(parsed).error().While("read the object");
  Json& object = *parsed;
  if (!object.is_object()) {
    return Error(Code::kInvalid,
                 "the object must be a JSON object, not " + std::string(object.type_name()));
  }
  Json* metadata = Within(object, "metadata", Json(Json::Object()));
  if (metadata == nullptr) return BadObject("metadata", "must be an object");
  const Json* name = metadata->Find("name");
  if (name == nullptr || name->is_null() || *name == Json("")) {
    metadata->Set("name", marks.task.name);
  } else if (!name->is_string()) {
    return BadObject("metadata.name", "must be a string");
  }
  TRY(AddLabels(*metadata, marks));
  TRY(AddFinalizer(*metadata));
  TRY(AddOwner(*metadata, marks));
  return DumpJson(object);
}

Result<TrackedObject> ReadTracked(std::string_view object_json) {
  TrackedObject object;
  bool has_metadata = false;
  const auto text = [](JsonScan::Value& value) { return std::string(value.Text().value_or("")); };
  const auto in_labels = [&](std::string_view name, JsonScan::Value& value) {
    if (name == labels::kTaskKey) object.task_key = text(value);
    if (name == labels::kTrackedBy) object.tracked_by = text(value);
    return true;
  };
  const auto in_finalizers = [&](JsonScan::Value& value) {
    object.finalizers.push_back(text(value));
    return true;
  };
  const auto in_metadata = [&](std::string_view name, JsonScan::Value& value) {
    if (name == "name") object.name = text(value);
    if (name == "namespace") object.ns = text(value);
    if (name == "uid") object.uid = text(value);
    if (name == "resourceVersion") object.resource_version = text(value);
    if (name == "deletionTimestamp") object.deleting = !value.IsNull();
    if (name == "labels") value.Members(in_labels);
    if (name == "finalizers") value.Items(in_finalizers);
    return true;
  };
  JsonScan scan;
  auto read = scan.Read(object_json, [&](std::string_view name, JsonScan::Value& value) {
    if (name != "metadata") return true;
    has_metadata = value.IsObject();
    value.Members(in_metadata);
    return false;
  });
  if (!read) return std::move(read).error().While("read the object");
  if (!has_metadata) return BadObject("metadata", "is missing, or no object");
  return object;
}

std::string LetGoPatch(const TrackedObject& object) {
  std::string patch;
  JsonWriter writer(patch);
  writer.BeginObject().Key("metadata").BeginObject();
  writer.MemberIfSet("uid", object.uid).MemberIfSet("resourceVersion", object.resource_version);
  writer.Key("labels").BeginObject().Key(labels::kTrackedBy).Raw("null").EndObject();
  writer.Key("finalizers").BeginArray();
  for (const std::string& finalizer : object.finalizers) {
    if (finalizer != labels::kTaskTracking) writer.Value(finalizer);
  }
  writer.EndArray().EndObject().EndObject();
  return patch;
}

}  // namespace detent
