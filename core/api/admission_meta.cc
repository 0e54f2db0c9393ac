// metadata: names, labels, annotations, finalizers, owners.

#include "core/api/admission_steps.h"
#include "core/api/labels.h"
#include "core/base/limits.h"
#include "core/base/names.h"

namespace detent {
namespace {

using Reason = Diagnostic::Reason;

constexpr size_t kAnnotationBytes = 256 * 1024;  // As Kubernetes has it.
constexpr size_t kSuffixLength = 5;              // What a generateName gets.

size_t NameLength(Kind kind) {
  switch (kind) {
    case Kind::kJobConfig:
      return limits::kJobConfigNameLength;
    case Kind::kJob:
      return limits::kJobNameLength;
    case Kind::kTask:
      break;
  }
  return 63;  // TaskName() keeps to the length of a label's value.
}

void CheckLength(Review& review, const std::string& pointer, size_t length, size_t most) {
  if (length <= most) return;
  review.Add(
      pointer, Reason::kTooLong,
      "must be at most " + std::to_string(most) + " characters, not " + std::to_string(length));
}

void CheckName(Review& review, const Json* metadata) {
  const std::string* name = TextIn(metadata, "name");
  const std::string* prefix = TextIn(metadata, "generateName");
  if (name != nullptr && !name->empty()) {
    review.AddIfBad("/metadata/name", *name, CheckDns1123Subdomain(*name));
    CheckLength(review, "/metadata/name", name->size(), NameLength(review.kind));
  } else if (prefix != nullptr && !prefix->empty()) {
    // A prefix may end in '-', so it is judged with something behind it.
    review.AddIfBad("/metadata/generateName", *prefix, CheckDns1123Subdomain(*prefix + "x"));
    CheckLength(review, "/metadata/generateName", prefix->size(),
                NameLength(review.kind) - kSuffixLength);
  } else {
    const Json* wrong = metadata == nullptr ? nullptr : metadata->Find("name");
    if (wrong != nullptr && !wrong->is_string()) return;
    review.Add("/metadata/name", Reason::kRequired, "is required; or give metadata.generateName");
  }
  const std::string* ns = TextIn(metadata, "namespace");
  if (ns != nullptr && !ns->empty()) {
    review.AddIfBad("/metadata/namespace", *ns, CheckDns1123Label(*ns));
  }
}

void CheckFinalizers(Review& review, const Json* metadata) {
  const Json* finalizers = ArrayIn(metadata, "finalizers");
  if (finalizers == nullptr) return;
  size_t position = 0;
  for (const Json& entry : finalizers->as_array()) {
    const std::string pointer = "/metadata/finalizers/" + std::to_string(position++);
    if (!entry.is_string()) continue;
    const std::string& name = entry.as_string();
    const Result<void> checked = CheckQualifiedName(name);
    review.AddIfBad(pointer, name, checked);
    const bool standard = name == labels::kForegroundDeletion || name == labels::kOrphan;
    if (checked && !standard && name.find('/') == name.npos) {
      review.Add(
          pointer, Reason::kInvalid,
          Quoted(name) + " must have its owner's domain in front, as in example.com/" + name);
    }
    const bool dying = review.old != nullptr && review.old->meta.deleted.has_value();
    if (dying && !HasFinalizer(review.old->meta, name)) {
      review.Add(pointer, Reason::kForbidden,
                 Quoted(name) + " cannot be added, since the object is being deleted");
    }
  }
}

void CheckOwners(Review& review, const Json* metadata) {
  const Json* owners = ArrayIn(metadata, "ownerReferences");
  if (owners == nullptr) return;
  size_t position = 0;
  size_t controllers = 0;
  for (const Json& owner : owners->as_array()) {
    const std::string pointer = "/metadata/ownerReferences/" + std::to_string(position++);
    for (const char* field : {"apiVersion", "kind", "name", "uid"}) {
      const std::string* value = TextIn(&owner, field);
      if (value == nullptr || !value->empty()) continue;
      review.Add(pointer + "/" + field, Reason::kRequired, "must not be empty");
    }
    const Json* controller = owner.Find("controller");
    if (controller == nullptr || *controller != Json(true)) continue;
    if (++controllers < 2) continue;
    review.Add(pointer + "/controller", Reason::kInvalid,
               "must be true for one owner only, and an owner before this one has it");
  }
}

}  // namespace

void CheckLabelsAndAnnotations(Review& review, const Json* metadata, const std::string& pointer) {
  if (const Json* labels = ObjectIn(metadata, "labels")) {
    for (const auto& [key, value] : labels->as_object()) {
      const std::string inner = pointer + "/labels" + PointerToken(key);
      review.AddIfBad(inner, key, CheckQualifiedName(key));
      if (!value.is_string()) continue;
      review.AddIfBad(inner, value.as_string(), CheckLabelValue(value.as_string()));
    }
  }
  const Json* annotations = ObjectIn(metadata, "annotations");
  if (annotations == nullptr) return;
  size_t bytes = 0;
  for (const auto& [key, value] : annotations->as_object()) {
    review.AddIfBad(pointer + "/annotations" + PointerToken(key), key, CheckQualifiedName(key));
    bytes += key.size() + (value.is_string() ? value.as_string().size() : 0);
  }
  if (bytes <= kAnnotationBytes) return;
  review.Add(pointer + "/annotations", Reason::kTooLong,
             "must be at most " + std::to_string(kAnnotationBytes) + " bytes in all, not " +
                 std::to_string(bytes));
}

void CheckMeta(Review& review, const Json& document) {
  const Json* metadata = document.Find("metadata");
  if (metadata != nullptr && !metadata->is_null() && !metadata->is_object()) return;
  CheckName(review, metadata);
  CheckLabelsAndAnnotations(review, metadata, "/metadata");
  CheckFinalizers(review, metadata);
  CheckOwners(review, metadata);
}

}  // namespace detent
