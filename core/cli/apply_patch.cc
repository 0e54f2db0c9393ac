#include "core/cli/apply_patch.h"

#include "core/api/labels.h"

namespace detent {
namespace {

// Members that the file dropped since it was applied last, as nulls.
void AddRemovals(const Json& last, const Json& wanted, const Json& stored, Json& patch) {
  for (const auto& [name, old] : last.as_object()) {
    const Json* now = wanted.Find(name);
    const Json* there = stored.Find(name);
    if (there == nullptr) continue;
    if (now == nullptr || now->is_null()) {
      patch.Set(name, nullptr);
      continue;
    }
    if (!old.is_object() || !now->is_object() || !there->is_object()) continue;
    Json inner = patch.Find(name) != nullptr ? *patch.Find(name) : Json(Json::Object());
    AddRemovals(old, *now, *there, inner);
    if (!inner.as_object().empty()) patch.Set(name, std::move(inner));
  }
}

// A patch cannot hold a null as a value: it would remove.
Json WithoutNulls(const Json& value) {
  if (!value.is_object()) return value;
  Json copy{Json::Object()};
  for (const auto& [name, member] : value.as_object()) {
    if (!member.is_null()) copy.Set(name, WithoutNulls(member));
  }
  return copy;
}

void AddChanges(const Json& wanted, const Json& stored, Json& patch) {
  for (const auto& [name, value] : wanted.as_object()) {
    if (value.is_null()) continue;
    const Json* there = stored.Find(name);
    if (there == nullptr || !there->is_object() || !value.is_object()) {
      if (there == nullptr || !(*there == value)) patch.Set(name, WithoutNulls(value));
      continue;
    }
    Json inner{Json::Object()};
    AddChanges(value, *there, inner);
    if (!inner.as_object().empty()) patch.Set(name, std::move(inner));
  }
}

}  // namespace

Json ThreeWayPatch(const Json& last_applied, const Json& wanted, const Json& stored) {
  Json patch{Json::Object()};
  if (!wanted.is_object() || !stored.is_object()) return patch;
  AddChanges(wanted, stored, patch);
  if (last_applied.is_object()) AddRemovals(last_applied, wanted, stored, patch);
  return patch;
}

Json WithLastApplied(Json document) {
  document.Remove("status");
  if (document.Find("metadata") == nullptr) document.Set("metadata", Json::Object());
  Json& metadata = *document.Find("metadata");
  if (!metadata.is_object()) return document;
  for (const char* name : {"uid", "resourceVersion", "generation", "creationTimestamp",
                           "deletionTimestamp", "managedFields", "selfLink"}) {
    metadata.Remove(name);
  }
  if (Json* annotations = metadata.Find("annotations")) annotations->Remove(labels::kLastApplied);
  const std::string text = DumpJson(document) + "\n";
  if (metadata.Find("annotations") == nullptr || !metadata.Find("annotations")->is_object()) {
    metadata.Set("annotations", Json::Object());
  }
  metadata.Find("annotations")->Set(labels::kLastApplied, text);
  return document;
}

Result<Json> LastApplied(const Json& stored) {
  const Json* metadata = stored.Find("metadata");
  const Json* annotations = metadata != nullptr ? metadata->Find("annotations") : nullptr;
  const Json* text = annotations != nullptr ? annotations->Find(labels::kLastApplied) : nullptr;
  if (text == nullptr || !text->is_string()) return Json();
  Result<Json> json = ParseJson(text->as_string());
  if (!json) {
    return Error(Code::kInvalid, std::string("the annotation ") + labels::kLastApplied +
                                     " is no JSON (" + json.error().message() +
                                     "); remove it and apply again");
  }
  return json;
}

}  // namespace detent
