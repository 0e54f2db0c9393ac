#include "plugins/exec/supervisor_log.h"

#include <fcntl.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#include <cstring>

#include "plugins/exec/process_tree.h"
#include "plugins/exec/supervisor_protocol.h"

namespace detent::exec {
namespace {

constexpr const char* kStreamNames[] = {" stdout ", " stderr "};

void FileName(uint64_t offset, char* out) {
  const size_t prefix = std::strlen(kLogPrefix);
  std::memcpy(out, kLogPrefix, prefix);
  FormatNumber(offset, out + prefix);
}

void TwoDigits(int value, char* out) {
  out[0] = static_cast<char>('0' + value / 10);
  out[1] = static_cast<char>('0' + value % 10);
}

// "YYYY-MM-DDThh:mm:ss." of a moment in UTC. The calendar is computed here, because gmtime would
// bring the time zone database into a program that is to stay small. Days are counted from
// 0000-03-01, so that the leap day is the last of its year.
void FormatSecond(int64_t seconds, char* out) {
  const int64_t days = seconds / 86400 + 719468;
  const int clock = static_cast<int>(seconds % 86400);
  const int64_t era = days / 146097;
  const int64_t day_of_era = days % 146097;
  const int64_t year_of_era =
      (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
  const int64_t day_of_year =
      day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const int64_t shifted_month = (5 * day_of_year + 2) / 153;
  const int day = static_cast<int>(day_of_year - (153 * shifted_month + 2) / 5 + 1);
  const int month = static_cast<int>(shifted_month < 10 ? shifted_month + 3 : shifted_month - 9);
  const int year = static_cast<int>(year_of_era + era * 400 + (month <= 2 ? 1 : 0));
  std::memcpy(out, "0000-00-00T00:00:00.", 20);
  TwoDigits(year / 100 % 100, out);
  TwoDigits(year % 100, out + 2);
  TwoDigits(month, out + 5);
  TwoDigits(day, out + 8);
  TwoDigits(clock / 3600, out + 11);
  TwoDigits(clock / 60 % 60, out + 14);
  TwoDigits(clock % 60, out + 17);
}

}  // namespace

bool LogWriter::Open(int directory_fd, uint64_t limit, uint32_t files) {
  directory_fd_ = directory_fd;
  limit_ = limit < 4096 ? 4096 : limit;
  files_max_ = files < 1 ? 1 : files > kFilesMax ? kFilesMax : files;
  // A line must fit into a file, and a few of them into a small one.
  part_max_ = limit_ / 4 < kPartMax ? static_cast<size_t>(limit_ / 4) : kPartMax;
  return OpenFile();
}

bool LogWriter::OpenFile() {
  char name[32];
  FileName(file_offset_, name);
  const int fd = openat(directory_fd_, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd < 0) return false;
  if (fd_ >= 0) close(fd_);
  fd_ = fd;
  starts_[files_++] = file_offset_;
  return true;
}

void LogWriter::Rotate() {
  if (files_ == files_max_) {
    char name[32];
    FileName(starts_[0], name);
    unlinkat(directory_fd_, name, 0);
    std::memmove(starts_, starts_ + 1, sizeof(starts_[0]) * (files_ - 1));
    --files_;
  }
  const uint64_t offset = file_offset_;
  const uint64_t size = file_size_;
  file_offset_ += file_size_;
  file_size_ = 0;
  if (OpenFile()) return;
  // Without a new file the old one grows on: better over the limit than silent.
  file_offset_ = offset;
  file_size_ = size;
}

void LogWriter::Append(int stream, const char* data, size_t size) {
  Line& line = lines_[stream];
  while (size > 0) {
    const size_t room = part_max_ - line.used;
    const size_t look = size < room + 1 ? size : room + 1;
    const auto* const end = static_cast<const char*>(std::memchr(data, '\n', look));
    const size_t take = end != nullptr ? static_cast<size_t>(end - data)
                        : size < room  ? size
                                       : room;
    const bool whole = end != nullptr;
    const bool part = !whole && line.used + take == part_max_;
    if (line.used == 0 && (whole || part)) {
      Emit(stream, whole, data, take);
    } else {
      std::memcpy(line.text + line.used, data, take);
      line.used += take;
      if (whole || part) Emit(stream, whole, line.text, line.used);
      if (whole || part) line.used = 0;
    }
    if (whole || part) line.continued = !whole;
    const size_t eaten = take + (whole ? 1 : 0);
    data += eaten;
    size -= eaten;
  }
  WriteOut();
}

void LogWriter::FlushParts() {
  for (int stream = 0; stream < 2; ++stream) {
    Line& line = lines_[stream];
    if (line.used == 0) continue;
    Emit(stream, false, line.text, line.used);
    line.used = 0;
    line.continued = true;
  }
  WriteOut();
}

void LogWriter::Finish() {
  for (int stream = 0; stream < 2; ++stream) {
    Line& line = lines_[stream];
    // A part that nothing continues would read as an unfinished line: an empty end completes it.
    if (line.used > 0 || line.continued) Emit(stream, true, line.text, line.used);
    line.used = 0;
    line.continued = false;
  }
  WriteOut();
}

void LogWriter::Stamp(char* out) {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  if (now.tv_sec != stamped_second_) {
    stamped_second_ = now.tv_sec;
    FormatSecond(now.tv_sec, second_text_);
  }
  std::memcpy(out, second_text_, 20);
  long rest = now.tv_nsec;
  for (int i = 28; i >= 20; --i) {
    out[i] = static_cast<char>('0' + rest % 10);
    rest /= 10;
  }
  out[29] = 'Z';
}

void LogWriter::Emit(int stream, bool full, const char* text, size_t size) {
  const size_t need = kHeaderMax + size;
  if (out_used_ + need > kOutMax) WriteOut();
  // The header is a few bytes shorter than kHeaderMax, so the limit is kept with some to spare.
  if (file_size_ + out_used_ > 0 && file_size_ + out_used_ + need > limit_) {
    WriteOut();
    Rotate();
  }
  char* at = out_ + out_used_;
  Stamp(at);
  std::memcpy(at + 30, kStreamNames[stream], 8);
  at[38] = full ? 'F' : 'P';
  at[39] = ' ';
  std::memcpy(at + 40, text, size);
  at[40 + size] = '\n';
  out_used_ += 41 + size;
}

void LogWriter::WriteOut() {
  size_t done = 0;
  while (done < out_used_) {
    const ssize_t wrote = write(fd_, out_ + done, out_used_ - done);
    if (wrote <= 0) break;
    done += static_cast<size_t>(wrote);
  }
  if (done < out_used_) {
    // Half a batch would leave half a line behind: take it back, and count what is missing.
    lost_bytes_ += out_used_;
    if (ftruncate(fd_, static_cast<off_t>(file_size_)) == 0) {
      lseek(fd_, static_cast<off_t>(file_size_), SEEK_SET);
    }
  } else {
    file_size_ += done;
  }
  out_used_ = 0;
}

}  // namespace detent::exec
