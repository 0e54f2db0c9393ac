// What the host side of the exec plugin and a task's supervisor agree on: the files of a task's
// directory, the descriptors a supervisor is born with, and the messages on its control socket.
// A supervisor outlives the plugin that started it, so an old one may speak to a newer plugin: what
// stands here is only ever appended to. Plain data; included by both sides.

#pragma once

#include <cstdint>

namespace detent::exec {

// The files of a task's directory.
//   spec     what to run, as records (record.h), mode 0600; written by the host.
//   lock     locked (flock) by the supervisor as long as it lives; the host takes the lock and
//            hands it over, so that there is no moment in which it is free.
//   started  on stable storage right before the command is executed.
//   result   how it ended; complete once it has its name.
//   s        the control socket, reached through /proc/self/fd: its own path may be too long.
//   log.N    CRI lines; N is the offset of the file's first byte in the whole log.
inline constexpr char kSpecFile[] = "spec";
inline constexpr char kLockFile[] = "lock";
inline constexpr char kStartedFile[] = "started";
inline constexpr char kResultFile[] = "result";
inline constexpr char kSocketFile[] = "s";
inline constexpr char kLogPrefix[] = "log.";

// Descriptors of a supervisor besides /dev/null at 0, 1 and 2.
inline constexpr int kDirectoryFd = 3;  // the task's directory
inline constexpr int kLockFd = 4;       // its lock file, locked
inline constexpr int kControlFd = 5;    // the first client, a socket pair
inline constexpr int kImageFd = 6;      // the supervisor's own program

enum class MessageType : uint32_t { kState = 1, kKill = 2 };

enum class Phase : uint32_t { kPreparing = 0, kRunning = 1, kStopping = 2, kEnded = 3 };

// One packet of the control socket (SOCK_SEQPACKET). The supervisor sends kState to each client
// when it connects and whenever the phase changes; a client sends kKill. Fields beyond `size` read
// as zero.
struct Message {
  uint32_t size = sizeof(Message);
  uint32_t type = 0;   // MessageType
  uint32_t phase = 0;  // Phase
  int32_t main_pid = 0;
  int32_t supervisor_pid = 0;
  uint32_t flags = 0;      // kMessage*
  int64_t started_ns = 0;  // wall clock; 0: not yet
  uint64_t grace_ns = 0;   // of a kill; 0 without kMessageImmediate: the task's own grace
  char reason[64] = {};    // of a kill, NUL-terminated
};
static_assert(sizeof(Message) == 104, "the layout is a contract between lives of the plugin");

inline constexpr uint32_t kMessageImmediate = 1;  // kill without grace

// Where the way to the command's first instruction failed.
enum class Stage : int32_t {
  kNone = 0,
  kCgroup = 1,
  kResourceLimit = 2,
  kUser = 3,
  kWorkingDirectory = 4,
  kCommand = 5,
  kProcess = 6,  // fork, pipes and the like
  kFiles = 7,    // the task's own directory
};

// Why the task ended, in `result`.
inline constexpr char kCauseExited[] = "exited";
inline constexpr char kCauseTimeout[] = "timeout";
inline constexpr char kCauseKilled[] = "killed";
inline constexpr char kCauseNotStarted[] = "not_started";

}  // namespace detent::exec
