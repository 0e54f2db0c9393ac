// Starts the task's main process: between fork and exec it gets its session, streams, cgroup,
// resource limits, user and directory, in the order in which each is still permitted. It stops
// right before exec until the supervisor has it on record, so that nothing ever runs that a later
// life of the host would not know about. Supervisor only; one thread, no allocation.

#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>

#include "plugins/exec/supervisor_protocol.h"

namespace detent::exec {

// What to run. Texts are borrowed and NUL-terminated.
struct ChildSpec {
  static constexpr int kLimitsMax = 16;
  static constexpr int kGroupsMax = 256;

  struct Limit {
    int resource;  // RLIMIT_*
    rlim_t value;  // soft and hard
  };

  char** argv = nullptr;  // ends with nullptr; the first is looked for in PATH if it has no slash
  char** envp = nullptr;  // ends with nullptr
  const char* working_directory = "/";
  const char* stdin_text = nullptr;  // nullptr: /dev/null
  size_t stdin_size = 0;
  int64_t uid = -1;  // -1: as the supervisor
  int64_t gid = -1;
  gid_t groups[kGroupsMax];
  int group_count = 0;
  Limit limits[kLimitsMax];
  int limit_count = 0;
  int cgroup_fd = -1;
  mode_t umask = 022;
};

struct ChildError {
  Stage stage = Stage::kNone;
  int32_t error = 0;  // errno
};

class Child {
 public:
  // Forks, and returns once the child is ready to execute. False: *error says why there is none.
  bool Prepare(const ChildSpec& spec, ChildError* error);

  // Lets it execute. False: it could not, and has ended.
  bool Execute(ChildError* error);

  pid_t pid() const { return pid_; }
  // Non-blocking ends of its streams; the caller closes them.
  int stdout_fd() const { return output_[0]; }
  int stderr_fd() const { return output_[1]; }

 private:
  pid_t pid_ = -1;
  int output_[2] = {-1, -1};
  int link_ = -1;  // to the child until it has executed
};

}  // namespace detent::exec
