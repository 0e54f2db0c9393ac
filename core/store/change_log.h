// The newest changes of the store, in the order of their versions: what watches and the loop
// follow.
//
// A ring, bounded by number and bytes (core/base/limits.h). A reader holds a cursor and nothing
// else, so a slow one costs no memory: when the ring has moved past it, it is told so and must list
// again.

#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <vector>

#include "core/api/object.h"

namespace detent {

enum class ChangeType : uint8_t { kAdded, kModified, kDeleted };

struct Change {
  ChangeType type = ChangeType::kAdded;
  int64_t version = 0;  // Strictly rising.
  ObjectPtr object;  // As it is after the change; of a deletion, its last state with this version.
  ObjectPtr previous;  // As it was before, where the writer knew it: for selectors on labels.
};

class ChangeLog {
 public:
  // Changes up to and including `version` are not in the log.
  explicit ChangeLog(int64_t version);

  // Appends what one commit did, in order. One thread: the store's.
  void Append(std::vector<Change> changes);

  // For a store that follows another, and was told of changes in no order: they are told to the
  // listener alone, and once all are known, Restart makes every reader list again. `version` is the
  // newest that was told; the log's own is above its last in any case. The appending thread.
  void TellListener(const std::vector<Change>& changes);
  void Restart(int64_t version);

  enum class ReadResult { kChanges, kTimeout, kExpired, kClosed };

  // Copies changes with a version > after, at most `most`, into `out` (emptied first). Waits for
  // the first up to `timeout`. kExpired: some of them are no longer kept. Any thread.
  ReadResult Read(int64_t after, size_t most, std::chrono::nanoseconds timeout,
                  std::vector<Change>& out);

  // The newest version appended.
  int64_t version() const;

  // Called with each Append's changes, on the appending thread, before Read shows them. At most one
  // listener, set before the first Append.
  void SetListener(std::function<void(const std::vector<Change>&)> listener);

  // Wakes all readers; they get kClosed from now on.
  void Close();

 private:
  mutable std::mutex mutex_;
  std::condition_variable appended_;
  std::deque<Change> changes_;  // Guarded by mutex_, as all below.
  std::deque<size_t> change_bytes_;
  size_t bytes_ = 0;
  int64_t version_;
  int64_t oldest_gone_;  // Changes up to this version are gone.
  bool closed_ = false;

  std::function<void(const std::vector<Change>&)> listener_;  // Constant after set.
};

}  // namespace detent
