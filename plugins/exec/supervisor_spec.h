// SupervisorSpec: what a supervisor is told by the `spec` file of its task's directory. Texts point
// into the mapped file and end with Unmap, which is called once the command runs: a supervisor may
// live for weeks, and need not keep a large environment or input in memory meanwhile.

#pragma once

#include <cstddef>
#include <cstdint>

#include "plugins/exec/supervisor_child.h"

namespace detent::exec {

// Names of the records. `arg`, `env`, `group`, `rlimit` and `cgroup-set` may be repeated.
inline constexpr char kSpecArg[] = "arg";
inline constexpr char kSpecEnv[] = "env";              // NAME=value
inline constexpr char kSpecDirectory[] = "directory";  // absolute
inline constexpr char kSpecStdin[] = "stdin";
inline constexpr char kSpecUid[] = "uid";
inline constexpr char kSpecGid[] = "gid";
inline constexpr char kSpecGroup[] = "group";
inline constexpr char kSpecLimit[] = "rlimit";          // "<RLIMIT_ number> <value>"
inline constexpr char kSpecCgroup[] = "cgroup";         // the leaf's absolute path
inline constexpr char kSpecCgroupSet[] = "cgroup-set";  // "memory.max 1048576"
inline constexpr char kSpecTimeout[] = "timeout_ns";    // 0: none
inline constexpr char kSpecGrace[] = "grace_ns";
inline constexpr char kSpecLogLimit[] = "log_limit";  // bytes of one file
inline constexpr char kSpecLogFiles[] = "log_files";
inline constexpr char kSpecMark[] = "mark";  // value of kMarkVariable

// In the environment of everything that a task starts, with a value that is never used twice. By it
// what a dead supervisor left behind is told from everything else.
inline constexpr char kMarkVariable[] = "DETENT_TASK_ID";

struct SupervisorSpec {
  static constexpr int kCgroupSettingsMax = 8;

  // Maps and reads the file. False: it is missing or damaged, or names no command.
  bool Load(int directory_fd);
  void Unmap();

  ChildSpec child;
  const char* cgroup = nullptr;  // stays valid after Unmap
  const char* cgroup_settings[kCgroupSettingsMax] = {};
  int cgroup_setting_count = 0;
  const char* mark = "";
  uint64_t timeout_ns = 0;
  uint64_t grace_ns = 0;
  uint64_t log_limit = 0;
  uint32_t log_files = 0;

 private:
  bool Read(char* text, size_t size);
  void ReadLimit(const char* text);
  void ReadCgroup(const char* path);

  void* mapping_ = nullptr;
  size_t mapping_size_ = 0;
  void* lists_ = nullptr;
  size_t lists_size_ = 0;
  char cgroup_path_[512];
};

}  // namespace detent::exec
