// What an expression is compiled to: queries and conditions, in the parts that the grammar of RFC
// 9535 has. The parser writes it, the evaluator reads it, and in between it does not change.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/base/json.h"
#include "core/expr/iregexp.h"

namespace detent::jsonpath {

struct Query;
struct Call;
struct Logic;

// Where a value stands: a literal, or what a query or a function yields.
using Operand = std::variant<Json, std::unique_ptr<Query>, std::unique_ptr<Call>>;

struct Slice {
  std::optional<int64_t> start;
  std::optional<int64_t> end;
  int64_t step = 1;
};

struct Wildcard {};

// A name, an index (from the end if negative), a slice, all, or a filter.
using Selector = std::variant<std::string, int64_t, Slice, Wildcard, std::unique_ptr<Logic>>;

struct Segment {
  bool descendant = false;  // `..`: also below each child.
  std::vector<Selector> selectors;
};

struct Query {
  bool absolute = true;  // Begins at the root, else at the filter's current node.
  bool singular = true;  // Selects one value at most, by its shape.
  bool spaced = false;   // Has space within brackets, which RFC 9535 does not compare.
  int column = 0;        // Where it begins in the text.
  std::vector<Segment> segments;
};

enum class Function : uint8_t { kLength, kCount, kMatch, kSearch, kValue };

struct Call {
  Function function = Function::kLength;
  std::vector<Operand> arguments;
  // Of match and search, where the pattern is a literal text: compiled, and empty if it is no
  // regular expression.
  bool constant_pattern = false;
  std::optional<IRegexp> pattern;
};

enum class Comparison : uint8_t {
  kEqual,
  kNotEqual,
  kLess,
  kLessOrEqual,
  kGreater,
  kGreaterOrEqual
};

struct Logic {
  enum class Kind : uint8_t { kOr, kAnd, kNot, kTest, kCompare };

  Kind kind = Kind::kTest;
  Comparison comparison = Comparison::kEqual;
  std::vector<Logic> parts;  // Of kOr and kAnd; of kNot, one.
  Operand left;              // Of kTest: a query, or a call of match or search.
  Operand right;             // Of kCompare.
};

struct Program {
  Logic whole;  // Of a query: kTest of it.
};

}  // namespace detent::jsonpath
