// Expressions over JSON: the one engine that reads paths and conditions, for the host and, by
// detent.expr/1, for plugins.
//
//   kJsonPath    RFC 9535 as it stands: $.status.conditions[?@.type == "Ready"].status
//   kCondition   a superset, for specs: the `$` in front may be left out, and the whole may be what
//                RFC 9535 has in filters only: .status.succeeded >= 1 && !.status.failed
//
// What a condition adds, outside of filters:
//   - A path alone holds if it selects a value that is not null, false, 0, "", [] or {}.
//   - Where one value is needed, any path will do; if it selects several, that is an error.
//   - Space around the whole, and {braces} as kubectl has them, are left out.
// And everywhere: names after a dot may contain '-', '/' and, behind a backslash, anything
// (.metadata.labels.app\.kubernetes\.io/name), in a filter the `@` may be left out, and a pattern
// that is no regular expression is an error, where RFC 9535 says that it matches nothing.
//
// Regular expressions are RFC 9485's (iregexp.h). No text and no document takes more than the
// limits below. Compiled expressions are immutable: any thread may evaluate. A copy is cheap.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/json.h"
#include "core/base/result.h"

namespace detent {

namespace jsonpath {
struct Program;
}

inline constexpr size_t kExpressionBytesMax = 4096;
// Filters, parentheses and calls within each other.
inline constexpr int kExpressionNestingMax = 64;
// What one evaluation may take; a step is a selector applied to a value, a value looked at, a
// comparison, four names of members passed by, 64 bytes of text gone over, or a state of a regular
// expression tried on a character. All of them take a fraction of a second.
inline constexpr int64_t kExpressionStepsMax = 10'000'000;
// As many values as a document of detent.json/1 has.
inline constexpr size_t kExpressionSelectedMax = 1'000'000;

enum class ExprDialect : uint8_t { kJsonPath, kCondition };

// What is wrong with a text, in the parts that a Diagnostic has.
struct ExpressionMistake {
  int column = 0;       // Where it was noticed, in characters from 1. 0: it concerns the whole.
  std::string message;  // "column 15: expected an operator or the end, not '='"
  std::string hint;     // What to do instead: "equality is written =="; may be empty.
};

class Expression {
 public:
  enum class Verdict : uint8_t {
    kFalse,
    kTrue,
    kNothing,  // A path that it depends on selects nothing: usually "not yet".
  };

  struct Located {
    const Json* value;
    std::string path;  // The normalized path, RFC 9535 section 2.7: "$['items'][0]".
  };

  // Code::kInvalid, or kTooLarge if it is over a limit: the mistake's message with its hint in
  // parentheses; the parts go to *mistake, if given.
  static Result<Expression> Compile(std::string_view text, ExprDialect dialect,
                                    ExpressionMistake* mistake = nullptr);

  // False for a condition that is more than a path: then there is nothing to select.
  bool is_query() const;

  // The values that the query selects, in RFC 9535's order, a value as often as it is selected.
  // Borrowed from `root`, which is what `$` means. kInvalid: no query. kTooLarge: ExpressionBudget.
  Result<std::vector<const Json*>> Select(const Json& root) const;
  Result<std::vector<Located>> Locate(const Json& root) const;

  // Whether it holds. A comparison or match with a path that selects nothing is neither true nor
  // false, and nor is its negation, so that `.status.phase != "Failed"` waits for a status; what
  // does not depend on it decides (.a == 1 || .b). A path alone that selects nothing is kNothing,
  // but is false for `!`, so that `!.status.failed` holds without it. kInvalid: a path selects
  // several values where one is needed. kTooLarge: ExpressionBudget.
  Result<Verdict> Holds(const Json& root) const;

 private:
  explicit Expression(std::shared_ptr<const jsonpath::Program> program);

  std::shared_ptr<const jsonpath::Program> program_;
};

}  // namespace detent
