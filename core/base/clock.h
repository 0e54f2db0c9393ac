// Time, as everything in the core sees it. clock.cc is the only file that asks the system.
//
// WallTime is calendar time (slots, deadlines, records); MonoTime never goes back, and goes on
// while the machine is suspended (timeouts, backoff, leases). Pure functions take `now` as an
// argument; objects take a Clock&.

#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace detent {

using WallTime = std::chrono::sys_time<std::chrono::microseconds>;

struct MonoClockTag {
  using rep = int64_t;
  using period = std::nano;
  using duration = std::chrono::nanoseconds;
  using time_point = std::chrono::time_point<MonoClockTag>;
  static constexpr bool is_steady = true;
};
using MonoTime = MonoClockTag::time_point;

class Clock {
 public:
  virtual ~Clock() = default;
  virtual WallTime Now() const = 0;   // Any thread.
  virtual MonoTime Mono() const = 0;  // Any thread.
};

// The system's clocks. Only main() and tests make one.
class SystemClock final : public Clock {
 public:
  WallTime Now() const override;
  MonoTime Mono() const override;
};

// RFC 3339 in UTC with whole seconds, as metav1.Time is written: "2026-11-21T10:00:00Z".
std::string FormatTime(WallTime time);
// RFC 3339 in UTC with microseconds, as metav1.MicroTime is written.
std::string FormatMicroTime(WallTime time);
// Reads RFC 3339 with any offset and up to nine digits of fraction; nullopt if it is not that.
std::optional<WallTime> ParseTime(std::string_view text);

// "45s", "3m20s", "5h", "12d": an age as kubectl shows it.
std::string FormatAge(std::chrono::seconds age);

inline int64_t UnixSeconds(WallTime time) {
  return std::chrono::floor<std::chrono::seconds>(time).time_since_epoch().count();
}
inline WallTime FromUnixSeconds(int64_t seconds) {
  return WallTime(std::chrono::seconds(seconds));
}

}  // namespace detent
