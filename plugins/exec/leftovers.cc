#include "plugins/exec/leftovers.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>
#include <csignal>
#include <cstdlib>

#include <string_view>
#include <vector>

#include "plugins/exec/process_tree.h"
#include "plugins/exec/supervisor_spec.h"

namespace detent::exec {
namespace {

constexpr int kRounds = 50;
constexpr int kRoundMs = 20;
constexpr int kClearRounds = 2;

bool SameBoot(const Started& started) {
  const auto boot = ReadWholeFile("/proc/sys/kernel/random/boot_id");
  return boot && !started.boot.empty() && boot->starts_with(started.boot);
}

// Only an environment of the same user, or as root, can be read; a task's processes are that.
bool HasMark(pid_t pid, const std::string& variable) {
  const auto environment = ReadWholeFile("/proc/" + std::to_string(pid) + "/environ");
  if (!environment) return false;
  const std::string_view text = *environment;
  for (size_t at = text.find(variable); at != std::string_view::npos;
       at = text.find(variable, at + 1)) {
    const bool begins = at == 0 || text[at - 1] == '\0';
    const size_t end = at + variable.size();
    if (begins && (end == text.size() || text[end] == '\0')) return true;
  }
  return false;
}

std::vector<pid_t> MarkedProcesses(const std::string& variable) {
  std::vector<pid_t> found;
  DIR* const proc = opendir("/proc");
  if (proc == nullptr) return found;
  while (const dirent* entry = readdir(proc)) {
    const auto pid = static_cast<pid_t>(std::strtol(entry->d_name, nullptr, 10));
    if (pid > 0 && pid != getpid() && HasMark(pid, variable)) found.push_back(pid);
  }
  closedir(proc);
  return found;
}

void KillCgroup(const std::string& cgroup) {
  const int fd = open((cgroup + "/cgroup.kill").c_str(), O_WRONLY | O_CLOEXEC);
  if (fd < 0) return;
  [[maybe_unused]] const ssize_t wrote = write(fd, "1", 1);
  close(fd);
}

}  // namespace

int EndLeftovers(const Started& started, const std::string& cgroup) {
  // After a reboot nothing is left, and the numbers belong to others.
  if (!SameBoot(started)) return 0;
  if (!cgroup.empty()) KillCgroup(cgroup);
  ProcessStat stat;
  const bool main_lives = ReadProcessStat(started.main_pid, &stat) && stat.state != 'Z' &&
                          stat.start_ticks == started.main_start;
  if (main_lives) kill(-started.main_pid, SIGKILL);
  int count = main_lives ? 1 : 0;
  if (!started.mark.empty()) {
    const std::string variable = std::string(kMarkVariable) + "=" + started.mark;
    // A process in the middle of exec(2) has no environment to read, so one look is not enough.
    int clear = 0;
    for (int round = 0; round < kRounds && clear < kClearRounds; ++round) {
      const std::vector<pid_t> marked = MarkedProcesses(variable);
      clear = marked.empty() ? clear + 1 : 0;
      if (round == 0) count += static_cast<int>(marked.size());
      for (const pid_t pid : marked) kill(pid, SIGKILL);
      poll(nullptr, 0, kRoundMs);
    }
  }
  if (!cgroup.empty()) rmdir(cgroup.c_str());
  return count;
}

}  // namespace detent::exec
