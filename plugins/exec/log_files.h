// Reads pieces of a task's log from its files, by offset over the whole life of the task
// (detent/ext/logs.h). It only looks at files: it works while a supervisor writes them, after the
// end, and in any later life of the host. Pure but for the files; any thread.

#pragma once

#include <cstdint>
#include <string>

#include "detent/sdk/logs.h"

namespace detent::exec {

struct LogRead {
  bool found = false;   // there is a log
  std::string lines;    // whole lines, unless one alone is longer than asked for
  uint64_t next = 0;    // where to read on
  uint64_t oldest = 0;  // the first byte that is left
  bool gap = false;
  bool at_end = false;  // nothing is behind `next`
};

LogRead ReadLogFiles(const std::string& directory, const sdk::LogRequest& request);

}  // namespace detent::exec
