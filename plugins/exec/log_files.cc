#include "plugins/exec/log_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "plugins/exec/supervisor_protocol.h"

namespace detent::exec {
namespace {

struct LogFile {
  uint64_t begin = 0;
  uint64_t end = 0;
};

std::string PathOf(const std::string& directory, uint64_t begin) {
  return directory + "/" + kLogPrefix + std::to_string(begin);
}

// Oldest first.
std::vector<LogFile> ListFiles(const std::string& directory) {
  std::vector<LogFile> files;
  DIR* const open_directory = opendir(directory.c_str());
  if (open_directory == nullptr) return files;
  constexpr std::string_view kPrefix = kLogPrefix;
  while (const dirent* entry = readdir(open_directory)) {
    const std::string_view name = entry->d_name;
    if (!name.starts_with(kPrefix)) continue;
    const uint64_t begin = std::strtoull(entry->d_name + kPrefix.size(), nullptr, 10);
    struct stat info;
    // A file that was rotated away since it was listed is simply not there.
    if (fstatat(dirfd(open_directory), entry->d_name, &info, 0) != 0) continue;
    files.push_back({begin, begin + static_cast<uint64_t>(info.st_size)});
  }
  closedir(open_directory);
  std::sort(files.begin(), files.end(),
            [](const LogFile& a, const LogFile& b) { return a.begin < b.begin; });
  return files;
}

std::string ReadAt(const std::string& path, uint64_t offset, size_t size) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return {};
  std::string bytes(size, '\0');
  const ssize_t got = pread(fd, bytes.data(), size, static_cast<off_t>(offset));
  close(fd);
  bytes.resize(got > 0 ? static_cast<size_t>(got) : 0);
  return bytes;
}

// Keeps the lines of the streams that are wanted. The stream stands behind the time.
std::string Filter(std::string_view lines, const sdk::LogRequest& request) {
  std::string kept;
  while (!lines.empty()) {
    const size_t end = lines.find('\n');
    const size_t length = end == std::string_view::npos ? lines.size() : end + 1;
    const std::string_view line = lines.substr(0, length);
    const size_t space = line.find(' ');
    const bool from_stderr =
        space != std::string_view::npos && line.substr(space + 1).starts_with("stderr ");
    if (from_stderr ? request.want_stderr : request.want_stdout) kept += line;
    lines.remove_prefix(length);
  }
  return kept;
}

// For a tail: the first beginning of a line at or after offset.
uint64_t NextLine(const std::string& directory, const LogFile& file, uint64_t offset) {
  if (offset == file.begin) return offset;
  const std::string bytes = ReadAt(PathOf(directory, file.begin), offset - 1 - file.begin, 65536);
  const size_t end = bytes.find('\n');
  return end == std::string::npos ? offset : offset + end;
}

const LogFile* FileAt(const std::vector<LogFile>& files, uint64_t offset) {
  for (const LogFile& file : files) {
    if (offset >= file.begin && offset < file.end) return &file;
  }
  return nullptr;
}

}  // namespace

LogRead ReadLogFiles(const std::string& directory, const sdk::LogRequest& request) {
  LogRead out;
  const std::vector<LogFile> files = ListFiles(directory);
  if (files.empty()) return out;
  out.found = true;
  out.oldest = files.front().begin;
  const uint64_t end = files.back().end;
  uint64_t offset = request.offset;
  if (request.tail) offset = end > request.max_bytes ? end - request.max_bytes : 0;
  out.gap = !request.tail && offset < out.oldest;
  offset = std::max(offset, out.oldest);
  const LogFile* file = FileAt(files, offset);
  if (request.tail && file != nullptr) {
    offset = NextLine(directory, *file, offset);
    file = FileAt(files, offset);
  }
  out.next = offset;
  out.at_end = offset >= end;
  if (file == nullptr) return out;
  const size_t size = std::min<uint64_t>(request.max_bytes, file->end - offset);
  std::string bytes = ReadAt(PathOf(directory, file->begin), offset - file->begin, size);
  const size_t last = bytes.rfind('\n');
  if (last != std::string::npos) {
    bytes.resize(last + 1);
  } else if (bytes.size() < request.max_bytes) {
    bytes.clear();  // a line that is being written
  }
  out.next = offset + bytes.size();
  out.at_end = out.next >= end;
  const bool both = request.want_stdout && request.want_stderr;
  out.lines = both ? std::move(bytes) : Filter(bytes, request);
  return out;
}

}  // namespace detent::exec
