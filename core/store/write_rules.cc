#include "core/store/write_rules.h"

#include <string>
#include <utility>

#include "core/api/labels.h"
#include "core/base/limits.h"
#include "core/store/object_bytes.h"

namespace detent {

std::optional<Error> Refusal(const Write& write, std::optional<int64_t> stored_version) {
  const Object& object = *write.object;
  const auto named = [&] { return ToString(object.key()); };
  if (write.op != WriteOp::kDelete && BytesOf(object) > limits::kObjectBytes) {
    return Error(Code::kTooLarge, named() + " has " + std::to_string(BytesOf(object)) +
                                      " bytes; the limit is " +
                                      std::to_string(limits::kObjectBytes));
  }
  if (write.op == WriteOp::kCreate) {
    if (!stored_version) return std::nullopt;
    return Error(Code::kAlreadyExists, named() + " exists already");
  }
  if (!stored_version) return Error(Code::kNotFound, named() + " does not exist");
  if (write.expected_version == 0 || write.expected_version == *stored_version) {
    return std::nullopt;
  }
  return Error(Code::kConflict, named() + " has changed: its version is " +
                                    std::to_string(*stored_version) + ", not " +
                                    std::to_string(write.expected_version));
}

void FillPage(const ListQuery& query, std::vector<ObjectPtr> matching, Page& page) {
  for (ObjectPtr& object : matching) {
    if (query.keep && !query.keep(*object)) continue;
    page.more = query.limit != 0 && page.objects.size() == query.limit;
    if (page.more) break;
    page.objects.push_back(std::move(object));
  }
}

bool HasOwner(const ListQuery& query, const ObjectMeta& meta) {
  if (query.owner_uid.empty()) return true;
  const OwnerReference* owner = ControllerOf(meta);
  return owner != nullptr && owner->uid == query.owner_uid;
}

bool IsSameCreation(const Object& stored, const Object& wanted) {
  const OwnerReference* owner = ControllerOf(wanted.meta);
  const OwnerReference* stored_owner = ControllerOf(stored.meta);
  if (!owner || !stored_owner || owner->uid != stored_owner->uid) return false;
  const auto same = [](const StringMap& a, const StringMap& b, const char* name) {
    const auto in_a = a.find(name), in_b = b.find(name);
    return in_a != a.end() && in_b != b.end() && in_a->second == in_b->second;
  };
  if (wanted.kind == Kind::kJob) {
    return same(stored.meta.annotations, wanted.meta.annotations, labels::kSlot);
  }
  return wanted.kind == Kind::kTask &&
         same(stored.meta.labels, wanted.meta.labels, labels::kIndex) &&
         same(stored.meta.labels, wanted.meta.labels, labels::kAttempt);
}

ChangeType ChangeTypeOf(WriteOp op) {
  if (op == WriteOp::kCreate) return ChangeType::kAdded;
  return op == WriteOp::kUpdate ? ChangeType::kModified : ChangeType::kDeleted;
}

}  // namespace detent
