#include "core/furiko/furiko_state.h"

#include <algorithm>
#include <utility>

#include "core/api/codec.h"
#include "core/api/labels.h"

namespace detent {

std::string KnownObject::TextAt(std::string_view pointer) const {
  const Json* found = document.At(pointer);
  return found != nullptr && found->is_string() ? found->as_string() : "";
}

std::string KnownObject::Label(std::string_view name) const {
  const auto found = meta.labels.find(name);
  return found == meta.labels.end() ? "" : found->second;
}

Result<KnownObject> ReadKnownObject(std::string_view json) {
  KnownObject known;
  known.document = TRY(ParseJson(json));
  const Json* metadata = known.document.Find("metadata");
  if (metadata == nullptr) return Error(Code::kInvalid, "it has no metadata");
  known.meta = TRY(DecodeMeta(*metadata));
  return known;
}

const KnownObject* FurikoState::Find(FurikoSide side, const ObjectKey& key) const {
  const Objects& objects = side == FurikoSide::kTheirs ? theirs_ : ours_;
  const auto found = objects.find(key);
  return found == objects.end() ? nullptr : &found->second;
}

bool IsFurikoView(const KnownObject& theirs) {
  if (!theirs.Label(labels::kFurikoView).empty()) return true;
  const auto& owners = theirs.meta.owners;
  return std::any_of(owners.begin(), owners.end(), [](const OwnerReference& owner) {
    return owner.api_version == kGroupVersion;
  });
}

bool IsMadeFor(const KnownObject& ours, const KnownObject& theirs) {
  return ours.Label(labels::kFurikoUid) == theirs.meta.uid;
}

}  // namespace detent
