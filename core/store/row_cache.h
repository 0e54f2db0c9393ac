// Where the rows of recently written objects are, so that most writes need no look-up in an index.
//
// Only as true as the one writer makes it: the writer changes an entry with each row it changes,
// and clears all when a commit fails. One thread. Two generations bound it: when the young one is
// full it becomes the old one, and what was not used meanwhile is forgotten.

#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

#include "core/api/object.h"

namespace detent {

struct StoredRow {
  int64_t id = 0;  // 0: there is no such object.
  int64_t version = 0;
  std::string owner;  // UID of the controller, or empty.
};

class RowCache {
 public:
  // Keeps between `generation` and twice as many rows.
  explicit RowCache(size_t generation) : generation_(generation) {}

  // The entry of `key`, or null. Entries stay where they are until Trim or Clear.
  StoredRow* Find(const ObjectKey& key);

  // Enters a row whose key is not in the cache.
  StoredRow* Add(const ObjectKey& key, StoredRow row);

  // Brings the cache back to its bound.
  void Trim();

  void Clear();

  size_t size() const { return young_.size() + old_.size(); }

 private:
  // The key as one text: hashed once, and looked up without allocating.
  const std::string& Flatten(const ObjectKey& key);

  const size_t generation_;
  std::unordered_map<std::string, StoredRow> young_;
  std::unordered_map<std::string, StoredRow> old_;
  std::string flat_;
};

}  // namespace detent
