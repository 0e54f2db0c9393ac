// A set of indexes kept as intervals, written "0-41,43-99": how a Job of 100,000 indexes has a
// small status. A value; memory and text grow with the number of gaps, never with the number of
// indexes.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace detent {

class IndexSet {
 public:
  // Reads what ToString wrote: ascending, not touching; "" is the empty set.
  static Result<IndexSet> Parse(std::string_view text);
  std::string ToString() const;

  // True if `index` was not in the set before. O(log intervals). Requires: index >= 0.
  bool Insert(int64_t index);
  bool Contains(int64_t index) const;
  int64_t count() const { return count_; }
  bool empty() const { return count_ == 0; }

  // The least index >= from that is not in the set.
  int64_t FirstGap(int64_t from) const;

  // The greatest index in the set, or -1.
  int64_t last() const { return intervals_.empty() ? -1 : intervals_.rbegin()->second; }

  bool operator==(const IndexSet&) const = default;

 private:
  std::map<int64_t, int64_t> intervals_;  // First to last, both inside.
  int64_t count_ = 0;
};

}  // namespace detent
