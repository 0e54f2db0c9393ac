// The general categories of Unicode 15.1 (UAX #44), for \p{...} in regular expressions. The C++
// library knows none, and Poco's are of Unicode 7. Pure; any thread.

#pragma once

#include <string_view>
#include <vector>

#include "core/expr/code_points.h"

namespace detent {

// Appends the code points of a category ("Lu"), or of all that begin with a letter ("L"), sorted.
// False if there is none of that name. "Cs" is none here: no text contains a surrogate.
bool AppendCategory(std::string_view name, std::vector<CodeRange>& ranges);

}  // namespace detent
