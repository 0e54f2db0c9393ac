// From what the API server gives of a container's log to the lines and offsets of
// detent/ext/logs.h. Pure, any thread.
//
// The server knows no byte offsets, only "since that second". So an offset says where a byte is in
// these terms: the second it was written in, counted from the Pod's creation, and which byte of
// that second it is. That needs no memory: the same byte has the same offset in each life of the
// host, and whatever the node has rotated away meanwhile. Offsets rise, but not by one for each
// byte.
//
// The server does not say either which stream a line was written to: all are said to be stdout.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace detent::pod {

struct LogPosition {
  int64_t second = 0;  // since the Pod's creation
  uint64_t byte = 0;   // of the lines of that second
  bool operator==(const LogPosition&) const = default;
};

// 28 bits of seconds, which is more than eight years, and 24 bits of bytes, which is more than a
// node keeps of a log by default. 52 bits in all: every JSON reader takes them.
uint64_t OffsetOf(const LogPosition& position);
LogPosition PositionOf(uint64_t offset);

struct LogWindow {
  int64_t base_ns = 0;  // the Pod's creation
  LogPosition from;
  size_t most = 0;     // bytes wanted
  bool whole = false;  // the server had no more
  bool over = false;   // the container ended: an unfinished last line is all there will be
};

struct LogSlice {
  bool readable = true;  // false: what the server gave is not a log; the text says what it is
  std::string lines;     // CRI lines
  LogPosition begin;     // of the first of them
  LogPosition next;
  bool gap = false;   // what stood at `from` is gone
  bool more = false;  // there is more to be read now
  size_t count = 0;   // lines of the server that were looked at
};

// raw: what the server gave, with timestamps, of all lines since the second of `from`.
LogSlice SliceLog(std::string_view raw, const LogWindow& window);

// The last lines that fit into `most` bytes; at least one, if it has to be cut.
std::string_view TailOf(std::string_view lines, size_t most);

}  // namespace detent::pod
