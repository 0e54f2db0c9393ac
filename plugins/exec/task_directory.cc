#include "plugins/exec/task_directory.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include <cerrno>
#include <cstring>

#include "plugins/exec/record.h"

namespace detent::exec {
namespace {

bool Exists(const std::string& path) {
  return access(path.c_str(), F_OK) == 0;
}

sdk::Status FileError(std::string_view what, int error) {
  std::string message(what);
  message.append(": ").append(std::strerror(error));
  return sdk::Unavailable("TaskDirectoryFailed", std::move(message));
}

enum class Lock { kFree, kHeld, kMissing, kUnknown };

Lock ProbeLock(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return errno == ENOENT ? Lock::kMissing : Lock::kUnknown;
  const bool taken = flock(fd, LOCK_SH | LOCK_NB) == 0;
  const bool held = !taken && errno == EWOULDBLOCK;
  close(fd);
  return taken ? Lock::kFree : held ? Lock::kHeld : Lock::kUnknown;
}

bool WriteAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t wrote = write(fd, bytes.data(), bytes.size());
    if (wrote <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(wrote));
  }
  return true;
}

}  // namespace

TaskDirectory::TaskDirectory(std::string_view root, std::string_view key) : name_(NameFor(key)) {
  path_.append(root).append("/").append(name_);
}

std::string TaskDirectory::NameFor(std::string_view key) {
  static constexpr char kHex[] = "0123456789abcdef";
  std::string name;
  for (const char c : key) {
    const bool plain =
        (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || (c == '.' && !name.empty());
    const auto byte = static_cast<unsigned char>(c);
    if (plain) name += c;
    if (!plain) name.append("%").append(1, kHex[byte >> 4]).append(1, kHex[byte & 15]);
  }
  return name;
}

TaskDirectory::State TaskDirectory::Examine() const {
  struct stat info;
  if (stat(path_.c_str(), &info) != 0) {
    return errno == ENOENT ? State::kAbsent : State::kUnreadable;
  }
  const std::string result = path_ + "/" + kResultFile;
  if (Exists(result)) return State::kEnded;
  const Lock lock = ProbeLock(path_ + "/" + kLockFile);
  if (lock == Lock::kHeld) return State::kAlive;
  if (lock == Lock::kUnknown) return State::kUnreadable;
  // It may have ended between the two looks.
  if (Exists(result)) return State::kEnded;
  return Exists(path_ + "/" + kStartedFile) ? State::kLost : State::kNotStarted;
}

std::optional<Ending> TaskDirectory::ReadEnding() const {
  auto text = ReadWholeFile(path_ + "/" + kResultFile);
  if (!text) return std::nullopt;
  Ending ending;
  RecordReader reader(text->data(), text->size());
  Record record;
  while (reader.Next(&record)) {
    const int64_t number = record.Number();
    if (record.Is("cause")) ending.cause.assign(record.value, record.length);
    if (record.Is("stage")) ending.stage = static_cast<Stage>(number);
    if (record.Is("errno")) ending.error = static_cast<int>(number);
    if (record.Is("exit_code")) ending.exit_code = static_cast<int>(number);
    if (record.Is("signal")) ending.signal = static_cast<int>(number);
    if (record.Is("started_ns")) ending.started_ns = number;
    if (record.Is("ended_ns")) ending.ended_ns = number;
    if (record.Is("gone_ns")) ending.gone_ns = number;
    if (record.Is("user_us")) ending.user_us = number;
    if (record.Is("system_us")) ending.system_us = number;
    if (record.Is("peak_bytes")) ending.peak_bytes = number;
    if (record.Is("oom_killed")) ending.oom_killed = number != 0;
    if (record.Is("log_bytes")) ending.log_bytes = number;
    if (record.Is("log_lost_bytes")) ending.log_lost_bytes = number;
    if (record.Is("main_pid")) ending.main_pid = number;
    if (record.Is("kill_reason")) ending.kill_reason.assign(record.value, record.length);
  }
  return ending;
}

std::optional<Started> TaskDirectory::ReadStarted() const {
  auto text = ReadWholeFile(path_ + "/" + kStartedFile);
  if (!text) return std::nullopt;
  Started started;
  RecordReader reader(text->data(), text->size());
  Record record;
  while (reader.Next(&record)) {
    const int64_t number = record.Number();
    if (record.Is("supervisor_pid")) started.supervisor_pid = static_cast<pid_t>(number);
    if (record.Is("supervisor_start")) started.supervisor_start = static_cast<uint64_t>(number);
    if (record.Is("main_pid")) started.main_pid = static_cast<pid_t>(number);
    if (record.Is("main_start")) started.main_start = static_cast<uint64_t>(number);
    if (record.Is("started_ns")) started.started_ns = number;
    if (record.Is("boot")) started.boot.assign(record.value, record.length);
    if (record.Is("mark")) started.mark.assign(record.value, record.length);
  }
  return started;
}

int TaskDirectory::Connect() const {
  const int directory = open(path_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) return -1;
  const std::string path = "/proc/self/fd/" + std::to_string(directory) + "/" + kSocketFile;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd >= 0 && connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
    close(fd);
    fd = -1;
  }
  close(directory);
  return fd;
}

sdk::Result<TaskDirectory::Prepared> TaskDirectory::Prepare(std::string_view spec) const {
  if (mkdir(path_.c_str(), 0700) != 0 && errno != EEXIST) {
    return FileError("the task's directory could not be made", errno);
  }
  Prepared prepared;
  prepared.directory_fd = MoveUp(open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const int directory = prepared.directory_fd;
  prepared.lock_fd = MoveUp(openat(directory, kLockFile, O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  const int file = openat(directory, kSpecFile, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  const bool ready = prepared.lock_fd >= 0 && flock(prepared.lock_fd, LOCK_EX | LOCK_NB) == 0 &&
                     file >= 0 && WriteAll(file, spec);
  const int error = errno;
  if (file >= 0) close(file);
  if (ready) return prepared;
  if (prepared.directory_fd >= 0) close(prepared.directory_fd);
  if (prepared.lock_fd >= 0) close(prepared.lock_fd);
  return FileError("the task's directory could not be filled", error);
}

bool TaskDirectory::Remove() const {
  DIR* const directory = opendir(path_.c_str());
  if (directory == nullptr) return errno == ENOENT;
  while (const dirent* entry = readdir(directory)) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") unlinkat(dirfd(directory), entry->d_name, 0);
  }
  closedir(directory);
  return rmdir(path_.c_str()) == 0;
}

std::optional<std::string> ReadWholeFile(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return std::nullopt;
  std::string text;
  char buffer[4096];
  ssize_t got = 0;
  while ((got = read(fd, buffer, sizeof(buffer))) > 0) {
    text.append(buffer, static_cast<size_t>(got));
  }
  close(fd);
  if (got < 0) return std::nullopt;
  return text;
}

int MoveUp(int fd) {
  if (fd < 0 || fd >= 10) return fd;
  const int moved = fcntl(fd, F_DUPFD_CLOEXEC, 10);
  close(fd);
  return moved;
}

}  // namespace detent::exec
