// Keeps a second host away from a data directory: flock(2) on a file in it, for as long as the
// process lives, however it ends.
//
// The file stays behind; whether it is locked is what counts. It holds the process id of its
// holder, for the message that the second host shows.

#pragma once

#include <string>

#include "core/base/result.h"

namespace detent {

class DirectoryLock {
 public:
  // Makes the directory if there is none (mode 0700, its parents too). kUnavailable: it cannot be
  // made or written, or another process holds it.
  static Result<DirectoryLock> Acquire(const std::string& directory);

  ~DirectoryLock();
  DirectoryLock(DirectoryLock&& other) noexcept;
  DirectoryLock& operator=(DirectoryLock&& other) noexcept;

 private:
  explicit DirectoryLock(int file) : file_(file) {}

  int file_;  // Owned; -1 once moved from.
};

}  // namespace detent
