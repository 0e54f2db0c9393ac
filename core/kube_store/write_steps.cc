#include "core/kube_store/write_steps.h"

#include <algorithm>
#include <utility>

#include "core/base/json.h"
#include "core/base/json_writer.h"
#include "core/kube/resource.h"
#include "core/kube_store/document.h"

namespace detent {
namespace {

// Texts of the same JSON value: the server has members in an order of its own.
bool SameJson(const std::string& a, const std::string& b) {
  if (a == b) return true;
  const auto left = ParseJson(a), right = ParseJson(b);
  return left && right && *left == *right;
}

bool SameMain(const Object& a, const Object& b) {
  return a.meta.labels == b.meta.labels && a.meta.annotations == b.meta.annotations &&
         a.meta.finalizers == b.meta.finalizers && a.meta.owners == b.meta.owners &&
         SameJson(a.spec, b.spec);
}

bool LosesFinalizer(const Object& stored, const Object& wanted) {
  return std::any_of(
      stored.meta.finalizers.begin(), stored.meta.finalizers.end(),
      [&](const std::string& finalizer) { return !HasFinalizer(wanted.meta, finalizer); });
}

// One operation of a JSON patch: sets the member to that JSON text, or takes it away if that is
// empty. A text goes as it is: a status grows with its Job, and is written often.
void Set(JsonWriter& patch, const char* path, std::string_view value) {
  patch.BeginObject().Key("op").Value(value.empty() ? "remove" : "add").Key("path").Value(path);
  if (!value.empty()) patch.Key("value").Raw(value);
  patch.EndObject();
}

Json JsonOf(const StringMap& map) {
  Json json(Json::Object{});
  for (const auto& [name, value] : map) json.Set(name, value);
  return json;
}

Json JsonOf(const std::vector<std::string>& texts) {
  return Json::Array(texts.begin(), texts.end());
}

Json JsonOf(const std::vector<OwnerReference>& owners) {
  Json::Array array;
  for (const OwnerReference& owner : owners) {
    Json json(Json::Object{{"apiVersion", owner.api_version},
                           {"kind", owner.kind},
                           {"name", owner.name},
                           {"uid", owner.uid}});
    if (owner.controller) json.Set("controller", true);
    if (owner.block_owner_deletion) json.Set("blockOwnerDeletion", true);
    array.push_back(std::move(json));
  }
  return array;
}

// A version in the patch itself makes the server compare it with what is stored: 409.
void SetVersion(JsonWriter& patch, int64_t version) {
  if (version == 0) return;
  Set(patch, "/metadata/resourceVersion", '"' + std::to_string(version) + '"');
}

std::string MainPatch(const StepTarget& target) {
  const ObjectMeta& is = target.stored->meta;
  const ObjectMeta& to_be = target.wanted.meta;
  static const std::vector<std::string> none;
  const auto& finalizers = target.removes ? none : to_be.finalizers;
  std::string text;
  JsonWriter patch(text);
  patch.BeginArray();
  SetVersion(patch, target.version);
  const auto set = [&patch](const char* path, const auto& was, const auto& wanted) {
    if (was != wanted) Set(patch, path, wanted.empty() ? "" : DumpJson(JsonOf(wanted)));
  };
  set("/metadata/labels", is.labels, to_be.labels);
  set("/metadata/annotations", is.annotations, to_be.annotations);
  set("/metadata/finalizers", is.finalizers, finalizers);
  set("/metadata/ownerReferences", is.owners, to_be.owners);
  if (!SameJson(target.stored->spec, target.wanted.spec)) Set(patch, "/spec", target.wanted.spec);
  patch.EndArray();
  return text;
}

std::string StatusPatch(const StepTarget& target) {
  std::string text;
  JsonWriter patch(text);
  patch.BeginArray();
  SetVersion(patch, target.version);
  Set(patch, "/status", target.wanted.status);
  patch.EndArray();
  return text;
}

std::string DeleteOptions(const StepTarget& target) {
  Json conditions(Json::Object{{"uid", target.stored->meta.uid}});
  if (target.version != 0) conditions.Set("resourceVersion", std::to_string(target.version));
  Json options(Json::Object{
      {"apiVersion", "v1"}, {"kind", "DeleteOptions"}, {"propagationPolicy", "Background"}});
  options.Set("preconditions", std::move(conditions));
  return DumpJson(options);
}

}  // namespace

bool SameStatus(const Object& a, const Object& b) {
  return SameJson(a.status.empty() ? "null" : a.status, b.status.empty() ? "null" : b.status);
}

std::vector<WriteStep> StepsOf(const Write& write, const Object* stored) {
  const Object& wanted = *write.object;
  if (write.op == WriteOp::kCreate) {
    if (wanted.status.empty()) return {WriteStep::kCreate};
    return {WriteStep::kCreate, WriteStep::kStatus};
  }
  const bool removes = write.op == WriteOp::kDelete;
  const bool status = !SameStatus(*stored, wanted);
  const bool main = removes ? !stored->meta.finalizers.empty() : !SameMain(*stored, wanted);
  const bool main_last = removes || LosesFinalizer(*stored, wanted);
  std::vector<WriteStep> steps;
  if (main && !main_last) steps.push_back(WriteStep::kMain);
  if (status) steps.push_back(WriteStep::kStatus);
  if (main && main_last) steps.push_back(WriteStep::kMain);
  // The last finalizer of what is being deleted lets it go by itself.
  const bool goes = stored->meta.deleted && main;
  const bool wants_deletion = removes || wanted.meta.deleted;
  if (wants_deletion && !goes && (removes || !stored->meta.deleted)) {
    steps.push_back(WriteStep::kDelete);
  }
  return steps;
}

KubeRequest RequestOf(WriteStep step, const StepTarget& target, const std::string& manager) {
  const Object& object = target.wanted;
  KubeResource resource{kApiGroup, kApiVersion, PluralOf(object.kind), ""};
  if (step == WriteStep::kStatus) resource.subresource = "status";
  const std::string name = step == WriteStep::kCreate ? "" : object.meta.name;
  KubeRequest request;
  request.path = PathOf(resource, object.meta.ns, name);
  // What is not in the schema is dropped; a second reading, for warnings, would reach nobody.
  const std::string by_us = "?" + QueryPart("fieldManager", manager) + "&fieldValidation=Ignore";
  switch (step) {
    case WriteStep::kCreate:
      request.method = "POST";
      request.path += by_us;
      request.body = CreationDocument(object);
      break;
    case WriteStep::kMain:
    case WriteStep::kStatus:
      request.method = "PATCH";
      request.path += by_us;
      request.content_type = "application/json-patch+json";
      request.body = step == WriteStep::kMain ? MainPatch(target) : StatusPatch(target);
      break;
    case WriteStep::kDelete:
      request.method = "DELETE";
      request.body = DeleteOptions(target);
      break;
  }
  return request;
}

}  // namespace detent
