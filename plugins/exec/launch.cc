#include "plugins/exec/launch.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cerrno>
#include <csignal>
#include <cstring>

#include <utility>

#include "plugins/exec/supervisor_image.h"
#include "plugins/exec/supervisor_protocol.h"
#include "plugins/exec/task_directory.h"

namespace detent::exec {
namespace {

// The image has served: its whole pages leave this mapping, and would come back from the copy of
// the plugin that the host has in memory. That copy stays; what shrinks is this process' resident
// size.
void ForgetImage(std::string_view program) {
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<uintptr_t>(program.data());
  const uintptr_t first = (begin + page - 1) / page * page;
  const uintptr_t end = (begin + program.size()) / page * page;
  if (first < end) madvise(reinterpret_cast<void*>(first), end - first, MADV_DONTNEED);
}

bool WriteProgram(int fd) {
  const std::string_view program = SupervisorProgram();
  size_t done = 0;
  while (done < program.size()) {
    const ssize_t wrote = write(fd, program.data() + done, program.size() - done);
    if (wrote <= 0) return false;
    done += static_cast<size_t>(wrote);
  }
  ForgetImage(program);
  return true;
}

// Memory that nobody can change any more, or -1.
int SealedMemory() {
  const int fd = MoveUp(memfd_create("detent-exec", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (fd < 0) return -1;
  constexpr int kSeals = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;
  const std::string path = "/proc/self/fd/" + std::to_string(fd);
  // The kernel may be set to execute no memory files (vm.memfd_noexec).
  if (WriteProgram(fd) && fcntl(fd, F_ADD_SEALS, kSeals) == 0 && access(path.c_str(), X_OK) == 0) {
    return fd;
  }
  close(fd);
  return -1;
}

int ProgramFile(const std::string& directory) {
  const std::string path = directory + "/supervisor";
  const std::string fresh = path + ".new";
  const int fd = open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0500);
  if (fd < 0) return -1;
  const bool written = WriteProgram(fd);
  close(fd);
  // Renamed, because a file that some supervisor executes cannot be written.
  if (!written || rename(fresh.c_str(), path.c_str()) != 0) return -1;
  return MoveUp(open(path.c_str(), O_RDONLY | O_CLOEXEC));
}

// Owns what posix_spawn is told.
class SpawnPlan {
 public:
  SpawnPlan() {
    posix_spawn_file_actions_init(&actions_);
    posix_spawnattr_init(&attributes_);
  }
  ~SpawnPlan() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;

  // A session of its own, all signals blocked from its first instruction on, none ignored, and no
  // descriptor but the given ones at 3, 4, ...
  int Fill(const int* fds, int count) {
    sigset_t all;
    sigfillset(&all);
    int error = posix_spawnattr_setsigmask(&attributes_, &all);
    if (error == 0) error = posix_spawnattr_setsigdefault(&attributes_, &all);
    if (error == 0) {
      error = posix_spawnattr_setflags(
          &attributes_, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    }
    for (int fd = 0; fd <= 2 && error == 0; ++fd) {
      error = posix_spawn_file_actions_addopen(&actions_, fd, "/dev/null", O_RDWR, 0);
    }
    for (int i = 0; i < count && error == 0; ++i) {
      error = posix_spawn_file_actions_adddup2(&actions_, fds[i], kDirectoryFd + i);
    }
    if (error == 0) {
      error = posix_spawn_file_actions_addclosefrom_np(&actions_, kDirectoryFd + count);
    }
    return error;
  }

  const posix_spawn_file_actions_t* actions() const { return &actions_; }
  const posix_spawnattr_t* attributes() const { return &attributes_; }

 private:
  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
};

}  // namespace

SupervisorImage::SupervisorImage(SupervisorImage&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)) {}

SupervisorImage& SupervisorImage::operator=(SupervisorImage&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

SupervisorImage::~SupervisorImage() {
  if (fd_ >= 0) close(fd_);
}

sdk::Result<SupervisorImage> SupervisorImage::Make(const std::string& directory) {
  SupervisorImage image;
  image.fd_ = SealedMemory();
  if (image.fd_ < 0) image.fd_ = ProgramFile(directory);
  if (image.fd_ >= 0) return image;
  return sdk::Unavailable(
      "SupervisorUnavailable",
      std::string("the supervisor's program could not be written: ") + std::strerror(errno));
}

sdk::Result<Launched> LaunchSupervisor(const SupervisorImage& image, int directory_fd, int lock_fd,
                                       const std::string& name) {
  static_assert(kLockFd == kDirectoryFd + 1 && kControlFd == kLockFd + 1 &&
                kImageFd == kControlFd + 1);
  int pair[2] = {-1, -1};
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) != 0) {
    return sdk::Status(DETENT_E_BUSY, "NoDescriptors", std::strerror(errno));
  }
  const int ours = pair[0];
  const int theirs = MoveUp(pair[1]);
  const int fds[] = {directory_fd, lock_fd, theirs, image.fd()};
  SpawnPlan plan;
  pid_t pid = 0;
  int error = plan.Fill(fds, 4);
  if (error == 0) {
    std::string title = "detent-exec";
    std::string task = name;
    char* const argv[] = {title.data(), task.data(), nullptr};
    char* const environment[] = {nullptr};
    // In the child /proc/self is the child, where the program is at its fixed number.
    const std::string path = "/proc/self/fd/" + std::to_string(kImageFd);
    error = posix_spawn(&pid, path.c_str(), plan.actions(), plan.attributes(), argv, environment);
  }
  close(theirs);
  if (error == 0) return Launched{ours, pid};
  close(ours);
  return sdk::Status(error == EAGAIN || error == ENOMEM ? DETENT_E_BUSY : DETENT_E_UNAVAILABLE,
                     "SupervisorNotStarted",
                     std::string("the supervisor could not be started: ") + std::strerror(error));
}

LaunchJob::~LaunchJob() {
  if (launched.control_fd >= 0) close(launched.control_fd);
}

void LaunchJob::Run(const SupervisorImage& image) {
  const auto prepared = directory.Prepare(supervisor_spec);
  if (!prepared) {
    status = prepared.status();
    return;
  }
  const auto started =
      LaunchSupervisor(image, prepared->directory_fd, prepared->lock_fd, directory.name());
  close(prepared->directory_fd);
  close(prepared->lock_fd);
  if (started) {
    launched = *started;
    return;
  }
  status = started.status();
  directory.Remove();
}

}  // namespace detent::exec
