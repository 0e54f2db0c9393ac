// TaskCgroup: the cgroup v2 leaf of one task, where the operator has delegated a subtree
// (`cgroupRoot`). It bounds memory, cpu and processes, ends all of them with one write, and knows
// what they used. Everything here is optional: without a leaf each call does nothing. Used by the
// supervisor only; one thread, no allocation. Files and their meaning: the kernel's
// Documentation/admin-guide/cgroup-v2.rst.

#pragma once

#include <cstdint>

namespace detent::exec {

class TaskCgroup {
 public:
  // Makes the leaf at path (borrowed, absolute). Returns 0 or an errno.
  int Create(const char* path);

  // Writes a setting such as "memory.max 1048576". Returns 0 or an errno.
  int Set(const char* file_and_value);

  // Kills every process in it (cgroup.kill).
  void Kill() const;

  // Whether the kernel killed a process of it for want of memory.
  bool OomKilled() const;

  // The most memory it ever used, in bytes; 0: unknown.
  int64_t PeakBytes() const;

  // Removes the leaf; it must be empty.
  void Remove();

  // The descriptor of its directory, for the child that joins; -1: there is none.
  int fd() const { return fd_; }

 private:
  const char* path_ = nullptr;
  int fd_ = -1;
};

// Moves the calling process into the leaf. Returns 0 or an errno.
int JoinCgroup(int directory_fd);

}  // namespace detent::exec
