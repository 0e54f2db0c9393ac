// The columns that an API server shows of our kinds: those of core/http/table.h, as far as a path
// into the object gives them. Constant data; any thread.

#pragma once

#include <string_view>
#include <vector>

#include "core/api/object.h"

namespace detent {

struct PrinterColumn {
  std::string_view name;
  std::string_view type;  // "string", "integer", or "date", which is shown as an age.
  std::string_view path;  // JSONPath; where it leads to nothing the cell is empty.
  std::string_view description;
  int priority = 0;  // 1: with `-o wide` only.
};

// Without the name, which the server puts in front. Of our Tables' columns these are left out,
// since no path leads there: a Job's Duration, a Task's Executor. Instead of the first, and of
// "1/3" in Succeeded, a Job has Finished and Indexes.
const std::vector<PrinterColumn>& PrinterColumnsOf(Kind kind);

}  // namespace detent
