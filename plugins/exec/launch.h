// Starts supervisors. Their program is part of this plugin, so that one file ships; it is copied
// into sealed memory once and executed from there. Starting one does not copy the host's address
// space (posix_spawn uses vfork's way), so it costs the same in a large host as in a small one.

#pragma once

#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>

#include "detent/sdk/status.h"
#include "plugins/exec/supervisor_protocol.h"
#include "plugins/exec/task_directory.h"

namespace detent::exec {

// The program, ready to execute. Move-only; closes its descriptor.
class SupervisorImage {
 public:
  SupervisorImage() = default;
  SupervisorImage(SupervisorImage&& other) noexcept;
  SupervisorImage& operator=(SupervisorImage&& other) noexcept;
  ~SupervisorImage();

  // Copies it into memory, or, where the kernel executes no memory files, into a file in directory.
  static sdk::Result<SupervisorImage> Make(const std::string& directory);

  int fd() const { return fd_; }

 private:
  int fd_ = -1;
};

struct Launched {
  int control_fd = -1;  // the caller's; non-blocking, close-on-exec
  pid_t pid = 0;        // to be reaped by the caller
};

// Starts a supervisor for the task in directory_fd, and lends it lock_fd, which holds the lock.
// name: shown by ps. Returns when the new process executes, which on a busy machine may take as
// long as the scheduler likes: not on the strand.
sdk::Result<Launched> LaunchSupervisor(const SupervisorImage& image, int directory_fd, int lock_fd,
                                       const std::string& name);

// One start on its way through the host's pool. Shared by the task, which may be dropped meanwhile,
// and by the work; only one of the two touches it at a time, but for `stop`, which is the strand's.
struct LaunchJob {
  LaunchJob(TaskDirectory where, std::string what)
      : directory(std::move(where)), supervisor_spec(std::move(what)) {}
  LaunchJob(const LaunchJob&) = delete;
  LaunchJob& operator=(const LaunchJob&) = delete;
  ~LaunchJob();  // a supervisor that nobody took over goes on by itself

  // Makes the task's directory and starts its supervisor. Blocks.
  void Run(const SupervisorImage& image);

  TaskDirectory directory;
  std::string supervisor_spec;
  std::weak_ptr<const int> task_alive;
  std::optional<Message> stop;  // asked for while it is under way
  sdk::Status status;           // after Run
  Launched launched;            // after Run, if status is OK
};

}  // namespace detent::exec
