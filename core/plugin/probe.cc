#include "core/plugin/probe.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "core/base/clock.h"

namespace detent {
namespace {

struct Pipe {
  int read_end = -1;
  int write_end = -1;
};

bool Make(Pipe& pipe) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return false;
  pipe = {ends[0], ends[1]};
  return true;
}

[[noreturn]] void RunChild(const std::function<std::string()>& work, int report, int errors) {
  for (const int number : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTERM, SIGINT, SIGPIPE}) {
    signal(number, SIG_DFL);
  }
  const rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);
  dup2(errors, STDERR_FILENO);
  const std::string text = work();
  [[maybe_unused]] const ssize_t put = write(report, text.data(), text.size());
  _exit(0);
}

// Reads both pipes until the child has closed them. False at the deadline.
bool ReadBoth(pollfd (&pipes)[2], std::array<std::string, 2>& texts,
              std::chrono::milliseconds limit) {
  const SystemClock clock;
  const MonoTime deadline = clock.Mono() + limit;
  while (pipes[0].fd >= 0 || pipes[1].fd >= 0) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - clock.Mono());
    if (left.count() <= 0) return false;
    if (poll(pipes, 2, static_cast<int>(left.count())) <= 0) continue;
    for (size_t i = 0; i < 2; ++i) {
      if (pipes[i].fd < 0 || pipes[i].revents == 0) continue;
      std::array<char, 4096> buffer;
      const ssize_t got = read(pipes[i].fd, buffer.data(), buffer.size());
      if (got <= 0) {
        pipes[i].fd = -1;  // poll leaves it out.
      } else if (texts[i].size() < 64 * 1024) {
        texts[i].append(buffer.data(), static_cast<size_t>(got));
      }
    }
  }
  return true;
}

std::string FirstLines(const std::string& text) {
  std::string line = text.substr(0, 300);
  for (char& c : line) c = c == '\n' ? ' ' : c;
  while (!line.empty() && line.back() == ' ') line.pop_back();
  return line;
}

std::string Verdict(int status, const std::string& report, const std::string& errors) {
  if (WIFSIGNALED(status)) {
    const int number = WTERMSIG(status);
    std::string phrase = "ends the process that loads it (signal " + std::to_string(number) + ", " +
                         strsignal(number);
    if (!errors.empty()) phrase += ": " + FirstLines(errors);
    return phrase + ")";
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return report;
  return "exits from the process that loads it (status " + std::to_string(WEXITSTATUS(status)) +
         (errors.empty() ? "" : ": " + FirstLines(errors)) + ")";
}

}  // namespace

std::string RunInChild(const std::function<std::string()>& work, std::chrono::milliseconds limit) {
  Pipe report, errors;
  if (!Make(report) || !Make(errors)) return "cannot be tried out: no descriptors are left";
  const pid_t child = fork();
  if (child < 0) return std::string("cannot be tried out: ") + std::strerror(errno);
  if (child == 0) RunChild(work, report.write_end, errors.write_end);
  close(report.write_end);
  close(errors.write_end);
  pollfd pipes[2] = {{report.read_end, POLLIN, 0}, {errors.read_end, POLLIN, 0}};
  std::array<std::string, 2> texts;
  const bool in_time = ReadBoth(pipes, texts, limit);
  if (!in_time) kill(child, SIGKILL);
  close(report.read_end);
  close(errors.read_end);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!in_time) {
    return "does not finish loading within " + std::to_string(limit.count()) + " ms";
  }
  return Verdict(status, texts[0], texts[1]);
}

}  // namespace detent
