#include "core/base/clock.h"

#include <time.h>

#include <cstdio>

namespace detent {

namespace {

using std::chrono::microseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;

nanoseconds ReadClock(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return seconds(now.tv_sec) + nanoseconds(now.tv_nsec);
}

struct Civil {
  int year;
  unsigned month, day;
  int64_t second_of_day;
  int64_t micros;
};

Civil CivilOf(WallTime time) {
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const int64_t micros = (time - day).count();
  return {int{date.year()}, unsigned{date.month()}, unsigned{date.day()}, micros / 1'000'000,
          micros % 1'000'000};
}

// Reads a text from its front; after the first failure nothing succeeds.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  int Digits(size_t count) {
    int number = 0;
    for (size_t i = 0; i < count; ++i) {
      if (!IsDigit()) return Fail();
      number = number * 10 + (Next() - '0');
    }
    return number;
  }

  // Takes one of `choices`, or fails.
  char OneOf(std::string_view choices) {
    if (!ok_ || text_.empty() || choices.find(text_[0]) == choices.npos) {
      Fail();
      return 0;
    }
    return Next();
  }

  bool Accept(char c) {
    if (!ok_ || text_.empty() || text_[0] != c) return false;
    Next();
    return true;
  }

  // One to nine digits after the point; what is finer than a microsecond is cut off.
  microseconds Fraction() {
    int64_t nanos = 0;
    int count = 0;
    for (; IsDigit(); ++count) nanos = count < 9 ? nanos * 10 + (Next() - '0') : Fail();
    if (count == 0) Fail();
    for (; count < 9; ++count) nanos *= 10;
    return microseconds(nanos / 1000);
  }

  bool AtEnd() const { return ok_ && text_.empty(); }

 private:
  bool IsDigit() const { return ok_ && !text_.empty() && text_[0] >= '0' && text_[0] <= '9'; }
  char Next() {
    const char c = text_[0];
    text_.remove_prefix(1);
    return c;
  }
  int Fail() {
    ok_ = false;
    return 0;
  }

  std::string_view text_;
  bool ok_ = true;
};

std::string Text(int64_t number, char unit) {
  return std::to_string(number) + unit;
}

// "3m20s", or "3m" if nothing is left for the smaller unit.
std::string Two(int64_t major, char major_unit, int64_t minor, char minor_unit) {
  return minor == 0 ? Text(major, major_unit) : Text(major, major_unit) + Text(minor, minor_unit);
}

}  // namespace

WallTime SystemClock::Now() const {
  return WallTime(std::chrono::floor<microseconds>(ReadClock(CLOCK_REALTIME)));
}

MonoTime SystemClock::Mono() const {
  // Goes on while the machine is suspended, as the time of others does: who leads until an instant
  // must find it over afterwards.
  return MonoTime(ReadClock(CLOCK_BOOTTIME));
}

std::string FormatTime(WallTime time) {
  const Civil civil = CivilOf(time);
  const auto second = static_cast<int>(civil.second_of_day);
  char text[64];
  std::snprintf(text, sizeof text, "%04d-%02u-%02uT%02d:%02d:%02dZ", civil.year, civil.month,
                civil.day, second / 3600, second / 60 % 60, second % 60);
  return text;
}

std::string FormatMicroTime(WallTime time) {
  std::string text = FormatTime(time);
  char fraction[16];
  std::snprintf(fraction, sizeof fraction, ".%06dZ", static_cast<int>(CivilOf(time).micros));
  text.replace(text.size() - 1, 1, fraction);
  return text;
}

std::optional<WallTime> ParseTime(std::string_view text) {
  Scanner scanner(text);
  const int year = scanner.Digits(4);
  scanner.OneOf("-");
  const int month = scanner.Digits(2);
  scanner.OneOf("-");
  const int day = scanner.Digits(2);
  scanner.OneOf("Tt");
  const int hour = scanner.Digits(2);
  scanner.OneOf(":");
  const int minute = scanner.Digits(2);
  scanner.OneOf(":");
  const int second = scanner.Digits(2);
  const microseconds fraction = scanner.Accept('.') ? scanner.Fraction() : microseconds(0);
  const char zone = scanner.OneOf("Zz+-");
  int offset_hours = 0, offset_minutes = 0;
  if (zone == '+' || zone == '-') {
    offset_hours = scanner.Digits(2);
    scanner.OneOf(":");
    offset_minutes = scanner.Digits(2);
  }
  const std::chrono::year_month_day date(std::chrono::year(year),
                                         std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day)));
  if (!scanner.AtEnd() || !date.ok() || hour > 23 || minute > 59 || second > 60 ||
      offset_hours > 23 || offset_minutes > 59) {
    return std::nullopt;
  }
  const auto offset = std::chrono::minutes(offset_hours * 60 + offset_minutes);
  const WallTime local = std::chrono::sys_days(date) + std::chrono::hours(hour) +
                         std::chrono::minutes(minute) + seconds(second) + fraction;
  const WallTime time = zone == '-' ? local + offset : local - offset;
  // A leap second is the last of a UTC day; POSIX time counts it as the first of the next.
  if (second == 60 && CivilOf(time).second_of_day != 0) return std::nullopt;
  return time;
}

std::string FormatAge(seconds age) {
  const int64_t second = age.count();
  if (second < -1) return "<invalid>";
  if (second < 0) return "0s";
  if (second < 120) return Text(second, 's');
  const int64_t minute = second / 60;
  if (minute < 10) return Two(minute, 'm', second % 60, 's');
  if (minute < 180) return Text(minute, 'm');
  const int64_t hour = minute / 60;
  if (hour < 8) return Two(hour, 'h', minute % 60, 'm');
  if (hour < 48) return Text(hour, 'h');
  const int64_t day = hour / 24;
  if (day < 8) return Two(day, 'd', hour % 24, 'h');
  if (day < 2 * 365) return Text(day, 'd');
  if (day < 8 * 365) return Two(day / 365, 'y', day % 365, 'd');
  return Text(day / 365, 'y');
}

}  // namespace detent
