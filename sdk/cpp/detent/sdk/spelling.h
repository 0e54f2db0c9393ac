// The known word that an unknown one was probably meant to be, for "did you mean" hints. Pure.

#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace detent::sdk {

// The least number of bytes to insert, delete, replace or swap with their neighbour to get from a
// to b (optimal string alignment).
inline size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> before, above, row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    before = std::move(above);
    above = row;
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({replaced, above[j] + 1, row[j - 1] + 1});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row.back();
}

// The nearest of [begin, end) within a third of the word's length (at least one slip), or empty.
template <typename Iterator>
std::string_view Nearest(std::string_view word, Iterator begin, Iterator end) {
  std::string_view best;
  size_t best_distance = std::max<size_t>(1, word.size() / 3) + 1;
  if (word.size() > 64) return best;
  for (; begin != end; ++begin) {
    const std::string_view candidate = *begin;
    const size_t distance = EditDistance(word, candidate);
    if (distance >= best_distance) continue;
    best = candidate;
    best_distance = distance;
  }
  return best;
}

inline std::string DidYouMean(std::string_view near) {
  return near.empty() ? std::string() : "did you mean `" + std::string(near) + "`?";
}

}  // namespace detent::sdk
