#include "core/cli/interrupt.h"

#include <unistd.h>

namespace detent {
namespace {

constexpr int kExitInterrupted = 130;

volatile std::sig_atomic_t line_open = 0;

void OnInterrupt(int) {
  if (line_open != 0) {
    // Nothing can be done where it fails, and the process ends.
    [[maybe_unused]] const ssize_t written = write(STDOUT_FILENO, "\n", 1);
  }
  _exit(kExitInterrupted);
}

}  // namespace

InterruptGuard::InterruptGuard(bool active) : active_(active) {
  if (!active_) return;
  struct sigaction action = {};
  action.sa_handler = &OnInterrupt;
  sigaction(SIGINT, &action, &previous_);
}

InterruptGuard::~InterruptGuard() {
  if (active_) sigaction(SIGINT, &previous_, nullptr);
}

bool IsLineOpen() {
  return line_open != 0;
}

void SetLineOpen(bool open) {
  line_open = open ? 1 : 0;
}

}  // namespace detent
