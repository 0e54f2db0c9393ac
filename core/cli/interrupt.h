// Ctrl-C: ends the process at once with 130, as shells expect, and leaves the cursor on a line of
// its own.
//
// The client holds nothing that needs to be put back, so the handler ends the process itself; no
// command has to look. The state is the process's, as signals are.

#pragma once

#include <csignal>

namespace detent {

class InterruptGuard {
 public:
  // Installs the handler if `active`; the destructor puts back what was there.
  explicit InterruptGuard(bool active);
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

 private:
  bool active_;
  struct sigaction previous_ = {};
};

// Whether the terminal's line has something on it that an interrupt should end.
bool IsLineOpen();
void SetLineOpen(bool open);

}  // namespace detent
