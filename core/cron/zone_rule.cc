#include "core/cron/zone_rule.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

namespace detent {

using std::chrono::days;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using std::chrono::sys_days;
using std::chrono::sys_seconds;

// Reads the text from left to right; each function takes what it names and returns false if
// something else is there.
class ZoneRuleParser {
 public:
  explicit ZoneRuleParser(std::string_view text) : text_(text) {}

  bool Read(ZoneRule& rule) {
    seconds west{0};
    if (!Name() || !Time(west)) return false;
    rule.standard_ = -west;
    if (!Name()) return false;
    rule.summer_ = rule.standard_ + hours(1);
    if (Peek() != ',') {
      if (!Time(west)) return false;
      rule.summer_ = -west;
    }
    return Take(',') && Day(rule.to_summer_) && Take(',') && Day(rule.to_standard_) &&
           at_ == text_.size();
  }

 private:
  char Peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  bool Take(char c) {
    if (Peek() != c || at_ >= text_.size()) return false;
    ++at_;
    return true;
  }

  // "EST" or "<-03>".
  bool Name() {
    const size_t start = at_;
    if (Take('<')) {
      while (at_ < text_.size() && Peek() != '>') ++at_;
      return Take('>');
    }
    const auto is_letter = [](char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); };
    while (is_letter(Peek())) ++at_;
    return at_ > start;
  }

  template <typename Integer>
  bool Number(Integer min, Integer max, Integer& value) {
    const size_t start = at_;
    int read = 0;
    while (Peek() >= '0' && Peek() <= '9')
      read = std::min(read * 10 + (text_[at_++] - '0'), 10'000);
    value = static_cast<Integer>(read);
    return at_ > start && value >= min && value <= max;
  }

  // [+-]h[h[h]][:mm[:ss]]
  bool Time(seconds& time) {
    const bool negative = Peek() == '-';
    if (negative || Peek() == '+') ++at_;
    int hour = 0;
    int minute = 0;
    int second = 0;
    if (!Number(0, 167, hour)) return false;
    if (Take(':') && !Number(0, 59, minute)) return false;
    if (Take(':') && !Number(0, 59, second)) return false;
    time = hours(hour) + minutes(minute) + seconds(second);
    if (negative) time = -time;
    return true;
  }

  // Mm.w.d, Jn or n, then perhaps /time.
  bool Day(ZoneRule::Change& change) {
    using Form = ZoneRule::Change::Form;
    if (Take('M')) {
      change.form = Form::kWeekday;
      if (!Number(1U, 12U, change.month) || !Take('.')) return false;
      if (!Number(1U, 5U, change.week) || !Take('.')) return false;
      if (!Number(0U, 6U, change.weekday)) return false;
    } else if (Take('J')) {
      change.form = Form::kYearDayNoLeap;
      if (!Number(1, 365, change.day)) return false;
      --change.day;
    } else {
      change.form = Form::kYearDay;
      if (!Number(0, 365, change.day)) return false;
    }
    return !Take('/') || Time(change.time);
  }

  std::string_view text_;
  size_t at_ = 0;
};

std::optional<ZoneRule> ZoneRule::Parse(std::string_view text) {
  ZoneRule rule;
  if (!ZoneRuleParser(text).Read(rule)) return std::nullopt;
  return rule;
}

sys_seconds ZoneRule::Change::In(std::chrono::year year, seconds offset) const {
  sys_days date = sys_days(year / 1 / 1) + days(day);
  if (form == Form::kWeekday) {
    const std::chrono::weekday wanted(weekday);
    date = week == 5 ? sys_days(year / month / wanted[std::chrono::last])
                     : sys_days(year / month / wanted[week]);
  } else if (form == Form::kYearDayNoLeap && year.is_leap() && day >= 59) {
    date += days(1);
  }
  return date + time - offset;
}

ClockPeriod ZoneRule::PeriodAt(sys_seconds time) const {
  const std::chrono::year_month_day today(std::chrono::floor<days>(time));
  // A change near New Year may fall into the neighbouring year of UTC.
  std::array<std::pair<sys_seconds, seconds>, 6> changes;
  size_t count = 0;
  for (int shift = -1; shift <= 1; ++shift) {
    const std::chrono::year year = today.year() + std::chrono::years(shift);
    changes[count++] = {to_standard_.In(year, summer_), standard_};
    changes[count++] = {to_summer_.In(year, standard_), summer_};
  }
  // Where both fall on one moment, as a rule for summer time all the year writes it, summer wins:
  // it stays behind the other.
  std::stable_sort(changes.begin(), changes.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  const auto after = std::find_if(changes.begin() + 1, changes.end() - 1,
                                  [&](const auto& change) { return change.first > time; });
  return {(after - 1)->first, after->first, (after - 1)->second};
}

}  // namespace detent
