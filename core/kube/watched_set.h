// The objects that a watch knows of: of each the newest state, by namespace and name. One thread at
// a time.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "core/kube/watch_event.h"

namespace detent {

class WatchedSet {
 public:
  // Puts `object` in the place of what has its name, which is the answer; null if nothing had it.
  // Where that is the same object in the same version it stays.
  WatchedObjectPtr Put(const WatchedObjectPtr& object);
  // Takes out what has that name; null if nothing has it.
  WatchedObjectPtr Take(std::string_view ns, std::string_view name);
  WatchedObjectPtr Find(std::string_view ns, std::string_view name) const;

  // What is put in from here on is of a new list.
  void BeginList() { ++list_; }
  // Takes out what was not put in since then, hence is gone.
  std::vector<WatchedObjectPtr> TakeUnlisted();

  template <typename Visit>
  void Each(Visit&& visit) const {
    for (const Entry& entry : entries_) visit(entry.object);
  }
  size_t size() const { return entries_.size(); }
  size_t bytes() const { return bytes_; }  // Of the objects' texts.

 private:
  struct Name {
    std::string_view ns, name;
  };
  struct Entry {
    // Replaced by another object of the same name only, so the entry's place stays right.
    mutable WatchedObjectPtr object;
    mutable uint32_t list = 0;
    Name key() const { return {object->ns(), object->name()}; }
  };
  struct Hash {
    using is_transparent = void;
    size_t operator()(const Name& name) const {
      const std::hash<std::string_view> hash;
      return hash(name.name) * 31 + hash(name.ns);
    }
    size_t operator()(const Entry& entry) const { return (*this)(entry.key()); }
  };
  struct Same {
    using is_transparent = void;
    static bool Equal(const Name& a, const Name& b) { return a.name == b.name && a.ns == b.ns; }
    bool operator()(const Entry& a, const Entry& b) const { return Equal(a.key(), b.key()); }
    bool operator()(const Entry& a, const Name& b) const { return Equal(a.key(), b); }
    bool operator()(const Name& a, const Entry& b) const { return Equal(a, b.key()); }
  };

  std::unordered_set<Entry, Hash, Same> entries_;
  uint32_t list_ = 0;
  size_t bytes_ = 0;
};

}  // namespace detent
