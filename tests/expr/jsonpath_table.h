// Tables of queries and what they select, as normalized paths in order, joined by spaces. What a
// path means is checked on the way: followed again, it leads to the very value that it was given
// for; and the condition dialect selects the same.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/expr/jsonpath.h"

namespace detent::testing {

struct QueryRow {
  const char* query;
  const char* paths;  // Or "error: ..." while evaluating.
  const char* because;
};

// Fails the test for each row that selects something else.
void ExpectPaths(std::string_view document, const std::vector<QueryRow>& rows);

struct RefusedRow {
  const char* query;
  const char* because;
};

// Fails the test for each that compiles as JSONPath, or whose mistake has no column.
void ExpectRefused(const std::vector<RefusedRow>& rows);

// The message of the mistake, or "" if it compiles.
std::string MistakeIn(std::string_view text, ExprDialect dialect);

// "true", "false", "nothing" or "error: ..."; of a condition.
std::string VerdictOn(std::string_view document, std::string_view condition);

}  // namespace detent::testing
