#include <algorithm>

#include "core/expr/iregexp.h"

namespace detent {
namespace {

// Numbers below a bound, each once, in the order in which they were added. To clear it costs
// nothing.
class StateSet {
 public:
  explicit StateSet(size_t bound) : members_(bound), places_(bound) {}

  bool Add(uint32_t state) {
    const uint32_t place = places_[state];
    if (place < size_ && members_[place] == state) return false;
    places_[state] = size_;
    members_[size_++] = state;
    return true;
  }
  void Clear() { size_ = 0; }
  uint32_t size() const { return size_; }
  uint32_t operator[](uint32_t place) const { return members_[place]; }

 private:
  std::vector<uint32_t> members_;
  std::vector<uint32_t> places_;
  uint32_t size_ = 0;
};

}  // namespace

bool IRegexp::CharacterSet::Contains(char32_t c) const {
  if (c < 128) return (ascii[c / 64] >> c % 64 & 1) != 0;
  const auto after =
      std::upper_bound(ranges.begin(), ranges.end(), c,
                       [](char32_t value, const CodeRange& range) { return value < range.first; });
  return after != ranges.begin() && c <= std::prev(after)->last;
}

// One match: the states that the text so far can have led to, all at once.
class PatternRun {
 public:
  // All are borrowed.
  PatternRun(const IRegexp& pattern, std::string_view text, int64_t& steps_left)
      : pattern_(pattern),
        text_(text),
        steps_left_(steps_left),
        now_(pattern.states_.size()),
        then_(pattern.states_.size()) {}

  std::optional<bool> Run(IRegexp::Extent extent) {
    const bool whole = extent == IRegexp::Extent::kWhole;
    // The sets above are cleared memory.
    steps_left_ -= static_cast<int64_t>(pattern_.states_.size() / 64);
    for (;;) {
      if (at_ == 0 || !whole) Enter(now_, pattern_.start_);
      if (accepted_ && (!whole || at_ == text_.size())) return true;
      if (steps_left_ < 0) return std::nullopt;
      if (at_ == text_.size() || (whole && now_.size() == 0)) return false;
      Advance();
    }
  }

 private:
  using Kind = IRegexp::State::Kind;

  void Advance() {
    const char32_t c = NextCodePoint(text_, at_);
    --steps_left_;
    accepted_ = false;
    then_.Clear();
    for (uint32_t i = 0; i < now_.size(); ++i) {
      const IRegexp::State& state = pattern_.states_[now_[i]];
      if (state.kind != Kind::kCharacter) continue;
      if (pattern_.sets_[state.other].Contains(c)) Enter(then_, state.next);
    }
    std::swap(now_, then_);
  }

  // Adds a state, and those that it leads to without a character.
  void Enter(StateSet& set, uint32_t first) {
    pending_.push_back(first);
    while (!pending_.empty()) {
      const uint32_t number = pending_.back();
      pending_.pop_back();
      --steps_left_;
      if (!set.Add(number)) continue;
      const IRegexp::State& state = pattern_.states_[number];
      if (state.kind == Kind::kAccept) accepted_ = true;
      const bool passes = state.kind == Kind::kFork || (state.kind == Kind::kBegin && at_ == 0) ||
                          (state.kind == Kind::kEnd && at_ == text_.size());
      if (passes) pending_.push_back(state.next);
      if (state.kind == Kind::kFork) pending_.push_back(state.other);
    }
  }

  const IRegexp& pattern_;
  std::string_view text_;
  int64_t& steps_left_;
  size_t at_ = 0;
  bool accepted_ = false;
  StateSet now_;
  StateSet then_;
  std::vector<uint32_t> pending_;
};

std::optional<bool> IRegexp::Matches(std::string_view text, Extent extent,
                                     int64_t& steps_left) const {
  return PatternRun(*this, text, steps_left).Run(extent);
}

}  // namespace detent
