#include "plugins/exec/supervisor_cgroup.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cerrno>

#include <cstring>

#include "plugins/exec/process_tree.h"

namespace detent::exec {
namespace {

int WriteFile(int directory_fd, const char* name, const char* value) {
  const int fd = openat(directory_fd, name, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return errno;
  const ssize_t wrote = write(fd, value, std::strlen(value));
  const int error = wrote < 0 ? errno : 0;
  close(fd);
  return error;
}

int64_t CountAt(const char* text) {
  int64_t value = 0;
  for (; *text >= '0' && *text <= '9'; ++text) value = value * 10 + (*text - '0');
  return value;
}

}  // namespace

int TaskCgroup::Create(const char* path) {
  if (mkdir(path, 0755) != 0 && errno != EEXIST) return errno;
  path_ = path;
  fd_ = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  return fd_ < 0 ? errno : 0;
}

int TaskCgroup::Set(const char* file_and_value) {
  char name[64];
  const char* const space = std::strchr(file_and_value, ' ');
  if (space == nullptr || space - file_and_value >= static_cast<long>(sizeof(name))) return EINVAL;
  const size_t length = static_cast<size_t>(space - file_and_value);
  std::memcpy(name, file_and_value, length);
  name[length] = '\0';
  return WriteFile(fd_, name, space + 1);
}

void TaskCgroup::Kill() const {
  if (fd_ >= 0) WriteFile(fd_, "cgroup.kill", "1");
}

bool TaskCgroup::OomKilled() const {
  char text[512];
  if (fd_ < 0 || ReadSmallFile(fd_, "memory.events", text, sizeof(text)) == 0) return false;
  const char* const at = std::strstr(text, "oom_kill ");
  return at != nullptr && CountAt(at + 9) > 0;
}

int64_t TaskCgroup::PeakBytes() const {
  char text[32];
  if (fd_ < 0 || ReadSmallFile(fd_, "memory.peak", text, sizeof(text)) == 0) return 0;
  return CountAt(text);
}

void TaskCgroup::Remove() {
  if (fd_ < 0) return;
  close(fd_);
  fd_ = -1;
  rmdir(path_);
}

int JoinCgroup(int directory_fd) {
  return WriteFile(directory_fd, "cgroup.procs", "0");
}

}  // namespace detent::exec
