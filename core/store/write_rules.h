// When a write is refused, what a done one is called in the change log, and how a page is cut: in
// one place, so that every store answers alike, to the word. Pure; any thread.

#pragma once

#include <cstdint>
#include <optional>

#include "core/base/result.h"
#include "core/store/store.h"

namespace detent {

// Why `write` cannot be done where `stored_version` of its object is stored (nullopt: there is
// none), or nullopt if it can. The codes are those of Store::Submit.
std::optional<Error> Refusal(const Write& write, std::optional<int64_t> stored_version);

ChangeType ChangeTypeOf(WriteOp op);

// The first objects of `matching`, which is in key order, that the query keeps, into the page; and
// whether there are more. It calls query.keep, which is somebody else's code: hold no lock.
void FillPage(const ListQuery& query, std::vector<ObjectPtr> matching, Page& page);

// Whether the query's owner, if it names one, controls the object.
bool HasOwner(const ListQuery& query, const ObjectMeta& meta);

// Whether `stored` is what an earlier try to create `wanted` made: the same attempt of the same
// Job, or the same slot of the same JobConfig. What a user names has no such identity.
bool IsSameCreation(const Object& stored, const Object& wanted);

}  // namespace detent
