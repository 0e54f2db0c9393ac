// What is known of the objects that go by the same kind and name in Furiko's group and in ours.
// Values; one thread.
//
// An object of Furiko's is an *origin* where a user wrote it: then ours is made for it. It is a
// *view* where it only shows one of ours, which a schedule made.

#pragma once

#include <map>
#include <string>
#include <string_view>

#include "core/api/object.h"
#include "core/base/json.h"
#include "core/base/result.h"

namespace detent {

enum class FurikoSide : uint8_t { kTheirs, kOurs };

struct KnownObject {
  ObjectMeta meta;
  Json document;

  // Members of the document; null where they are not there.
  const Json* At(std::string_view pointer) const { return document.At(pointer); }
  std::string TextAt(std::string_view pointer) const;  // Empty: no text there.
  std::string Label(std::string_view name) const;      // Empty: no such label.
};

// kInvalid: no object, or its metadata cannot be read.
Result<KnownObject> ReadKnownObject(std::string_view json);

class FurikoState {
 public:
  using Objects = std::map<ObjectKey, KnownObject>;

  Objects& Of(FurikoSide side) { return side == FurikoSide::kTheirs ? theirs_ : ours_; }
  const KnownObject* Find(FurikoSide side, const ObjectKey& key) const;

 private:
  Objects theirs_, ours_;
};

// Of an object of Furiko's: it has the mark of a view, or an owner of ours, which nobody's
// manifests have. So neither without the other makes an origin of it.
bool IsFurikoView(const KnownObject& theirs);

// Whether `ours` was made for `theirs`.
bool IsMadeFor(const KnownObject& ours, const KnownObject& theirs);

}  // namespace detent
