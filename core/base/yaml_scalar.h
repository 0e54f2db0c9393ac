// What a plain YAML scalar means under YAML 1.2's core schema (section 10.3.2): for the reader, and
// for the writer, which quotes what would not come back as a string. Pure; used by yaml*.cc only.

#pragma once

#include <string_view>

#include "core/base/json.h"

namespace detent {

enum class ScalarKind {
  kNull,
  kBool,
  kInt,  // Beyond int64 its value is a double.
  kFloat,
  kNoJson,  // Infinity, NaN, or a number too large: there is no JSON for it.
  kString,
};

struct ResolvedScalar {
  ScalarKind kind = ScalarKind::kString;
  Json value;
};

ResolvedScalar ResolveYamlScalar(std::string_view text);

}  // namespace detent
