// LogWriter: the supervisor's record of what a task writes, as CRI lines (detent/ext/logs.h) in
// files of bounded size. Two streams share one log. A line ends at LF; a longer one is written in
// parts, and so is one that stands unfinished for a while, so that a prompt can be read before it
// is answered.
//
// Files are named by the offset of their first byte in the whole log, begin with the beginning of a
// line, and the oldest is removed when there would be too many: at most `files` times `limit` bytes
// stay. A disk that refuses to take more costs lines, never the task. One thread, no allocation.

#pragma once

#include <cstddef>
#include <cstdint>

namespace detent::exec {

class LogWriter {
 public:
  static constexpr int kStdout = 0;
  static constexpr int kStderr = 1;
  static constexpr uint32_t kFilesMax = 16;

  // directory_fd is borrowed. limit: bytes of one file, at least 4096; files: 1 to kFilesMax kept.
  bool Open(int directory_fd, uint64_t limit, uint32_t files);

  // Appends what came from a stream.
  void Append(int stream, const char* data, size_t size);

  // Writes the unfinished lines of both streams as parts.
  void FlushParts();

  // Writes them as lines: nothing more will come.
  void Finish();

  // Whether FlushParts would write something.
  bool HasParts() const { return lines_[0].used + lines_[1].used > 0; }

  uint64_t end_offset() const { return file_offset_ + file_size_; }
  uint64_t lost_bytes() const { return lost_bytes_; }

 private:
  static constexpr size_t kPartMax = 16384;  // of a line's text, as in the CRI
  static constexpr size_t kOutMax = 32768;
  static constexpr size_t kHeaderMax = 48;  // time, stream and tag of one line

  struct Line {
    char text[kPartMax];
    size_t used = 0;
    bool continued = false;  // a part of this line has been written
  };

  void Emit(int stream, bool full, const char* text, size_t size);
  void WriteOut();
  void Rotate();
  bool OpenFile();
  void Stamp(char* out);

  int directory_fd_ = -1;
  int fd_ = -1;
  uint64_t limit_ = 0;
  uint32_t files_max_ = 0;
  uint32_t files_ = 0;
  uint64_t starts_[kFilesMax] = {};  // offsets of the files there are, oldest first
  uint64_t file_offset_ = 0;
  uint64_t file_size_ = 0;
  uint64_t lost_bytes_ = 0;
  size_t part_max_ = kPartMax;
  int64_t stamped_second_ = -1;
  char second_text_[20] = {};  // "2026-11-20T10:00:00."
  Line lines_[2];
  char out_[kOutMax];
  size_t out_used_ = 0;
};

}  // namespace detent::exec
