// ExecSpec: what stands under `taskTemplate.exec`, and ExecConfig: the instance's `config`, each
// read from JSON with all mistakes reported at once. README.md describes every field. Plain values;
// the functions are pure and may run on any thread.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "detent/sdk/spec.h"

namespace detent::exec {

inline constexpr int64_t kNanosecondsPerSecond = 1000000000;
inline constexpr uint64_t kDefaultOutputLimit = 10 * 1024 * 1024;
inline constexpr uint32_t kLogFilesKept = 2;

// One bound of setrlimit(2).
struct ResourceLimit {
  int resource = 0;  // RLIMIT_*
  int64_t value = 0;
};

struct ExecSpec {
  std::vector<std::string> argv;  // the command with its arguments, or the shell that runs `script`
  std::string working_directory;  // as given; empty: the instance's
  std::vector<std::pair<std::string, std::string>> env;  // in the order given
  bool inherit_environment = false;
  bool has_stdin = false;
  std::string stdin_text;
  std::string user;   // name or number; empty: the host's
  std::string group;  // name or number; empty: the user's first
  std::vector<ResourceLimit> rlimits;
  int64_t memory_bytes = 0;  // of the cgroup; 0: no limit
  int64_t milli_cpu = 0;
  int64_t pids = 0;
  int64_t timeout_ns = 0;  // 0: none
  int64_t grace_ns = 30 * kNanosecondsPerSecond;
  std::vector<int64_t> success_exit_codes = {0};
  uint64_t output_limit = kDefaultOutputLimit;  // bytes of one log file
  bool idempotent = false;

  bool WantsCgroup() const { return memory_bytes > 0 || milli_cpu > 0 || pids > 0; }
};

struct ExecConfig {
  std::vector<std::string> allow_users;  // names or numbers
  std::string cgroup_root;               // absolute; empty: no cgroups
  std::string working_directory;         // absolute; empty: the host's
};

// Findings go to fields.diag(); with any error in it the value is not to be used.
ExecSpec ReadSpec(sdk::Fields& fields);
ExecConfig ReadConfig(sdk::Fields& fields);

}  // namespace detent::exec
