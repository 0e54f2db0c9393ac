#include "core/store/sqlite_backup.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

namespace detent {
namespace {

Error SystemError(const std::string& what, int number) {
  return Error(Code::kUnavailable, what + ": " + std::generic_category().message(number));
}

// Makes an empty file; removes it at the end of the scope unless it is kept.
class NewFile {
 public:
  explicit NewFile(std::string path) : path_(std::move(path)) {}
  ~NewFile() {
    if (made_) unlink(path_.c_str());
  }
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  Result<void> Make() {
    const int file = open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0 && errno == EEXIST) {
      return Error(Code::kAlreadyExists, "'" + path_ + "' exists already; choose another name");
    }
    if (file < 0) return SystemError("cannot make '" + path_ + "'", errno);
    close(file);
    made_ = true;
    return {};
  }
  void Keep() { made_ = false; }
  const std::string& path() const { return path_; }

 private:
  const std::string path_;
  bool made_ = false;
};

// A renamed file survives a power cut only once its directory is on the disk.
Result<void> SyncDirectoryOf(const std::string& path) {
  const std::filesystem::path parent = std::filesystem::path(path).parent_path();
  const std::string directory = parent.empty() ? "." : parent.string();
  const int file = open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (file < 0) return SystemError("cannot open '" + directory + "'", errno);
  const int status = fsync(file);
  const int number = errno;
  close(file);
  if (status != 0) return SystemError("cannot sync '" + directory + "'", number);
  return {};
}

}  // namespace

Result<void> BackUp(SqliteDb& source, const std::string& target) {
  NewFile whole(target);
  NewFile partial(target + ".partial");
  if (auto made = whole.Make(); !made) return made;
  if (auto made = partial.Make(); !made) return made;
  {
    std::unique_ptr<SqliteDb> copy = TRY(SqliteDb::Open(partial.path(), SqliteDb::Access::kWrite));
    if (auto copied = copy->CopyFrom(source); !copied) return copied;
  }
  if (rename(partial.path().c_str(), target.c_str()) != 0) {
    return SystemError("cannot rename '" + partial.path() + "'", errno);
  }
  partial.Keep();
  whole.Keep();
  return SyncDirectoryOf(target);
}

}  // namespace detent
