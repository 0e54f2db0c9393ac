// Any text is an expression or a mistake with a column. Of an expression: both dialects select the
// same, each normalized path leads back to its value, and a negation never holds with what it
// negates.

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "core/expr/jsonpath.h"

namespace {

using namespace detent;

const Json& Document() {
  static const Json document = *ParseJson(R"({
    "a": [{"b": 1, "a": "x"}, {"b": 2.5, "a": "xy"}, {"b": null}, [0, [1, [2]], -1], "a", true],
    "b": {"a": {"a": {"a": "b"}}, "b-c/d": "é😀", "": 0, "'\"\\\n": []},
    "p": ["x.*", "[a-z]+", "(", "\\p{Lu}*"], "n": 9007199254740993, "e": {}})");
  return document;
}

void CheckPaths(const Expression& query, const std::vector<const Json*>& values) {
  const auto located = query.Locate(Document());
  if (!located || located->size() != values.size()) std::abort();
  for (size_t i = 0; i < values.size(); ++i) {
    const auto way = Expression::Compile((*located)[i].path, ExprDialect::kJsonPath);
    if ((*located)[i].value != values[i] || !way) std::abort();
    if (*way->Select(Document()) != std::vector<const Json*>{values[i]}) std::abort();
  }
}

void CheckMistake(const Error& error) {
  const bool placed = error.message().starts_with("column ");
  if (!placed && !error.message().starts_with("an expression ")) std::abort();
}

void CheckNegation(std::string_view text, Expression::Verdict verdict) {
  const auto negation =
      Expression::Compile("!(" + std::string(text) + ")", ExprDialect::kCondition);
  if (!negation) return;  // Braces stand around the whole only, and so deep it may not be nested.
  const auto opposite = negation->Holds(Document());
  const bool told = verdict != Expression::Verdict::kNothing;
  if (!opposite || (told && *opposite == verdict)) std::abort();
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int LLVMFuzzerTestOneInput(const uint8_t* data,
                                                                             size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto path = Expression::Compile(text, ExprDialect::kJsonPath);
  const auto condition = Expression::Compile(text, ExprDialect::kCondition);
  if (!path) CheckMistake(path.error());
  if (!condition) CheckMistake(condition.error());
  if (path) {
    const auto values = path->Select(Document());
    if (!values) std::abort();
    CheckPaths(*path, *values);
    // A wrong pattern is a mistake in a condition only.
    if (condition && *condition->Select(Document()) != *values) std::abort();
  }
  if (!condition) return 0;
  const auto verdict = condition->Holds(Document());
  if (verdict) CheckNegation(text, *verdict);
  return 0;
}
