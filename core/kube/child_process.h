// Runs a program of this machine and takes what it prints: exec credential plugins. Blocks the
// calling thread until the program ended, ran out of time or was told to stop; it never outlives
// the call.

#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "core/base/clock.h"
#include "core/base/result.h"

namespace detent {

// Tells a RunChild on another thread to end. Any thread; stays raised.
class StopSignal {
 public:
  StopSignal();
  ~StopSignal();
  StopSignal(const StopSignal&) = delete;
  StopSignal& operator=(const StopSignal&) = delete;

  void Raise();
  int fd() const { return fd_; }  // Readable once it is raised.

 private:
  int fd_ = -1;
};

struct ChildCommand {
  std::string command;  // A path, or a name without '/' that our PATH finds.
  std::vector<std::string> args;
  std::vector<std::pair<std::string, std::string>> env;  // Goes before our own of the same name.
  // It may talk to whoever sits at our terminal: it has our input and our standard error. Else it
  // reads nothing, its standard error is taken, and it is ended with all that it began.
  bool interactive = false;
  std::chrono::milliseconds timeout{60'000};
  size_t output_max = 1 << 20;  // Bytes of standard output; more is an error.
};

struct ChildResult {
  int exit_code = 0;   // 128 + the signal's number where one ended it, as a shell says it.
  std::string output;  // Standard output.
  std::string errors;  // The end of standard error, 4 KiB at most.
};

// kNotFound: there is no such program; kForbidden: it may not be run; kInvalid: no program at all;
// kDeadline; kTooLarge; kUnavailable: `stop`, or no more processes can be had. Any exit is a value.
Result<ChildResult> RunChild(const ChildCommand& command, const StopSignal& stop,
                             const Clock& clock);

}  // namespace detent
