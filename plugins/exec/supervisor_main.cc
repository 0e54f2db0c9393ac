// The supervisor: one small process for each task. It starts the command, records what it writes
// and how it ends, and sees to it that nothing of it is left, whether or not a host is there to
// watch. It shares nothing with the host but the task's directory and a socket; the host may be
// killed, upgraded or away, and finds the task again by those.
//
// One thread around one poll. No allocation after the start, and no C++ runtime: thousands of these
// may live at once.

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <initializer_list>

#include "plugins/exec/process_tree.h"
#include "plugins/exec/record.h"
#include "plugins/exec/supervisor_cgroup.h"
#include "plugins/exec/supervisor_clients.h"
#include "plugins/exec/supervisor_log.h"
#include "plugins/exec/supervisor_protocol.h"
#include "plugins/exec/supervisor_spec.h"

namespace detent::exec {
namespace {

constexpr int64_t kMillisecond = 1000000;
constexpr int64_t kForever = INT64_MAX;
constexpr int64_t kPartDelay = 500 * kMillisecond;     // an unfinished line is shown after this
constexpr int64_t kResultRetry = 1000 * kMillisecond;  // while the disk takes no result

int64_t Now(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return now.tv_sec * int64_t{1000000000} + now.tv_nsec;
}

int64_t Microseconds(const timeval& time) {
  return time.tv_sec * int64_t{1000000} + time.tv_usec;
}

// Writes a file that is either there as a whole or not at all, also after a loss of power.
bool WriteDurably(const char* name, const char* data, size_t size) {
  char temporary[32] = "new.";
  std::strncat(temporary, name, sizeof(temporary) - 5);
  const int fd = openat(kDirectoryFd, temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd < 0) return false;
  const bool written = write(fd, data, size) == static_cast<ssize_t>(size) && fsync(fd) == 0;
  close(fd);
  return written && renameat(kDirectoryFd, temporary, kDirectoryFd, name) == 0 &&
         fsync(kDirectoryFd) == 0;
}

// Processes that were sent SIGTERM already: many programs take a second one as "at once".
struct Asked {
  pid_t pids[1024];
  int count = 0;
};

class Supervisor {
 public:
  int Run();

 private:
  enum class Stop { kNone, kAsking, kForcing };

  ChildError Start();
  bool RecordStart();
  void Loop();
  int64_t NextDeadline() const;
  void HandleSignals();
  void HandleTime();
  void HandleKill(const Message& kill);
  void ReadOutput(int* fd, int stream);
  void Reap();

  void BeginStop(uint64_t grace_ns);
  void Ask();
  void Force();
  void Tell(Phase phase);
  void Finish();
  bool WriteResult();

  SupervisorSpec spec_;
  Child child_;
  ChildError error_;
  Clients clients_;
  TaskCgroup cgroup_;
  LogWriter log_;
  int signal_fd_ = -1;
  int output_[2] = {-1, -1};

  int64_t started_ns_ = 0;  // wall clock
  int64_t ended_ns_ = 0;    // wall clock, of the main process
  int64_t timeout_at_ = kForever;
  int64_t parts_at_ = kForever;
  bool main_ended_ = false;
  bool all_gone_ = false;
  int main_status_ = 0;

  Stop stop_ = Stop::kNone;
  int64_t force_at_ = kForever;
  int64_t force_pause_ = 0;
  const char* cause_ = kCauseExited;
  char kill_reason_[sizeof(Message::reason)] = {};
  Asked asked_;
};

int Supervisor::Run() {
  prctl(PR_SET_NAME, "detent-exec");
  for (const int fd : {kDirectoryFd, kLockFd, kControlFd}) fcntl(fd, F_SETFD, FD_CLOEXEC);
  close(kImageFd);
  sigset_t all;
  sigfillset(&all);
  // Blocked, not ignored: a terminal's or a service manager's signal to the host's group does not
  // reach the supervisor's mind, and the child starts with a clean slate.
  sigprocmask(SIG_SETMASK, &all, nullptr);
  sigset_t children;
  sigemptyset(&children);
  sigaddset(&children, SIGCHLD);
  signal_fd_ = signalfd(-1, &children, SFD_CLOEXEC | SFD_NONBLOCK);
  spec_.child.umask = umask(077);
  if (fchdir(kDirectoryFd) != 0 || prctl(PR_SET_CHILD_SUBREAPER, 1) != 0 || signal_fd_ < 0) {
    error_ = {Stage::kProcess, errno};
  } else if (!clients_.Open(kControlFd)) {
    error_ = {Stage::kFiles, errno};
  } else {
    error_ = Start();
  }
  spec_.Unmap();
  if (error_.stage == Stage::kNone) {
    Tell(Phase::kRunning);
    Loop();
  } else {
    cause_ = kCauseNotStarted;
    started_ns_ = 0;
  }
  Finish();
  return 0;
}

ChildError Supervisor::Start() {
  if (!spec_.Load(kDirectoryFd)) return {Stage::kFiles, EINVAL};
  if (!log_.Open(kDirectoryFd, spec_.log_limit, spec_.log_files)) return {Stage::kFiles, errno};
  if (spec_.cgroup != nullptr) {
    int error = cgroup_.Create(spec_.cgroup);
    for (int i = 0; error == 0 && i < spec_.cgroup_setting_count; ++i) {
      error = cgroup_.Set(spec_.cgroup_settings[i]);
    }
    if (error != 0) return {Stage::kCgroup, error};
    spec_.child.cgroup_fd = cgroup_.fd();
  }
  ChildError error;
  if (!child_.Prepare(spec_.child, &error)) return error;
  output_[LogWriter::kStdout] = child_.stdout_fd();
  output_[LogWriter::kStderr] = child_.stderr_fd();
  started_ns_ = Now(CLOCK_REALTIME);
  if (!RecordStart()) {
    const int reason = errno;
    kill(child_.pid(), SIGKILL);
    return {Stage::kFiles, reason};
  }
  if (spec_.timeout_ns != 0) {
    timeout_at_ = Now(CLOCK_MONOTONIC) + static_cast<int64_t>(spec_.timeout_ns);
  }
  if (!child_.Execute(&error)) return error;
  return {};
}

// What a later life needs to find, or to clear away, what runs from here on.
bool Supervisor::RecordStart() {
  char boot[64];
  const size_t length =
      ReadSmallFile(AT_FDCWD, "/proc/sys/kernel/random/boot_id", boot, sizeof(boot));
  ProcessStat self;
  ProcessStat main;
  ReadProcessStat(getpid(), &self);
  ReadProcessStat(child_.pid(), &main);
  RecordWriter<1024> record;
  record.Int("supervisor_pid", getpid())
      .Int("supervisor_start", static_cast<int64_t>(self.start_ticks))
      .Int("main_pid", child_.pid())
      .Int("main_start", static_cast<int64_t>(main.start_ticks))
      .Int("started_ns", started_ns_)
      .Text("boot", boot, length > 0 ? length - 1 : 0)
      .Text("mark", spec_.mark);
  return WriteDurably(kStartedFile, record.data(), record.size());
}

void Supervisor::Loop() {
  while (!all_gone_) {
    pollfd polled[3 + Clients::kPollMax] = {
        {signal_fd_, POLLIN, 0}, {output_[0], POLLIN, 0}, {output_[1], POLLIN, 0}};
    const int clients = clients_.Fill(polled + 3);
    const int64_t deadline = NextDeadline();
    const int64_t wait_ns = deadline == kForever ? 0 : deadline - Now(CLOCK_MONOTONIC);
    const timespec wait{wait_ns > 0 ? wait_ns / 1000000000 : 0,
                        wait_ns > 0 ? wait_ns % 1000000000 : 0};
    const int ready = ppoll(polled, static_cast<nfds_t>(3 + clients),
                            deadline == kForever ? nullptr : &wait, nullptr);
    if (ready > 0) {
      for (int stream = 0; stream < 2; ++stream) {
        if (polled[1 + stream].revents != 0) ReadOutput(&output_[stream], stream);
      }
      // A request is looked at before what has ended, so that a kill that came first counts.
      Message kill;
      if (clients_.Next(polled + 3, clients, &kill)) HandleKill(kill);
      if (polled[0].revents != 0) HandleSignals();
    }
    HandleTime();
  }
}

int64_t Supervisor::NextDeadline() const {
  int64_t next = parts_at_ < force_at_ ? parts_at_ : force_at_;
  if (stop_ == Stop::kNone && timeout_at_ < next) next = timeout_at_;
  return next;
}

void Supervisor::HandleTime() {
  const int64_t now = Now(CLOCK_MONOTONIC);
  if (parts_at_ <= now) {
    log_.FlushParts();
    parts_at_ = kForever;
  }
  if (stop_ == Stop::kNone && timeout_at_ <= now && !main_ended_) {
    cause_ = kCauseTimeout;
    BeginStop(spec_.grace_ns);
  }
  if (stop_ != Stop::kNone && force_at_ <= now && !all_gone_) Force();
}

void Supervisor::HandleKill(const Message& kill) {
  const bool immediate = (kill.flags & kMessageImmediate) != 0;
  const uint64_t grace = immediate ? 0 : kill.grace_ns != 0 ? kill.grace_ns : spec_.grace_ns;
  if (stop_ == Stop::kNone && !main_ended_) {
    cause_ = kCauseKilled;
    std::memcpy(kill_reason_, kill.reason, sizeof(kill_reason_));
  }
  BeginStop(grace);
}

// Asks everything to end, and by force after the grace. Again: the grace may only become shorter.
void Supervisor::BeginStop(uint64_t grace_ns) {
  const int64_t now = Now(CLOCK_MONOTONIC);
  const int64_t grace = grace_ns > INT64_MAX / 2 ? INT64_MAX / 2 : static_cast<int64_t>(grace_ns);
  if (now + grace < force_at_ && stop_ != Stop::kForcing) force_at_ = now + grace;
  if (stop_ == Stop::kNone) {
    stop_ = Stop::kAsking;
    Tell(Phase::kStopping);
    if (grace > 0) Ask();
  }
  if (grace == 0) Force();
}

void Supervisor::Ask() {
  const pid_t main = child_.pid();
  // To the group in one step, which a process that forks at this moment cannot slip through. Once
  // the main process is reaped its number is free, unless a member keeps the group alive; those are
  // found by the walk.
  const bool group = !main_ended_ && asked_.count == 0;
  if (group) {
    kill(-main, SIGTERM);
    kill(-main, SIGCONT);
  }
  struct Context {
    Asked* asked;
    pid_t group;
  } context{&asked_, group ? main : 0};
  ForEachDescendant(
      getpid(),
      [](void* opaque, pid_t pid) {
        auto* const c = static_cast<Context*>(opaque);
        Asked& asked = *c->asked;
        for (int i = 0; i < asked.count; ++i) {
          if (asked.pids[i] == pid) return;
        }
        ProcessStat stat;
        if (!ReadProcessStat(pid, &stat) || stat.state == 'Z') return;
        if (asked.count < static_cast<int>(sizeof(asked.pids) / sizeof(asked.pids[0]))) {
          asked.pids[asked.count++] = pid;
        }
        if (c->group != 0 && stat.group == c->group) return;
        kill(pid, SIGTERM);
        kill(pid, SIGCONT);
      },
      &context);
}

// Kills everything there is. Again with a growing pause until nothing is left: a process that was
// being forked meanwhile is found by the next walk.
void Supervisor::Force() {
  stop_ = Stop::kForcing;
  cgroup_.Kill();
  if (!main_ended_) kill(-child_.pid(), SIGKILL);
  ForEachDescendant(
      getpid(), [](void*, pid_t pid) { kill(pid, SIGKILL); }, nullptr);
  force_pause_ = force_pause_ == 0 ? kMillisecond : force_pause_ * 2;
  if (force_pause_ > 200 * kMillisecond) force_pause_ = 200 * kMillisecond;
  force_at_ = Now(CLOCK_MONOTONIC) + force_pause_;
}

void Supervisor::HandleSignals() {
  signalfd_siginfo info;
  while (read(signal_fd_, &info, sizeof(info)) == static_cast<ssize_t>(sizeof(info))) {
  }
  Reap();
  if (all_gone_) return;
  // What it left behind ends the same way as the task itself would have.
  if (main_ended_ && stop_ == Stop::kNone) BeginStop(spec_.grace_ns);
  // A process that has just lost its parent may not have been found before.
  if (stop_ == Stop::kAsking) Ask();
  if (stop_ == Stop::kForcing) Force();
}

void Supervisor::Reap() {
  for (;;) {
    int status = 0;
    const pid_t pid = waitpid(-1, &status, WNOHANG);
    // No child means no descendant: whoever loses its parent becomes ours.
    if (pid < 0 && errno == ECHILD) all_gone_ = true;
    if (pid <= 0) return;
    if (pid != child_.pid() || main_ended_) continue;
    main_ended_ = true;
    main_status_ = status;
    ended_ns_ = Now(CLOCK_REALTIME);
  }
}

void Supervisor::ReadOutput(int* fd, int stream) {
  static char buffer[16384];
  const ssize_t got = read(*fd, buffer, sizeof(buffer));
  if (got > 0) {
    log_.Append(stream, buffer, static_cast<size_t>(got));
    parts_at_ = log_.HasParts() ? Now(CLOCK_MONOTONIC) + kPartDelay : kForever;
    return;
  }
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  close(*fd);
  *fd = -1;
}

void Supervisor::Tell(Phase phase) {
  Message state;
  state.type = static_cast<uint32_t>(MessageType::kState);
  state.phase = static_cast<uint32_t>(phase);
  state.main_pid = child_.pid();
  state.supervisor_pid = getpid();
  state.started_ns = started_ns_;
  clients_.Tell(state);
}

void Supervisor::Finish() {
  // A child that never executed is still to be reaped.
  while (waitpid(-1, nullptr, 0) > 0) {
  }
  for (int stream = 0; stream < 2; ++stream) {
    // What was written last still stands in the pipe, at most as much as a pipe holds. A stranger
    // that got hold of the other end may keep it open, but is not waited for.
    for (int i = 0; i < 128 && output_[stream] >= 0; ++i) {
      pollfd polled{output_[stream], POLLIN, 0};
      if (poll(&polled, 1, 0) <= 0) break;
      ReadOutput(&output_[stream], stream);
    }
  }
  if (error_.stage != Stage::kFiles) log_.Finish();
  // The outcome must not be lost to a full disk, so it is tried until it is there; a directory that
  // was removed meanwhile has nobody who would read it.
  while (!WriteResult() && errno != ENOENT) {
    poll(nullptr, 0, static_cast<int>(kResultRetry / kMillisecond));
  }
  unlinkat(kDirectoryFd, kSocketFile, 0);
  Tell(Phase::kEnded);
}

bool Supervisor::WriteResult() {
  rusage usage{};
  getrusage(RUSAGE_CHILDREN, &usage);
  const bool executed = error_.stage == Stage::kNone;
  const int64_t peak = cgroup_.PeakBytes();
  const bool oom = cgroup_.OomKilled();
  cgroup_.Remove();
  RecordWriter<2048> record;
  record.Text("cause", cause_)
      .Int("stage", static_cast<int64_t>(error_.stage))
      .Int("errno", error_.error)
      .Int("exit_code", executed && WIFEXITED(main_status_) ? WEXITSTATUS(main_status_) : -1)
      .Int("signal", executed && WIFSIGNALED(main_status_) ? WTERMSIG(main_status_) : 0)
      .Int("started_ns", started_ns_)
      .Int("ended_ns", executed ? ended_ns_ : Now(CLOCK_REALTIME))
      .Int("gone_ns", Now(CLOCK_REALTIME))
      .Int("user_us", executed ? Microseconds(usage.ru_utime) : 0)
      .Int("system_us", executed ? Microseconds(usage.ru_stime) : 0)
      .Int("peak_bytes", !executed  ? 0
                         : peak > 0 ? peak
                                    : usage.ru_maxrss * int64_t{1024})
      .Int("oom_killed", oom ? 1 : 0)
      .Int("log_bytes", static_cast<int64_t>(log_.end_offset()))
      .Int("log_lost_bytes", static_cast<int64_t>(log_.lost_bytes()))
      .Int("main_pid", child_.pid())
      .Text("kill_reason", kill_reason_);
  return WriteDurably(kResultFile, record.data(), record.size());
}

}  // namespace
}  // namespace detent::exec

int main() {
  // Static: the log's buffers are too large for a stack, and cost nothing until they are used.
  static detent::exec::Supervisor supervisor;
  return supervisor.Run();
}
