#include "plugins/pod/log_lines.h"

#include <algorithm>
#include <optional>

#include "plugins/pod/rfc3339.h"

namespace detent::pod {
namespace {

constexpr int kByteBits = 24;
constexpr uint64_t kByteMost = (uint64_t{1} << kByteBits) - 1;
constexpr int64_t kSecondMost = (int64_t{1} << 28) - 1;
constexpr std::string_view kStream = " stdout F ";

// A line of the server: the time in front of it, and the rest.
struct RawLine {
  std::optional<int64_t> ns;
  std::string_view text;
};

RawLine SplitLine(std::string_view line) {
  const size_t space = line.find(' ');
  const auto ns = ParseTime(line.substr(0, space));
  if (!ns) return {std::nullopt, line};
  return {ns, space == std::string_view::npos ? std::string_view() : line.substr(space + 1)};
}

class Slicer {
 public:
  explicit Slicer(const LogWindow& window) : window_(window), at_(window.from.second, 0) {
    slice_.begin = slice_.next = window.from;
  }

  LogSlice Slice(std::string_view raw) {
    while (!raw.empty() && !full_) {
      const size_t end = raw.find('\n');
      const bool finished = end != std::string_view::npos;
      // The rest of it is still to come; unless it alone is more than is wanted at a time.
      if (!finished && !IsWanted()) break;
      ++slice_.count;
      if (!Take(raw.substr(0, end), finished)) return std::move(slice_);
      raw.remove_prefix(finished ? end + 1 : raw.size());
    }
    slice_.more = full_ || !window_.whole;
    return std::move(slice_);
  }

 private:
  struct At {
    At(int64_t s, uint64_t b) : second(s), byte(b) {}
    int64_t second;
    uint64_t byte;
  };

  // Whether an unfinished line is taken.
  bool IsWanted() const { return window_.whole ? window_.over : slice_.lines.empty(); }

  // False: this is no log.
  bool Take(std::string_view line, bool finished) {
    const RawLine split = SplitLine(line);
    if (split.ns) {
      now_ns_ = *split.ns;
    } else if (!begun_) {
      slice_.readable = false;
      slice_.lines = line;
      return false;
    }
    begun_ = true;
    MoveTo(std::clamp((now_ns_ - window_.base_ns) / kNsPerSecond, at_.second, kSecondMost));
    std::string text = FormatNanos(now_ns_);
    text.append(kStream).append(split.text);
    if (finished || window_.whole) text += '\n';
    Deliver(text);
    return true;
  }

  // Time does not go back, even if a node's clock does.
  void MoveTo(int64_t second) {
    if (second == at_.second) return;
    if (at_.second == window_.from.second && at_.byte < window_.from.byte) slice_.gap = true;
    at_ = {second, 0};
  }

  void Deliver(std::string_view text) {
    const uint64_t begin = at_.byte;
    at_.byte += text.size();
    // What of it was given before.
    const bool before = at_.second == window_.from.second && begin < window_.from.byte;
    if (before) text.remove_prefix(std::min(text.size(), window_.from.byte - begin));
    if (text.empty()) return;
    if (at_.byte > kByteMost) return SkipSecond();
    if (slice_.lines.size() + text.size() > window_.most) {
      full_ = true;
      if (!slice_.lines.empty()) return;
      text = text.substr(0, window_.most);
    }
    const uint64_t from = before ? window_.from.byte : begin;
    if (slice_.lines.empty()) slice_.begin = {at_.second, from};
    slice_.lines += text;
    slice_.next = {at_.second, from + text.size()};
  }

  // More than an offset can tell apart: the rest of this second is left out.
  void SkipSecond() {
    slice_.gap = true;
    if (slice_.lines.empty()) slice_.begin = {at_.second + 1, 0};
    slice_.next = {at_.second + 1, 0};
  }

  const LogWindow& window_;
  LogSlice slice_;
  At at_;
  int64_t now_ns_ = 0;
  bool begun_ = false, full_ = false;
};

}  // namespace

uint64_t OffsetOf(const LogPosition& position) {
  const auto second = static_cast<uint64_t>(std::clamp(position.second, int64_t{0}, kSecondMost));
  return second << kByteBits | std::min(position.byte, kByteMost);
}

LogPosition PositionOf(uint64_t offset) {
  const uint64_t second = std::min(offset >> kByteBits, static_cast<uint64_t>(kSecondMost));
  return {static_cast<int64_t>(second), offset & kByteMost};
}

LogSlice SliceLog(std::string_view raw, const LogWindow& window) {
  return Slicer(window).Slice(raw);
}

std::string_view TailOf(std::string_view lines, size_t most) {
  if (lines.size() <= most) return lines;
  const std::string_view tail = lines.substr(lines.size() - most);
  // Cut in the middle of a line, unless the byte before ends one.
  if (lines[lines.size() - most - 1] == '\n') return tail;
  const size_t end = tail.find('\n');
  return end + 1 >= tail.size() ? tail : tail.substr(end + 1);
}

}  // namespace detent::pod
