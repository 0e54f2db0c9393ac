#include "core/kube/local_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

namespace detent {
namespace {

class OpenFile {
 public:
  explicit OpenFile(const std::string& path) : fd_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
  ~OpenFile() {
    if (fd_ >= 0) close(fd_);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  int fd() const { return fd_; }

 private:
  const int fd_;
};

Error SystemError(const std::string& path, int reason) {
  Code code = Code::kInternal;
  if (reason == ENOENT) code = Code::kNotFound;
  if (reason == EACCES || reason == EPERM) code = Code::kForbidden;
  if (reason == EISDIR || reason == ENOTDIR || reason == ENAMETOOLONG || reason == ELOOP) {
    code = Code::kInvalid;
  }
  return Error(code, "cannot read '" + path + "': " + std::strerror(reason));
}

}  // namespace

Result<std::string> ReadLocalFile(const std::string& path) {
  const OpenFile file(path);
  if (file.fd() < 0) return SystemError(path, errno);
  std::string text;
  std::vector<char> piece(64 * 1024);
  for (;;) {
    const ssize_t got = read(file.fd(), piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return SystemError(path, errno);
    if (got == 0) return text;
    text.append(piece.data(), static_cast<size_t>(got));
    if (text.size() > kLocalFileBytesMax) {
      return Error(Code::kTooLarge, "cannot read '" + path + "': it has more than " +
                                        std::to_string(kLocalFileBytesMax) + " bytes");
    }
  }
}

}  // namespace detent
