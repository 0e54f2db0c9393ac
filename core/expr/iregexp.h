// Regular expressions as RFC 9485 (I-Regexp) has them: what match() and search() take.
//
// Matching tries all ways at once, so it takes time in proportion to text times pattern, never
// exponential; and it counts its steps, so that a caller can bound them. That, and no library more
// in every host, is why this is not RE2, which cannot be stopped halfway: reading the pattern is
// most of the work, and RE2 would need it done all the same, since it takes much that RFC 9485
// forbids and lacks \p{Cn}. Immutable once compiled: any thread may match.
//
// `^` and `$` stand for the beginning and end of the text, which RFC 9485 leaves open and everybody
// expects. `.` is any character but \n and \r.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/expr/code_points.h"

namespace detent {

inline constexpr size_t kPatternBytesMax = 1024;
// x{1000} needs a thousand states.
inline constexpr size_t kPatternStatesMax = 4096;
inline constexpr int kPatternNestingMax = 64;  // Parentheses within each other.

class IRegexp {
 public:
  // kInvalid: "character 3: there is no \d; write [0-9]". kTooLarge: over a limit above.
  static Result<IRegexp> Compile(std::string_view pattern);

  enum class Extent : uint8_t { kWhole, kSomewhere };

  // Whether the whole text matches, or some part of it. Takes its steps off `steps_left`; nullopt
  // once that is below 0. Bytes that are no UTF-8 count as U+FFFD.
  std::optional<bool> Matches(std::string_view text, Extent extent, int64_t& steps_left) const;

  size_t states() const { return states_.size(); }

 private:
  friend class PatternCompiler;
  friend class PatternRun;

  struct CharacterSet {
    std::vector<CodeRange> ranges;    // Sorted, none touches the next.
    std::array<uint64_t, 2> ascii{};  // The same for code points below 128, a bit each.
    bool Contains(char32_t c) const;
  };
  struct State {
    enum class Kind : uint8_t { kCharacter, kFork, kBegin, kEnd, kAccept };
    Kind kind;
    uint32_t next = 0;   // The state after this one.
    uint32_t other = 0;  // Of kFork: the other state after it. Of kCharacter: its set's number.
  };

  std::vector<State> states_;
  uint32_t start_ = 0;
  std::vector<CharacterSet> sets_;
};

}  // namespace detent
