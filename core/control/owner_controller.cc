#include "core/control/owner_controller.h"

#include <algorithm>
#include <utility>

#include "core/api/labels.h"

namespace detent {
namespace {

constexpr size_t kBatch = 500;

ListQuery DependentsOf(const std::string& owner_uid, Kind kind) {
  ListQuery query;
  query.kind = kind;
  query.owner_uid = owner_uid;
  query.limit = kBatch;
  return query;
}

bool WaitsForDependents(const Object& object) {
  return object.meta.deleted && (HasFinalizer(object.meta, labels::kForegroundDeletion) ||
                                 HasFinalizer(object.meta, labels::kOrphan));
}

// Somebody else was faster: what is there now is looked at anew.
bool IsOutdated(const Error& error) {
  return error.remedy() == Remedy::kReread || error.remedy() == Remedy::kGone;
}

}  // namespace

std::optional<Kind> DependentKind(Kind owner) {
  switch (owner) {
    case Kind::kJobConfig:
      return Kind::kJob;
    case Kind::kJob:
      return Kind::kTask;
    case Kind::kTask:
      return std::nullopt;
  }
  return std::nullopt;
}

void OwnerController::Seen(const ObjectPtr& object) {
  if (!WaitsForDependents(*object) || !context_.options.collect_dependents) return;
  const bool orphan = HasFinalizer(object->meta, labels::kOrphan);
  waiting_[object->meta.uid] = {object->key(), orphan};
  Work(object->meta.uid);
}

void OwnerController::Gone(const ObjectPtr& object) {
  if (!context_.options.collect_dependents) return;
  waiting_.erase(object->meta.uid);
  if (const auto kind = DependentKind(object->kind)) Collect(object->meta.uid, *kind);
  const OwnerReference* owner = ControllerOf(object->meta);
  if (owner && waiting_.contains(owner->uid)) Work(owner->uid);
}

void OwnerController::SweepOrphans(const std::map<std::string, Kind>& missing) {
  if (!context_.options.collect_dependents) return;
  for (const auto& [uid, kind] : missing) Collect(uid, kind);
}

// Deletes what a gone owner left, batch by batch, until a list comes back empty.
void OwnerController::Collect(const std::string& owner_uid, Kind dependents) {
  if (!collecting_.insert(owner_uid).second) {
    again_.insert(owner_uid);
    return;
  }
  ListQuery query = DependentsOf(owner_uid, dependents);
  query.keep = [](const Object& object) { return !object.meta.deleted; };
  const auto page = context_.store.List(query);
  if (!page) {
    collecting_.erase(owner_uid);
    return TryLater(owner_uid, dependents, page.error());
  }
  if (page->objects.empty()) {
    collecting_.erase(owner_uid);
    if (again_.erase(owner_uid) > 0) Collect(owner_uid, dependents);
    return;
  }
  context_.Submit(DeleteBatch(*page), [this, owner_uid, dependents](auto result) {
    collecting_.erase(owner_uid);
    if (result || IsOutdated(result.error())) return Collect(owner_uid, dependents);
    TryLater(owner_uid, dependents, result.error());
  });
}

// Brings a deleting owner forward: dependents first, then its finalizer.
void OwnerController::Work(const std::string& owner_uid) {
  const auto found = waiting_.find(owner_uid);
  if (found == waiting_.end()) return;
  const auto kind = DependentKind(found->second.key.kind);
  if (!kind) return Finish(owner_uid);
  if (!collecting_.insert(owner_uid).second) return;
  const auto page = context_.store.List(DependentsOf(owner_uid, *kind));
  collecting_.erase(owner_uid);
  if (!page) return TryLater(owner_uid, std::nullopt, page.error());
  if (page->objects.empty()) return Finish(owner_uid);
  Transaction batch = found->second.orphan ? OrphanBatch(*page, owner_uid) : DeleteBatch(*page);
  if (batch.empty()) return;  // All are on their way out; the last one's end calls again.
  collecting_.insert(owner_uid);
  context_.Submit(std::move(batch), [this, owner_uid, kind](auto result) {
    collecting_.erase(owner_uid);
    // Meanwhile it went, and asked to be collected after.
    if (again_.erase(owner_uid) > 0) return Collect(owner_uid, *kind);
    if (result || IsOutdated(result.error())) return Work(owner_uid);
    TryLater(owner_uid, std::nullopt, result.error());
  });
}

void OwnerController::Finish(const std::string& owner_uid) {
  const auto stored = context_.store.Read(waiting_.at(owner_uid).key);
  if (!stored && stored.error().code() != Code::kNotFound) {
    return TryLater(owner_uid, std::nullopt, stored.error());
  }
  if (!stored || (*stored)->meta.uid != owner_uid) {
    waiting_.erase(owner_uid);
    return;
  }
  auto object = std::make_shared<Object>(**stored);
  RemoveFinalizer(object->meta, labels::kForegroundDeletion);
  RemoveFinalizer(object->meta, labels::kOrphan);
  context_.Submit({UpdateOf(std::move(object), *stored)}, [this, owner_uid](auto result) {
    if (!result && !IsOutdated(result.error())) {
      return TryLater(owner_uid, std::nullopt, result.error());
    }
    const auto found = waiting_.find(owner_uid);
    if (found == waiting_.end()) return;
    if (!result) return Work(owner_uid);  // With the object as it is now.
    waiting_.erase(found);
  });
}

void OwnerController::TryLater(const std::string& owner_uid, std::optional<Kind> dependents,
                               const Error& error) {
  context_.log.Error("dependents cannot be deleted yet", {{"error", error.message()}});
  refused_[owner_uid] = dependents;
  context_.work.ticks.SetNoLater({EntityType::kOwners, 0},
                                 context_.mono + context_.options.store_retry);
}

void OwnerController::TryAgain() {
  for (const auto& [owner_uid, dependents] : std::exchange(refused_, {})) {
    dependents ? Collect(owner_uid, *dependents) : Work(owner_uid);
  }
}

Transaction OwnerController::DeleteBatch(const Page& page) const {
  Transaction batch;
  for (const ObjectPtr& object : page.objects) {
    if (!object->meta.deleted) batch.push_back(DeletionOf(object, context_.now));
  }
  return batch;
}

Transaction OwnerController::OrphanBatch(const Page& page, const std::string& owner_uid) const {
  Transaction batch;
  for (const ObjectPtr& object : page.objects) {
    auto copy = std::make_shared<Object>(*object);
    std::erase_if(copy->meta.owners, [&](const auto& owner) { return owner.uid == owner_uid; });
    batch.push_back(UpdateOf(std::move(copy), object));
  }
  return batch;
}

}  // namespace detent
