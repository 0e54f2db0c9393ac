#include "plugins/exec/supervisor_child.h"

#include <fcntl.h>
#include <grp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "plugins/exec/supervisor_cgroup.h"

namespace detent::exec {
namespace {

// What the child needs besides the spec.
struct Plumbing {
  int input;
  int output[2];  // the writing ends of stdout and stderr
  int link;
};

[[noreturn]] void Give(int link, Stage stage, int error) {
  const ChildError report{stage, error};
  send(link, &report, sizeof(report), MSG_NOSIGNAL);
  _exit(127);
}

// Reads of a memory file need no one to feed them, however long the text is.
int OpenInput(const ChildSpec& spec) {
  if (spec.stdin_text == nullptr) return open("/dev/null", O_RDONLY | O_CLOEXEC);
  const int fd = memfd_create("stdin", MFD_CLOEXEC);
  if (fd < 0) return -1;
  size_t done = 0;
  while (done < spec.stdin_size) {
    const ssize_t wrote = write(fd, spec.stdin_text + done, spec.stdin_size - done);
    if (wrote <= 0) return -1;
    done += static_cast<size_t>(wrote);
  }
  lseek(fd, 0, SEEK_SET);
  return fd;
}

// By the system call, because the library keeps two signals to itself and leaves them ignored.
void ResetSignals() {
  constexpr int kSignals = 64;
  constexpr size_t kMaskBytes = kSignals / 8;
  const struct {
    void (*handler)(int) = SIG_DFL;
    unsigned long flags = 0;
    void (*restorer)() = nullptr;
    unsigned long mask = 0;
  } standard;
  for (int signal = 1; signal <= kSignals; ++signal) {
    syscall(SYS_rt_sigaction, signal, &standard, nullptr, kMaskBytes);
  }
  const unsigned long none = 0;
  syscall(SYS_rt_sigprocmask, SIG_SETMASK, &none, nullptr, kMaskBytes);
}

// Returns 0 or an errno. Groups before the user: afterwards it is no longer permitted.
int BecomeUser(const ChildSpec& spec) {
  if (spec.uid < 0 && spec.gid < 0) return 0;
  const bool root = geteuid() == 0;
  if (root && setgroups(static_cast<size_t>(spec.group_count), spec.groups) != 0) return errno;
  if (spec.gid >= 0) {
    const auto gid = static_cast<gid_t>(spec.gid);
    if (setresgid(gid, gid, gid) != 0) return errno;
  }
  if (spec.uid >= 0) {
    const auto uid = static_cast<uid_t>(spec.uid);
    if (setresuid(uid, uid, uid) != 0) return errno;
  }
  return 0;
}

const char* PathOf(char** envp) {
  for (; *envp != nullptr; ++envp) {
    if (std::strncmp(*envp, "PATH=", 5) == 0) return *envp + 5;
  }
  return "/usr/local/bin:/usr/bin:/bin";
}

// Executes argv[0], looked for as a shell does; returns the errno that tells most.
int ExecuteCommand(char** argv, char** envp) {
  const char* const name = argv[0];
  if (name[0] == '\0') return ENOENT;
  if (std::strchr(name, '/') != nullptr) {
    execve(name, argv, envp);
    return errno;
  }
  const size_t name_length = std::strlen(name);
  char candidate[4096];
  int error = ENOENT;
  for (const char* path = PathOf(envp); path != nullptr;) {
    const char* const colon = std::strchr(path, ':');
    const size_t length = colon != nullptr ? static_cast<size_t>(colon - path) : std::strlen(path);
    if (length + name_length + 2 <= sizeof(candidate)) {
      std::memcpy(candidate, length == 0 ? "." : path, length == 0 ? 1 : length);
      const size_t used = length == 0 ? 1 : length;
      candidate[used] = '/';
      std::memcpy(candidate + used + 1, name, name_length + 1);
      execve(candidate, argv, envp);
      if (errno != ENOENT && errno != ENOTDIR) error = errno;
    }
    path = colon != nullptr ? colon + 1 : nullptr;
  }
  return error;
}

[[noreturn]] void RunChild(const ChildSpec& spec, const Plumbing& plumbing, pid_t supervisor) {
  const int link = plumbing.link;
  setsid();
  if (dup2(plumbing.input, 0) < 0 || dup2(plumbing.output[0], 1) < 0 ||
      dup2(plumbing.output[1], 2) < 0) {
    Give(link, Stage::kProcess, errno);
  }
  if (spec.cgroup_fd >= 0) {
    const int error = JoinCgroup(spec.cgroup_fd);
    if (error != 0) Give(link, Stage::kCgroup, error);
  }
  for (int i = 0; i < spec.limit_count; ++i) {
    const rlimit limit{spec.limits[i].value, spec.limits[i].value};
    if (setrlimit(static_cast<__rlimit_resource>(spec.limits[i].resource), &limit) != 0) {
      Give(link, Stage::kResourceLimit, errno);
    }
  }
  const int user_error = BecomeUser(spec);
  if (user_error != 0) Give(link, Stage::kUser, user_error);
  if (chdir(spec.working_directory) != 0) Give(link, Stage::kWorkingDirectory, errno);
  umask(spec.umask);
  // After the change of user, which clears it. What outlives its supervisor could be followed by
  // nobody, and would write into a closed pipe.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != supervisor) _exit(127);
  const ChildError ready;
  char go = 0;
  if (send(link, &ready, sizeof(ready), MSG_NOSIGNAL) < 0 || read(link, &go, 1) != 1) _exit(127);
  ResetSignals();
  Give(link, Stage::kCommand, ExecuteCommand(spec.argv, spec.envp));
}

void CloseIf(int fd) {
  if (fd >= 0) close(fd);
}

}  // namespace

bool Child::Prepare(const ChildSpec& spec, ChildError* error) {
  int link[2] = {-1, -1};
  int pipes[2][2] = {{-1, -1}, {-1, -1}};
  const int input = OpenInput(spec);
  const bool plumbed = input >= 0 &&
                       socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, link) == 0 &&
                       pipe2(pipes[0], O_CLOEXEC) == 0 && pipe2(pipes[1], O_CLOEXEC) == 0;
  *error = ChildError{Stage::kProcess, errno};
  const pid_t self = getpid();
  pid_ = plumbed ? fork() : -1;
  if (plumbed && pid_ < 0) error->error = errno;
  if (pid_ == 0) RunChild(spec, {input, {pipes[0][1], pipes[1][1]}, link[1]}, self);
  CloseIf(input);
  CloseIf(link[1]);
  CloseIf(pipes[0][1]);
  CloseIf(pipes[1][1]);
  if (pid_ < 0) return false;
  link_ = link[0];
  for (int i = 0; i < 2; ++i) {
    output_[i] = pipes[i][0];
    fcntl(output_[i], F_SETFL, O_NONBLOCK);
  }
  // One report comes in any case; its absence means that the child was killed on its way.
  if (recv(link_, error, sizeof(*error), MSG_WAITALL) != sizeof(*error)) {
    *error = ChildError{Stage::kProcess, ECHILD};
  }
  return error->stage == Stage::kNone;
}

bool Child::Execute(ChildError* error) {
  send(link_, "g", 1, MSG_NOSIGNAL);
  // The link closes on exec; only a failure sends anything.
  const bool failed = recv(link_, error, sizeof(*error), MSG_WAITALL) == sizeof(*error);
  close(link_);
  link_ = -1;
  return !failed;
}

}  // namespace detent::exec
