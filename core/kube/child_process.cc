#include "core/kube/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <map>
#include <system_error>

extern char** environ;

namespace detent {
namespace {

constexpr size_t kErrorsKept = 4096;

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() { Close(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  void Reset(int fd) {
    Close();
    fd_ = fd;
  }
  void Close() {
    if (fd_ >= 0) close(fd_);
    fd_ = -1;
  }
  int get() const { return fd_; }

 private:
  int fd_ = -1;
};

Error Failed(const ChildCommand& command, int number) {
  Code code = Code::kUnavailable;
  if (number == ENOENT) code = Code::kNotFound;
  if (number == EACCES || number == EPERM) code = Code::kForbidden;
  if (number == ENOEXEC || number == ENOTDIR || number == EISDIR) code = Code::kInvalid;
  return Error(code, "run '" + command.command + "': " + std::strerror(number));
}

// Our environment with the command's own.
std::vector<std::string> EnvironmentOf(const ChildCommand& command) {
  std::map<std::string, std::string> all;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const size_t equals = text.find('=');
    if (equals != text.npos) all[text.substr(0, equals)] = text.substr(equals + 1);
  }
  for (const auto& [name, value] : command.env) all[name] = value;
  std::vector<std::string> entries;
  entries.reserve(all.size());
  for (const auto& [name, value] : all) entries.push_back(name + "=" + value);
  return entries;
}

std::vector<char*> PointersTo(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

bool MakePipe(Descriptor& read_end, Descriptor& write_end) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return false;
  read_end.Reset(ends[0]);
  write_end.Reset(ends[1]);
  fcntl(ends[0], F_SETFL, O_NONBLOCK);
  return true;
}

class Child {
 public:
  // Both borrowed.
  Child(const ChildCommand& command, const Clock& clock) : command_(command), clock_(clock) {}
  ~Child() { End(); }

  Result<void> Begin();
  Result<ChildResult> Await(const StopSignal& stop);

 private:
  int Spawn(const Descriptor& output, const Descriptor& errors);
  Result<void> Take();
  void TakeErrors();
  void End();

  const ChildCommand& command_;
  const Clock& clock_;
  pid_t pid_ = -1;
  Descriptor ended_, output_, errors_;  // ended_: readable once the process has.
  ChildResult result_;
};

Result<void> Child::Begin() {
  Descriptor output, errors;
  if (!MakePipe(output_, output) || !MakePipe(errors_, errors)) return Failed(command_, errno);
  if (const int failed = Spawn(output, errors); failed != 0) {
    pid_ = -1;
    return Failed(command_, failed);
  }
  ended_.Reset(static_cast<int>(syscall(SYS_pidfd_open, pid_, 0)));
  if (ended_.get() < 0) return Failed(command_, errno);
  return {};
}

int Child::Spawn(const Descriptor& output, const Descriptor& errors) {
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  if (!command_.interactive) {
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files, errors.get(), STDERR_FILENO);
  }
  posix_spawn_file_actions_adddup2(&files, output.get(), STDOUT_FILENO);
  posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1);
  posix_spawnattr_t how;
  posix_spawnattr_init(&how);
  short flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;
  // Who reads from a terminal must stay in its foreground group.
  if (!command_.interactive) flags |= POSIX_SPAWN_SETPGROUP;
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setflags(&how, flags);
  posix_spawnattr_setsigmask(&how, &none);
  posix_spawnattr_setsigdefault(&how, &all);
  posix_spawnattr_setpgroup(&how, 0);
  std::vector<std::string> arguments = {command_.command};
  arguments.insert(arguments.end(), command_.args.begin(), command_.args.end());
  std::vector<std::string> environment = EnvironmentOf(command_);
  const int failed = posix_spawnp(&pid_, command_.command.c_str(), &files, &how,
                                  PointersTo(arguments).data(), PointersTo(environment).data());
  posix_spawnattr_destroy(&how);
  posix_spawn_file_actions_destroy(&files);
  return failed;
}

// What there is in the pipes. Who has the other ends may live on, so their closing is not awaited.
Result<void> Child::Take() {
  std::array<char, 16384> piece;
  for (ssize_t got = 0; (got = read(output_.get(), piece.data(), piece.size())) > 0;) {
    result_.output.append(piece.data(), static_cast<size_t>(got));
    if (result_.output.size() > command_.output_max) {
      return Error(Code::kTooLarge, "'" + command_.command + "' printed more than " +
                                        std::to_string(command_.output_max) + " bytes");
    }
  }
  for (ssize_t got = 0; (got = read(errors_.get(), piece.data(), piece.size())) > 0;) {
    std::string& kept = result_.errors.append(piece.data(), static_cast<size_t>(got));
    if (kept.size() > kErrorsKept) kept.erase(0, kept.size() - kErrorsKept);
  }
  return {};
}

Result<ChildResult> Child::Await(const StopSignal& stop) {
  const MonoTime deadline = clock_.Mono() + command_.timeout;
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - clock_.Mono());
    if (left.count() <= 0) {
      return Error(Code::kDeadline, "'" + command_.command + "' did not end within " +
                                        std::to_string(command_.timeout.count()) + " ms");
    }
    pollfd waits[] = {{ended_.get(), POLLIN, 0},
                      {stop.fd(), POLLIN, 0},
                      {output_.get(), POLLIN, 0},
                      {errors_.get(), POLLIN, 0}};
    if (poll(waits, std::size(waits), static_cast<int>(left.count())) < 0 && errno != EINTR) {
      return Failed(command_, errno);
    }
    if (waits[1].revents != 0) {
      return Error(Code::kUnavailable, "'" + command_.command + "' was ended with its client");
    }
    if (auto taken = Take(); !taken) return std::move(taken).error();
    // An end that is closed would be reported again and again.
    if ((waits[2].revents & (POLLHUP | POLLIN)) == POLLHUP) output_.Close();
    if ((waits[3].revents & (POLLHUP | POLLIN)) == POLLHUP) errors_.Close();
    if (waits[0].revents != 0) break;
  }
  int status = 0;
  while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  if (auto taken = Take(); !taken) return std::move(taken).error();
  result_.exit_code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  return std::move(result_);
}

// Its whole group, where it has one of its own.
void Child::End() {
  if (pid_ < 0) return;
  kill(command_.interactive ? pid_ : -pid_, SIGKILL);
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace

StopSignal::StopSignal() : fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (fd_ < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
}

StopSignal::~StopSignal() {
  close(fd_);
}

void StopSignal::Raise() {
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = write(fd_, &one, sizeof one);
}

Result<ChildResult> RunChild(const ChildCommand& command, const StopSignal& stop,
                             const Clock& clock) {
  Child child(command, clock);
  if (auto begun = child.Begin(); !begun) return std::move(begun).error();
  return child.Await(stop);
}

}  // namespace detent
