// What people write in an expression that belongs to another language, and what to write instead.
// Pure.

#pragma once

#include <string>
#include <string_view>

#include "core/expr/jsonpath.h"

namespace detent::jsonpath {

// What stands at the beginning of `rest`, in quotes: "'=='", "'Succeeded'"; or "the end".
std::string Shown(std::string_view rest);

// The hint where an operator or the end was expected and `rest` is there; may be empty.
std::string HintAt(std::string_view rest);

// Likewise where a value was expected.
std::string HintForValue(std::string_view rest, ExprDialect dialect);

// Likewise for a word that stands where a value should.
std::string HintForWord(std::string_view word, std::string_view rest_behind, ExprDialect dialect);

// Likewise where what stands in brackets was expected.
std::string HintForSelector(std::string_view rest);

// Likewise where a name was expected after a dot.
std::string HintAfterDot(std::string_view rest);

// Likewise at the beginning of what should be a JSONPath.
std::string HintForRoot(std::string_view text);

}  // namespace detent::jsonpath
