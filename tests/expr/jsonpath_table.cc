#include "tests/expr/jsonpath_table.h"

#include <gtest/gtest.h>

namespace detent::testing {
namespace {

std::string PathsOf(const Expression& expression, const Json& document) {
  const auto located = expression.Locate(document);
  if (!located) return "error: " + located.error().message();
  const auto selected = expression.Select(document);
  if (!selected || selected->size() != located->size()) return "error: Select and Locate differ";
  std::string paths;
  for (size_t i = 0; i < located->size(); ++i) {
    const auto& [value, path] = (*located)[i];
    if (value != (*selected)[i]) return "error: Select and Locate differ";
    paths += (paths.empty() ? "" : " ") + path;
    const auto way = Expression::Compile(path, ExprDialect::kJsonPath);
    const auto end = way ? way->Select(document) : Result<std::vector<const Json*>>(way.error());
    if (!end || *end != std::vector<const Json*>{value}) return "error: not a way: " + path;
  }
  return paths;
}

}  // namespace

void ExpectPaths(std::string_view document, const std::vector<QueryRow>& rows) {
  const auto parsed = ParseJson(document, 128);
  ASSERT_TRUE(parsed) << document;
  for (const QueryRow& row : rows) {
    for (const ExprDialect dialect : {ExprDialect::kJsonPath, ExprDialect::kCondition}) {
      const auto expression = Expression::Compile(row.query, dialect);
      if (!expression) {
        ADD_FAILURE() << row.query << ": " << expression.error().message() << ": " << row.because;
        continue;
      }
      EXPECT_TRUE(expression->is_query());
      EXPECT_EQ(PathsOf(*expression, *parsed), row.paths)
          << row.query << " in " << document << ": " << row.because;
    }
  }
}

void ExpectRefused(const std::vector<RefusedRow>& rows) {
  for (const RefusedRow& row : rows) {
    EXPECT_TRUE(MistakeIn(row.query, ExprDialect::kJsonPath).starts_with("column "))
        << row.query << ": " << row.because;
  }
}

std::string MistakeIn(std::string_view text, ExprDialect dialect) {
  const auto expression = Expression::Compile(text, dialect);
  return expression ? "" : expression.error().message();
}

std::string VerdictOn(std::string_view document, std::string_view condition) {
  const auto parsed = ParseJson(document, 128);
  const auto expression = Expression::Compile(condition, ExprDialect::kCondition);
  if (!parsed || !expression) return "error: it does not compile";
  const auto verdict = expression->Holds(*parsed);
  if (!verdict) return "error: " + verdict.error().message();
  if (*verdict == Expression::Verdict::kNothing) return "nothing";
  return *verdict == Expression::Verdict::kTrue ? "true" : "false";
}

}  // namespace detent::testing
