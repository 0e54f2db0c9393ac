// Processes as /proc shows them: one process's identity, and everything below one. Used by the
// supervisor to end what a task has started, and by the host to end what a dead supervisor left
// behind. System calls only, no allocation, no state; any thread.
//
// A pid alone may come to mean another process; with its start time it cannot. Below a subreaper
// nothing escapes: whoever loses its parent becomes a child of the subreaper (prctl(2)), so the
// walk down from there finds daemons and new sessions too.

#pragma once

#include <sys/types.h>

#include <cstdint>

namespace detent::exec {

struct ProcessStat {
  pid_t parent = 0;
  pid_t group = 0;
  char state = 0;            // 'Z': it has ended and waits to be reaped
  uint64_t start_ticks = 0;  // since boot; with the pid and the boot it names the process
};

// False: there is no such process (any more).
bool ReadProcessStat(pid_t pid, ProcessStat* out);

// Reads at most capacity - 1 bytes of a small file and terminates them with NUL. Returns how many,
// 0 if the file cannot be read. path is resolved from directory_fd (AT_FDCWD for none).
size_t ReadSmallFile(int directory_fd, const char* path, char* out, size_t capacity);

// Calls visit for each living process below root (root itself not included), parents before their
// children. At most 4096 are seen in one walk: what is left is found by the next.
using VisitProcess = void (*)(void* context, pid_t pid);
void ForEachDescendant(pid_t root, VisitProcess visit, void* context);

// Writes the decimal digits of value and a NUL; returns the number of digits.
int FormatNumber(uint64_t value, char* out);

}  // namespace detent::exec
