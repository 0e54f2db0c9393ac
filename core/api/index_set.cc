#include "core/api/index_set.h"

#include <charconv>
#include <limits>
#include <optional>

namespace detent {
namespace {

// A number in the only spelling that ToString gives it: digits, no sign, no leading zero.
std::optional<int64_t> ReadIndex(std::string_view text) {
  if (text.empty() || text[0] < '0' || text[0] > '9') return std::nullopt;
  if (text.size() > 1 && text[0] == '0') return std::nullopt;
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

Result<IndexSet> IndexSet::Parse(std::string_view text) {
  IndexSet set;
  int64_t least = 0;  // Where the next interval may begin: a gap after the last one.
  while (!text.empty()) {
    const size_t comma = text.find(',');
    const std::string_view item = text.substr(0, comma);
    const size_t dash = item.find('-');
    const auto first = ReadIndex(item.substr(0, dash));
    const auto last = dash == item.npos ? first : ReadIndex(item.substr(dash + 1));
    const bool ascending = first && last && *first >= least && *last >= *first &&
                           *last < std::numeric_limits<int64_t>::max() - 1;
    const bool ended_by_comma = comma + 1 == text.size();
    if (!ascending || (dash != item.npos && *first == *last) || ended_by_comma) {
      return Error(Code::kInvalid, "'" + std::string(item) +
                                       "' is no interval of a set of indexes such as \"0-4,7\"");
    }
    set.intervals_.emplace_hint(set.intervals_.end(), *first, *last);
    set.count_ += *last - *first + 1;
    least = *last + 2;
    text = comma == text.npos ? std::string_view() : text.substr(comma + 1);
  }
  return set;
}

std::string IndexSet::ToString() const {
  std::string text;
  for (const auto& [first, last] : intervals_) {
    if (!text.empty()) text += ',';
    text += std::to_string(first);
    if (last != first) text += '-' + std::to_string(last);
  }
  return text;
}

bool IndexSet::Insert(int64_t index) {
  auto next = intervals_.upper_bound(index);
  auto before = next == intervals_.begin() ? intervals_.end() : std::prev(next);
  if (before != intervals_.end() && index <= before->second) return false;
  ++count_;
  const bool joins_before = before != intervals_.end() && before->second + 1 == index;
  const bool joins_next = next != intervals_.end() && next->first == index + 1;
  const int64_t last = joins_next ? next->second : index;
  if (joins_next) next = intervals_.erase(next);
  if (joins_before) {
    before->second = last;
  } else {
    intervals_.emplace_hint(next, index, last);
  }
  return true;
}

bool IndexSet::Contains(int64_t index) const {
  const auto next = intervals_.upper_bound(index);
  return next != intervals_.begin() && index <= std::prev(next)->second;
}

int64_t IndexSet::FirstGap(int64_t from) const {
  const auto next = intervals_.upper_bound(from);
  if (next == intervals_.begin()) return from;
  const int64_t last = std::prev(next)->second;
  return from <= last ? last + 1 : from;
}

}  // namespace detent
