#include "core/kube/watched_set.h"

#include <utility>

namespace detent {

WatchedObjectPtr WatchedSet::Put(const WatchedObjectPtr& object) {
  const auto [entry, is_new] = entries_.insert(Entry{object, list_});
  if (is_new) {
    bytes_ += object->json().size();
    return nullptr;
  }
  entry->list = list_;
  const WatchedObjectPtr before = entry->object;
  const bool same =
      before->uid() == object->uid() && before->resource_version() == object->resource_version();
  if (!same) {
    entry->object = object;
    bytes_ += object->json().size();
    bytes_ -= before->json().size();
  }
  return before;
}

WatchedObjectPtr WatchedSet::Take(std::string_view ns, std::string_view name) {
  const auto entry = entries_.find(Name{ns, name});
  if (entry == entries_.end()) return nullptr;
  WatchedObjectPtr object = entry->object;
  bytes_ -= object->json().size();
  entries_.erase(entry);
  return object;
}

WatchedObjectPtr WatchedSet::Find(std::string_view ns, std::string_view name) const {
  const auto entry = entries_.find(Name{ns, name});
  return entry == entries_.end() ? nullptr : entry->object;
}

std::vector<WatchedObjectPtr> WatchedSet::TakeUnlisted() {
  std::vector<WatchedObjectPtr> gone;
  for (auto entry = entries_.begin(); entry != entries_.end();) {
    if (entry->list == list_) {
      ++entry;
      continue;
    }
    bytes_ -= entry->object->json().size();
    gone.push_back(entry->object);
    entry = entries_.erase(entry);
  }
  return gone;
}

}  // namespace detent
