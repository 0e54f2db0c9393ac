// TaskDirectory: what is on disk of one task, and what it says about the task's state. The
// directory is the only record of a task that outlives the host; supervisor_protocol.h lists its
// files.
//
// A value that holds a path. Every call looks anew; all are quick (a few small files) and may run
// on the strand. Not for two threads at once on one task.

#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "detent/sdk/status.h"
#include "plugins/exec/supervisor_protocol.h"

namespace detent::exec {

// How the task ended, as its supervisor wrote it. Times in ns of the wall clock.
struct Ending {
  std::string cause;  // kCause*
  Stage stage = Stage::kNone;
  int error = 0;  // errno of the stage
  int exit_code = -1;
  int signal = 0;
  int64_t started_ns = 0;
  int64_t ended_ns = 0;
  int64_t gone_ns = 0;  // when the last process of it was gone
  int64_t user_us = 0, system_us = 0;
  int64_t peak_bytes = 0;
  bool oom_killed = false;
  int64_t log_bytes = 0, log_lost_bytes = 0;
  int64_t main_pid = 0;
  std::string kill_reason;
};

// What was put on record right before the command ran.
struct Started {
  pid_t supervisor_pid = 0, main_pid = 0;
  uint64_t supervisor_start = 0, main_start = 0;  // in ticks since boot
  int64_t started_ns = 0;
  std::string boot;  // the boot's id
  std::string mark;
};

class TaskDirectory {
 public:
  enum class State {
    kAbsent,
    kNotStarted,  // there, but the command never ran and nobody is about to run it
    kAlive,       // a supervisor holds it
    kEnded,       // there is a result
    kLost,        // it ran, nobody holds it, and there is no result
    kUnreadable,  // cannot tell now
  };

  // root: the directory of all tasks.
  TaskDirectory(std::string_view root, std::string_view key);

  const std::string& path() const { return path_; }
  const std::string& name() const { return name_; }

  State Examine() const;
  std::optional<Ending> ReadEnding() const;
  std::optional<Started> ReadStarted() const;

  // A connection to the supervisor, non-blocking, or -1: it does not listen (yet, or any more).
  int Connect() const;

  // Makes the directory with its spec and takes its lock. The descriptors are close-on-exec and
  // become the caller's.
  struct Prepared {
    int directory_fd = -1;
    int lock_fd = -1;
  };
  sdk::Result<Prepared> Prepare(std::string_view supervisor_spec) const;

  // Removes it with everything inside. False: something is left.
  bool Remove() const;

  // A key as the name of a directory: itself, with whatever could be special as %XX.
  static std::string NameFor(std::string_view key);

 private:
  std::string name_;
  std::string path_;
};

// The whole of a small file; nothing if it cannot be read.
std::optional<std::string> ReadWholeFile(const std::string& path);

// The same descriptor at a number of 10 or above, so that it cannot be in the way of the fixed ones
// a supervisor is born with; closes the old one. Close-on-exec. -1 stays -1.
int MoveUp(int fd);

}  // namespace detent::exec
