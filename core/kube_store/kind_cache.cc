#include "core/kube_store/kind_cache.h"

#include <algorithm>
#include <utility>

#include "core/api/labels.h"
#include "core/kube_store/document.h"
#include "core/store/write_rules.h"

namespace detent {
namespace {

WatchScope ScopeOf(Kind kind) {
  WatchScope scope;
  scope.resource = {kApiGroup, kApiVersion, PluralOf(kind), ""};
  return scope;
}

}  // namespace

KindCache::KindCache(KubeClient& client, Kind kind, const WatchOptions& options, Logger& log)
    : kind_(kind), log_(log), watch_(client, ScopeOf(kind), options, *this) {}

std::optional<Error> KindCache::Trouble() const {
  const std::lock_guard lock(mutex_);
  if (failure_) return failure_;
  if (synced_) return std::nullopt;
  return Error(Code::kUnavailable,
               std::string("the ") + PluralOf(kind_) + " have not been read yet");
}

Result<ObjectPtr> KindCache::Read(const Name& name) const {
  const std::lock_guard lock(mutex_);
  const auto found = objects_.find(name);
  if (found != objects_.end()) return found->second;
  return Error(Code::kNotFound, ToString({kind_, name.first, name.second}) + " does not exist");
}

Page KindCache::List(const ListQuery& query) const {
  Page page;
  std::vector<ObjectPtr> matching;
  {
    const std::lock_guard lock(mutex_);
    page.version = changes_.version();
    const Name first{query.ns, ""};
    auto at = objects_.lower_bound(first);
    if (query.after && *query.after >= first) at = objects_.upper_bound(*query.after);
    for (; at != objects_.end(); ++at) {
      if (!query.ns.empty() && at->first.first != query.ns) break;
      if (HasOwner(query, at->second->meta)) matching.push_back(at->second);
    }
  }
  FillPage(query, std::move(matching), page);
  return page;
}

ObjectPtr KindCache::Decode(const WatchedObject& object) const {
  auto decoded = ObjectFromDocument(kind_, object.json());
  if (decoded) return *std::move(decoded);
  log_.Error("an object of the cluster cannot be read",
             {{"object", ToString({kind_, std::string(object.ns()), std::string(object.name())})},
              {"error", decoded.error().message()}});
  return nullptr;
}

// In the log are changes in the order of their versions. What a new list tells has no order: it
// goes to the listener, and whoever reads the log lists anew, too (OnSynced).
void KindCache::Tell(std::vector<Change> changes) {
  for (const Change& change : changes) {
    if (change.version <= newest_) relisting_ = true;
    newest_ = std::max(newest_, change.version);
  }
  if (relisting_) {
    if (synced_) changes_.TellListener(changes);
  } else {
    changes_.Append(std::move(changes));
  }
}

void KindCache::OnUpsert(const WatchedObjectPtr& watched) {
  const ObjectPtr object = Decode(*watched);
  if (!object) return;
  const Name name{object->meta.ns, object->meta.name};
  std::vector<Change> changes;
  {
    const std::lock_guard lock(mutex_);
    ObjectPtr& place = objects_[name];
    const ObjectPtr before = std::exchange(place, object);
    const int64_t version = object->meta.resource_version;
    const bool same = before && before->meta.uid == object->meta.uid;
    if (before && !same) {
      // Another took the name, and nobody has told us of the end of the one before.
      changes.push_back({ChangeType::kDeleted, version, before, nullptr});
      relisting_ = true;
    }
    changes.push_back({same ? ChangeType::kModified : ChangeType::kAdded, version, object,
                       same ? before : nullptr});
    Tell(std::move(changes));
  }
  WakeFor(name, nullptr);
}

void KindCache::OnDelete(const WatchedObjectPtr& watched) {
  ObjectPtr object = Decode(*watched);
  if (!object) return;
  const Name name{object->meta.ns, object->meta.name};
  {
    const std::lock_guard lock(mutex_);
    const auto found = objects_.find(name);
    if (found == objects_.end() || found->second->meta.uid != object->meta.uid) return;
    if (object->meta.resource_version <= found->second->meta.resource_version) {
      // Missing from a new list: when it went, and as what, nobody knows.
      auto last = std::make_shared<Object>(*found->second);
      last->meta.resource_version = std::max(newest_, last->meta.resource_version) + 1;
      object = std::move(last);
      relisting_ = true;
    }
    std::vector<Change> changes;
    changes.push_back({ChangeType::kDeleted, object->meta.resource_version, object, found->second});
    objects_.erase(found);
    Tell(std::move(changes));
  }
  WakeFor(name, object);
}

void KindCache::OnSynced() {
  {
    const std::lock_guard lock(mutex_);
    synced_ = true;
    failure_.reset();
    if (std::exchange(relisting_, false)) {
      changes_.Restart(newest_);
      newest_ = changes_.version();
    }
  }
  WakeAll();
}

void KindCache::OnFailed(const KubeReply& reply) {
  const std::string what = std::string("watch ") + PluralOf(kind_) + ": " + reply.message;
  log_.Error("what is stored cannot be followed", {{"error", what}});
  const bool is_absent = reply.outcome == KubeOutcome::kNotFound;
  const std::lock_guard lock(mutex_);
  failure_ = Error(reply.outcome == KubeOutcome::kDenied ? Code::kForbidden : Code::kUnavailable,
                   is_absent ? what + "; run `detent install` for the cluster" : what);
}

bool KindCache::Shows(const Name& name, int64_t version) const {
  if (newest_ >= version && !relisting_) return true;
  const std::lock_guard lock(mutex_);
  const auto found = objects_.find(name);
  return found != objects_.end() && found->second->meta.resource_version >= version;
}

void KindCache::Await(const Name& name, int64_t version, std::function<void()> then) {
  if (Shows(name, version)) return then();
  waiters_.emplace(name, Waiter{version, "", next_waiter_++,
                                [then = std::move(then)](const ObjectPtr&) { then(); }});
}

uint64_t KindCache::AwaitEnd(const ObjectPtr& object, std::function<void(ObjectPtr)> then) {
  const uint64_t id = next_waiter_++;
  waiters_.emplace(Name{object->meta.ns, object->meta.name},
                   Waiter{0, object->meta.uid, id, std::move(then)});
  return id;
}

void KindCache::Forget(uint64_t id) {
  std::erase_if(waiters_, [id](const auto& waiter) { return waiter.second.id == id; });
}

void KindCache::WakeFor(const Name& name, const ObjectPtr& gone) {
  std::vector<std::function<void(ObjectPtr)>> due;
  auto [at, end] = waiters_.equal_range(name);
  while (at != end) {
    const Waiter& waiter = at->second;
    const bool is_due =
        waiter.uid.empty() ? Shows(name, waiter.version) : gone && gone->meta.uid == waiter.uid;
    if (is_due) due.push_back(std::move(at->second.then));
    at = is_due ? waiters_.erase(at) : std::next(at);
  }
  for (const auto& then : due) then(gone);
}

// Whatever was written before the list began is shown now, be it that it is gone again.
void KindCache::WakeAll() {
  std::vector<std::function<void(ObjectPtr)>> due;
  for (auto at = waiters_.begin(); at != waiters_.end();) {
    const bool is_due = at->second.uid.empty();
    if (is_due) due.push_back(std::move(at->second.then));
    at = is_due ? waiters_.erase(at) : std::next(at);
  }
  for (const auto& then : due) then(nullptr);
}

}  // namespace detent
