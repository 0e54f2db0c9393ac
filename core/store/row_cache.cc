#include "core/store/row_cache.h"

#include <utility>

namespace detent {

const std::string& RowCache::Flatten(const ObjectKey& key) {
  flat_.clear();
  flat_ += static_cast<char>(key.kind);
  flat_ += key.ns;
  flat_ += '\0';
  flat_ += key.name;
  return flat_;
}

StoredRow* RowCache::Find(const ObjectKey& key) {
  const std::string& flat = Flatten(key);
  if (const auto at = young_.find(flat); at != young_.end()) return &at->second;
  // Moving the node keeps its address, which the caller may hold from before.
  auto node = old_.extract(flat);
  return node.empty() ? nullptr : &young_.insert(std::move(node)).position->second;
}

StoredRow* RowCache::Add(const ObjectKey& key, StoredRow row) {
  return &young_.insert_or_assign(Flatten(key), std::move(row)).first->second;
}

void RowCache::Trim() {
  if (young_.size() < generation_) return;
  old_ = std::move(young_);
  young_.clear();
}

void RowCache::Clear() {
  young_.clear();
  old_.clear();
}

}  // namespace detent
