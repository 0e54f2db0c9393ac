// Fills `${name}` into the strings of a JSON document by names that the caller defines: what
// detent.expr/1 does for plugins. See substitute.h for the variables of Jobs and tasks.
//
// One pass, on the parsed document: neither what a value contains nor the order of names matters,
// and no value can change the document's shape. "$${" stands for "${"; a `${` whose `}` is missing
// or comes after another `${` stays as it is; names of members are no templates. Pure.

#pragma once

#include <cstddef>
#include <string>

#include "core/base/diagnostic.h"
#include "core/base/json.h"
#include "core/base/result.h"

namespace detent {

// The document with its strings expanded, as compact JSON. `values`: an object of strings.
// Code::kInvalid: a value that is no string; or names that `values` lacks, each of which is also
// added to `mistakes`, with the pointer of its string. kTooLarge: more than `bytes_max`.
Result<std::string> ExpandStrings(const Json& document, const Json& values, size_t bytes_max,
                                  Diagnostics& mistakes);

}  // namespace detent
