#include "plugins/pod/rfc3339.h"

#include <array>
#include <cstdio>

namespace detent::pod {
namespace {

constexpr int64_t kDay = 86'400;

// Days since 1970-01-01 of a date of the Gregorian calendar, by counting years from March on, so
// that a leap day is the last one of its year.
int64_t DaysOf(int64_t year, int64_t month, int64_t day) {
  const int64_t y = month <= 2 ? year - 1 : year;
  const int64_t m = month <= 2 ? month + 9 : month - 3;
  return y * 365 + y / 4 - y / 100 + y / 400 + (m * 153 + 2) / 5 + day - 1 - 719'468;
}

int64_t DaysInMonth(int64_t year, int64_t month) {
  constexpr std::array<int64_t, 12> kDays = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
  return kDays[static_cast<size_t>(month - 1)] + (leap && month == 2 ? 1 : 0);
}

// Reads from the front of a text; after a mismatch nothing matches any more.
class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}

  int64_t Digits(size_t count) {
    int64_t value = 0;
    if (rest_.size() < count) return Mismatch();
    for (const char c : rest_.substr(0, count)) {
      if (c < '0' || c > '9') return Mismatch();
      value = value * 10 + (c - '0');
    }
    rest_.remove_prefix(count);
    return value;
  }
  // One of the characters; '\0' if it is none of them.
  char OneOf(std::string_view these) {
    if (rest_.empty() || these.find(rest_.front()) == std::string_view::npos) {
      ok_ = false;
      return '\0';
    }
    const char c = rest_.front();
    rest_.remove_prefix(1);
    return c;
  }
  // The fraction of a second behind a point, if there is one.
  int64_t FractionNs() {
    if (rest_.empty() || rest_.front() != '.') return 0;
    rest_.remove_prefix(1);
    int64_t ns = 0;
    int64_t unit = kNsPerSecond;
    if (rest_.empty() || rest_.front() < '0' || rest_.front() > '9') return Mismatch();
    while (!rest_.empty() && rest_.front() >= '0' && rest_.front() <= '9') {
      unit /= 10;
      ns += unit * (rest_.front() - '0');
      rest_.remove_prefix(1);
    }
    return ns;
  }
  bool ok() const { return ok_; }
  bool done() const { return ok_ && rest_.empty(); }

 private:
  int64_t Mismatch() {
    ok_ = false;
    return 0;
  }
  std::string_view rest_;
  bool ok_ = true;
};

struct Date {
  int64_t year, month, day;
};

// The inverse of DaysOf.
Date DateOf(int64_t days) {
  constexpr int64_t kEra = 146'097;  // days of 400 years
  const int64_t shifted = days + 719'468;
  const int64_t era = (shifted >= 0 ? shifted : shifted - kEra + 1) / kEra;
  const int64_t of_era = shifted - era * kEra;
  const int64_t year = (of_era - of_era / 1'460 + of_era / 36'524 - of_era / (kEra - 1)) / 365;
  const int64_t of_year = of_era - (365 * year + year / 4 - year / 100);
  const int64_t m = (5 * of_year + 2) / 153;
  const int64_t month = m < 10 ? m + 3 : m - 9;
  return {year + era * 400 + (month <= 2 ? 1 : 0), month, of_year - (153 * m + 2) / 5 + 1};
}

std::string Format(int64_t ns, bool fraction) {
  int64_t seconds = ns / kNsPerSecond;
  int64_t rest = ns % kNsPerSecond;
  if (rest < 0) {
    rest += kNsPerSecond;
    --seconds;
  }
  int64_t days = seconds / kDay;
  int64_t of_day = seconds % kDay;
  if (of_day < 0) {
    of_day += kDay;
    --days;
  }
  const Date date = DateOf(days);
  char text[64];
  std::snprintf(text, sizeof(text), "%04d-%02d-%02dT%02d:%02d:%02d", static_cast<int>(date.year),
                static_cast<int>(date.month), static_cast<int>(date.day),
                static_cast<int>(of_day / 3'600), static_cast<int>(of_day / 60 % 60),
                static_cast<int>(of_day % 60));
  std::string out = text;
  if (fraction) {
    std::snprintf(text, sizeof(text), ".%09d", static_cast<int>(rest));
    out += text;
  }
  return out + "Z";
}

}  // namespace

std::optional<int64_t> ParseTime(std::string_view text) {
  Reader reader(text);
  const int64_t year = reader.Digits(4);
  reader.OneOf("-");
  const int64_t month = reader.Digits(2);
  reader.OneOf("-");
  const int64_t day = reader.Digits(2);
  reader.OneOf("Tt ");
  const int64_t hour = reader.Digits(2);
  reader.OneOf(":");
  const int64_t minute = reader.Digits(2);
  reader.OneOf(":");
  const int64_t second = reader.Digits(2);
  const int64_t fraction = reader.FractionNs();
  const char zone = reader.OneOf("Zz+-");
  int64_t offset = 0;
  if (zone == '+' || zone == '-') {
    offset = reader.Digits(2) * 3'600;
    reader.OneOf(":");
    offset += reader.Digits(2) * 60;
    if (zone == '-') offset = -offset;
  }
  if (!reader.done() || year < 1678 || year > 2261 || month < 1 || month > 12) return std::nullopt;
  if (day < 1 || day > DaysInMonth(year, month) || hour > 23 || minute > 59 || second > 60) {
    return std::nullopt;
  }
  const int64_t seconds =
      DaysOf(year, month, day) * kDay + hour * 3'600 + minute * 60 + second - offset;
  return seconds * kNsPerSecond + fraction;
}

std::string FormatNanos(int64_t ns) {
  return Format(ns, true);
}

std::string FormatSeconds(int64_t ns) {
  return Format(ns, false);
}

}  // namespace detent::pod
