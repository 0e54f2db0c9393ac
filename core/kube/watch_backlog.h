// What somebody has not been told yet of a watch: of each object the newest state, in the order in
// which there first was news of it. So a slow listener costs no more than the objects there are.
//
// An object is known by its name and UID: that another one has taken its name does not hide its
// end. One thread at a time: whoever shares it locks.

#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <unordered_map>
#include <vector>

#include "core/kube/client.h"
#include "core/kube/watch_event.h"

namespace detent {

struct WatchNews {
  enum class Kind : uint8_t { kUpsert, kDelete, kSynced, kFailed, kOvertaken };
  Kind kind = Kind::kOvertaken;
  WatchedObjectPtr object;                   // Of kUpsert and kDelete.
  std::shared_ptr<const KubeReply> failure;  // Of kFailed.
};

class WatchBacklog {
 public:
  void Upsert(const WatchedObjectPtr& object) { Add(WatchNews::Kind::kUpsert, object); }
  void Delete(const WatchedObjectPtr& object) { Add(WatchNews::Kind::kDelete, object); }
  // Of these two only the last counts; it comes after all objects that were there before.
  void Synced() { Mark({WatchNews::Kind::kSynced, nullptr, nullptr}); }
  void Failed(const KubeReply& reply);

  // Moves out the oldest news, at most `most`.
  std::vector<WatchNews> Take(size_t most);
  void Clear();
  bool empty() const { return news_.empty(); }
  size_t size() const { return news_.size(); }
  // Those whose number is not bounded by that of the objects that exist.
  size_t deletes() const { return deletes_; }

 private:
  struct Hash {
    size_t operator()(const WatchedObjectPtr& object) const;
  };
  struct Same {
    bool operator()(const WatchedObjectPtr& a, const WatchedObjectPtr& b) const;
  };
  void Add(WatchNews::Kind kind, const WatchedObjectPtr& object);
  void Mark(WatchNews mark);

  std::deque<WatchNews> news_;
  uint64_t first_ = 0;  // The number of news_.front(), counted over the backlog's life.
  std::unordered_map<WatchedObjectPtr, uint64_t, Hash, Same> numbers_;
  uint64_t mark_ = kNoMark;  // The number of the one that has not been taken.
  size_t deletes_ = 0;
  static constexpr uint64_t kNoMark = ~uint64_t{0};
};

}  // namespace detent
