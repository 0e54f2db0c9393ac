#include "core/store/directory_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

namespace detent {
namespace {

Error SystemError(const std::string& what, int number) {
  return Error(Code::kUnavailable, what + ": " + std::generic_category().message(number));
}

Result<void> MakeDirectory(const std::string& directory) {
  std::error_code error;
  const bool made = std::filesystem::create_directories(directory, error);
  if (error) return SystemError("cannot make data directory '" + directory + "'", error.value());
  // What is stored may hold secrets of the people who use this host.
  if (made && chmod(directory.c_str(), 0700) != 0) {
    return SystemError("cannot protect data directory '" + directory + "'", errno);
  }
  return {};
}

std::string ReadHolder(int file) {
  std::array<char, 32> text;
  const ssize_t got = pread(file, text.data(), text.size(), 0);
  std::string holder(text.data(), got > 0 ? static_cast<size_t>(got) : 0);
  while (!holder.empty() && holder.back() == '\n') holder.pop_back();
  return holder.empty() ? "(unknown)" : holder;
}

Result<void> WriteHolder(int file, const std::string& path) {
  const std::string text = std::to_string(getpid()) + "\n";
  if (ftruncate(file, 0) == 0 &&
      pwrite(file, text.data(), text.size(), 0) == static_cast<ssize_t>(text.size())) {
    return {};
  }
  return SystemError("cannot write '" + path + "'", errno);
}

}  // namespace

Result<DirectoryLock> DirectoryLock::Acquire(const std::string& directory) {
  if (auto made = MakeDirectory(directory); !made) return std::move(made).error();
  const std::string path = directory + "/lock";
  DirectoryLock lock(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (lock.file_ < 0) return SystemError("cannot open '" + path + "'", errno);
  if (flock(lock.file_, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return SystemError("cannot lock '" + path + "'", errno);
    return Error(Code::kUnavailable,
                 "data directory " + directory + " is in use by process " + ReadHolder(lock.file_));
  }
  if (auto written = WriteHolder(lock.file_, path); !written) return std::move(written).error();
  return lock;
}

DirectoryLock::~DirectoryLock() {
  if (file_ >= 0) close(file_);
}

DirectoryLock::DirectoryLock(DirectoryLock&& other) noexcept
    : file_(std::exchange(other.file_, -1)) {}

DirectoryLock& DirectoryLock::operator=(DirectoryLock&& other) noexcept {
  std::swap(file_, other.file_);
  return *this;
}

}  // namespace detent
