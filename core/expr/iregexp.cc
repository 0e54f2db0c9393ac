#include "core/expr/iregexp.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/expr/unicode_category.h"

namespace detent {
namespace {

// An atom with its quantifier. A group holds its branches, each a row of pieces.
struct Piece {
  enum class Kind : uint8_t { kSet, kBegin, kEnd, kGroup };

  Kind kind = Kind::kSet;
  uint32_t set = 0;
  std::vector<std::vector<Piece>> branches;
  size_t least = 1;
  std::optional<size_t> most = 1;  // nullopt: any number.
};

// Escapes that other regular expressions have, with what to write here.
struct ForeignEscape {
  char32_t letter;
  const char* instead;
};
constexpr ForeignEscape kForeignEscapes[] = {
    {'d', "write [0-9]"},
    {'D', "write [^0-9]"},
    {'w', "write [0-9A-Za-z_]"},
    {'W', "write [^0-9A-Za-z_]"},
    {'s', "write [ \\t\\n\\r]"},
    {'S', "write [^ \\t\\n\\r]"},
    {'$', "write [$]"},
    {'b', "there are no word boundaries"},
    {'A', "write ^"},
    {'z', "write $"},
};

// Sorts, and joins what overlaps or touches.
void Normalize(std::vector<CodeRange>& ranges) {
  std::sort(ranges.begin(), ranges.end(),
            [](const CodeRange& a, const CodeRange& b) { return a.first < b.first; });
  size_t kept = 0;
  for (const CodeRange& range : ranges) {
    if (kept > 0 && range.first <= ranges[kept - 1].last + 1) {
      ranges[kept - 1].last = std::max(ranges[kept - 1].last, range.last);
    } else {
      ranges[kept++] = range;
    }
  }
  ranges.resize(kept);
}

// All that normalized ranges do not contain.
std::vector<CodeRange> Complement(const std::vector<CodeRange>& ranges) {
  std::vector<CodeRange> rest;
  char32_t next = 0;
  for (const CodeRange& range : ranges) {
    if (range.first > next) rest.push_back({next, range.first - 1});
    next = range.last + 1;
  }
  if (next <= kCodePointMax) rest.push_back({next, kCodePointMax});
  return rest;
}

bool IsOneOf(char32_t c, std::u32string_view characters) {
  return characters.find(c) != std::u32string_view::npos;
}

}  // namespace

// Reads a pattern by the grammar of RFC 9485, section 4, into pieces, and then lays out its states
// from the last to the first, so that each knows the one after it.
class PatternCompiler {
 public:
  explicit PatternCompiler(std::string_view pattern) {
    for (size_t at = 0; at < pattern.size();) pattern_ += NextCodePoint(pattern, at);
  }

  Result<IRegexp> Compile() {
    Piece whole;
    whole.kind = Piece::Kind::kGroup;
    if (!ReadBranches(whole)) return *failure_;
    if (at_ < pattern_.size()) {
      Fail("unexpected ')'");
      return *failure_;
    }
    const auto start = LayOut(whole, Add({IRegexp::State::Kind::kAccept}).value_or(0));
    if (!start) {
      return Error(Code::kTooLarge, "a pattern may have at most " +
                                        std::to_string(kPatternStatesMax) +
                                        " states; {n,m} copies what it repeats");
    }
    out_.start_ = *start;
    return std::move(out_);
  }

 private:
  bool Fail(const std::string& message) {
    failure_ = Error(Code::kInvalid, "character " + std::to_string(at_ + 1) + ": " + message);
    return false;
  }

  bool AtEnd() const { return at_ == pattern_.size(); }
  bool Next(char32_t c) const { return !AtEnd() && pattern_[at_] == c; }
  bool Take(char32_t c) {
    if (!Next(c)) return false;
    ++at_;
    return true;
  }

  bool ReadBranches(Piece& group) {
    do {
      std::vector<Piece>& branch = group.branches.emplace_back();
      while (!AtEnd() && !Next('|') && !Next(')')) {
        if (!ReadPiece(branch.emplace_back())) return false;
      }
    } while (Take('|'));
    return true;
  }

  bool ReadPiece(Piece& piece) {
    if (!ReadAtom(piece)) return false;
    if (Take('*')) {
      piece.least = 0;
      piece.most.reset();
    } else if (Take('+')) {
      piece.most.reset();
    } else if (Take('?')) {
      piece.least = 0;
    } else if (Next('{') && !ReadCount(piece)) {
      return false;
    }
    if (Next('?')) return Fail("there are no lazy quantifiers; leave the '?' out");
    return true;
  }

  bool ReadCount(Piece& piece) {
    ++at_;
    if (!ReadDigits(piece.least)) return Fail("expected a number of times");
    piece.most = piece.least;
    if (Take(',')) {
      piece.most.reset();
      size_t most = 0;
      if (ReadDigits(most)) piece.most = most;
    }
    if (!Next('}')) return Fail("expected '}'");
    if (piece.most && *piece.most < piece.least) {
      return Fail("the most is less than the least number of times");
    }
    ++at_;
    return true;
  }

  // A number beyond every limit stands for all of these.
  bool ReadDigits(size_t& number) {
    const size_t begin = at_;
    number = 0;
    for (; !AtEnd() && pattern_[at_] >= '0' && pattern_[at_] <= '9'; ++at_) {
      number = std::min<size_t>(number * 10 + (pattern_[at_] - '0'), kPatternStatesMax + 1);
    }
    return at_ > begin;
  }

  bool ReadAtom(Piece& piece) {
    const char32_t c = pattern_[at_];
    if (c == '(') return ReadGroup(piece);
    if (IsOneOf(c, U"*+?{"))
      return Fail("there is nothing to repeat; as itself write [" + Shown() + "]");
    if (IsOneOf(c, U"]}")) return Fail("as itself write \\" + Shown());
    if (c == '^' || c == '$') {
      ++at_;
      piece.kind = c == '^' ? Piece::Kind::kBegin : Piece::Kind::kEnd;
      return true;
    }
    std::vector<CodeRange> ranges;
    if (c == '[') {
      if (!ReadClass(ranges)) return false;
    } else if (c == '\\') {
      if (!ReadEscape(ranges)) return false;
    } else {
      ++at_;
      ranges = c == '.' ? Complement({{'\n', '\n'}, {'\r', '\r'}}) : std::vector<CodeRange>{{c, c}};
    }
    piece.set = AddSet(std::move(ranges));
    return true;
  }

  std::string Shown() const {
    std::string shown;
    AppendCodePoint(shown, pattern_[at_]);
    return shown;
  }

  bool ReadGroup(Piece& piece) {
    if (++depth_ > kPatternNestingMax) {
      return Fail("nested deeper than " + std::to_string(kPatternNestingMax));
    }
    const size_t open = at_++;
    if (Next('?')) return Fail("there are no groups but ( )");
    piece.kind = Piece::Kind::kGroup;
    if (!ReadBranches(piece)) return false;
    if (!Take(')')) {
      at_ = open;
      return Fail("this '(' is not closed");
    }
    --depth_;
    return true;
  }

  // A character, or all of a category, behind a backslash.
  bool ReadEscape(std::vector<CodeRange>& ranges) {
    if (at_ + 1 == pattern_.size()) return Fail("a backslash at the end");
    const char32_t c = pattern_[at_ + 1];
    if (c == 'p' || c == 'P') return ReadCategory(ranges);
    char32_t meant = c;
    if (c == 'n') meant = '\n';
    if (c == 'r') meant = '\r';
    if (c == 't') meant = '\t';
    if (meant == c && !IsOneOf(c, U"()*+-.?[\\]^{|}")) return FailEscape(c);
    at_ += 2;
    ranges.push_back({meant, meant});
    return true;
  }

  bool FailEscape(char32_t c) {
    std::string what = "there is no \\";
    AppendCodePoint(what, c);
    for (const ForeignEscape& foreign : kForeignEscapes) {
      if (foreign.letter == c) return Fail(what + "; " + foreign.instead);
    }
    if (c >= '0' && c <= '9') return Fail(what + "; what a group matched cannot be referred to");
    return Fail(what + "; as itself the character needs no backslash");
  }

  // \p{Lu}, or \P{Lu} for all others.
  bool ReadCategory(std::vector<CodeRange>& ranges) {
    const bool negated = pattern_[at_ + 1] == 'P';
    const size_t close = pattern_.find(U'}', at_);
    const bool braced = at_ + 2 < pattern_.size() && pattern_[at_ + 2] == '{';
    if (!braced || close == pattern_.npos) return Fail("expected a category, as in \\p{Lu}");
    std::string name;
    for (size_t i = at_ + 3; i < close; ++i) AppendCodePoint(name, pattern_[i]);
    std::vector<CodeRange> members;
    if (!AppendCategory(name, members)) return Fail("there is no category '" + name + "'");
    Normalize(members);
    if (negated) members = Complement(members);
    ranges.insert(ranges.end(), members.begin(), members.end());
    at_ = close + 1;
    return true;
  }

  bool ReadClass(std::vector<CodeRange>& ranges) {
    const size_t open = at_++;
    const bool negated = Take('^');
    if (Take('-')) ranges.push_back({'-', '-'});
    while (!AtEnd() && !Next(']') && !Next('-')) {
      if (!ReadClassItem(ranges)) return false;
    }
    if (!ranges.empty() && Take('-')) ranges.push_back({'-', '-'});
    if (ranges.empty() && Next(']')) return Fail("a class has at least one character");
    if (AtEnd()) {
      at_ = open;
      return Fail("this '[' is not closed");
    }
    if (!Take(']')) {
      --at_;
      return Fail("a '-' within a class is written \\-");
    }
    Normalize(ranges);
    if (negated) ranges = Complement(ranges);
    return true;
  }

  // A character, a range of them, or a category.
  bool ReadClassItem(std::vector<CodeRange>& ranges) {
    const bool category =
        Next('\\') && at_ + 1 < pattern_.size() && IsOneOf(pattern_[at_ + 1], U"pP");
    if (category) return ReadEscape(ranges);
    if (!ReadClassCharacter(ranges)) return false;
    const bool range = Next('-') && at_ + 1 < pattern_.size() && pattern_[at_ + 1] != ']';
    if (!range) return true;
    ++at_;
    if (Next('\\') && at_ + 1 < pattern_.size() && IsOneOf(pattern_[at_ + 1], U"pP")) {
      return Fail("a range ends with a character");
    }
    if (!ReadClassCharacter(ranges)) return false;
    const char32_t last = ranges.back().first;
    ranges.pop_back();
    if (last < ranges.back().first) return Fail("the range before this is backwards");
    ranges.back().last = last;
    return true;
  }

  bool ReadClassCharacter(std::vector<CodeRange>& ranges) {
    const char32_t c = pattern_[at_];
    if (c == '\\') return ReadEscape(ranges);
    if (IsOneOf(c, U"[-")) return Fail("within a class write \\" + Shown());
    ++at_;
    ranges.push_back({c, c});
    return true;
  }

  uint32_t AddSet(std::vector<CodeRange> ranges) {
    IRegexp::CharacterSet& set = out_.sets_.emplace_back();
    for (const CodeRange& range : ranges) {
      for (char32_t c = range.first; c <= std::min<char32_t>(range.last, 127); ++c) {
        set.ascii[c / 64] |= uint64_t{1} << c % 64;
      }
    }
    set.ranges = std::move(ranges);
    return static_cast<uint32_t>(out_.sets_.size() - 1);
  }

  // nullopt, from here on: there would be too many states.
  std::optional<uint32_t> Add(IRegexp::State state) {
    if (out_.states_.size() == kPatternStatesMax) return std::nullopt;
    out_.states_.push_back(state);
    return static_cast<uint32_t>(out_.states_.size() - 1);
  }

  std::optional<uint32_t> Fork(uint32_t one, uint32_t other) {
    return Add({IRegexp::State::Kind::kFork, one, other});
  }

  // The state that begins a piece whose quantifier is obeyed; `next` comes after it.
  std::optional<uint32_t> LayOut(const Piece& piece, uint32_t next) {
    std::optional<uint32_t> first = next;
    size_t once = piece.least;
    if (!piece.most) {
      const auto loop = Fork(0, next);
      if (!loop) return std::nullopt;
      const auto body = LayOutOnce(piece, *loop);
      if (!body) return std::nullopt;
      out_.states_[*loop].next = *body;
      first = once == 0 ? loop : body;
      if (once > 0) --once;
    } else {
      for (size_t i = piece.least; i < *piece.most && first; ++i) {
        first = LayOutOnce(piece, *first);
        if (first) first = Fork(*first, next);
      }
    }
    for (; once > 0 && first; --once) first = LayOutOnce(piece, *first);
    return first;
  }

  std::optional<uint32_t> LayOutOnce(const Piece& piece, uint32_t next) {
    // Groups may be empty, so it is not enough to count states.
    if (++laid_out_ > kPatternStatesMax) return std::nullopt;
    using Kind = IRegexp::State::Kind;
    if (piece.kind == Piece::Kind::kSet) return Add({Kind::kCharacter, next, piece.set});
    if (piece.kind == Piece::Kind::kBegin) return Add({Kind::kBegin, next});
    if (piece.kind == Piece::Kind::kEnd) return Add({Kind::kEnd, next});
    std::optional<uint32_t> group;
    for (const std::vector<Piece>& branch : piece.branches) {
      std::optional<uint32_t> first = next;
      for (auto part = branch.rbegin(); part != branch.rend() && first; ++part) {
        first = LayOut(*part, *first);
      }
      if (first && group) first = Fork(*first, *group);
      if (!first) return std::nullopt;
      group = first;
    }
    return group;
  }

  std::u32string pattern_;
  size_t at_ = 0;
  int depth_ = 0;
  size_t laid_out_ = 0;
  std::optional<Error> failure_;
  IRegexp out_;
};

Result<IRegexp> IRegexp::Compile(std::string_view pattern) {
  if (pattern.size() > kPatternBytesMax) {
    return Error(Code::kTooLarge,
                 "a pattern has at most " + std::to_string(kPatternBytesMax) + " bytes");
  }
  return PatternCompiler(pattern).Compile();
}

}  // namespace detent
