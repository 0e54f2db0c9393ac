#include "core/cron/zone.h"

#include <date/tz.h>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "core/base/spelling.h"
#include "core/cron/zone_rule.h"

namespace detent {

using std::chrono::hours;
using std::chrono::seconds;
using std::chrono::sys_seconds;

// The files list their changes one by one, as far as 2037 or less; a rule at the end says how it
// goes on. The date library reads the list only, so the rule is read here.
struct Zone::Table {
  const date::time_zone* listed = nullptr;
  sys_seconds rule_begin = sys_seconds::max();
  std::optional<ZoneRule> rule;
};

namespace {

constexpr int kSecondsPerHour = 3600;
constexpr int kSecondsPerMinute = 60;

bool IsDigits(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

int Number(std::string_view digits) {
  int value = 0;
  for (const char digit : digits) value = value * 10 + (digit - '0');
  return value;
}

// Reads "+5", "-05", "+5:30", "-05:30" or "+0530" into seconds.
std::optional<int32_t> ParseOffset(std::string_view text) {
  if (text.size() < 2 || (text[0] != '+' && text[0] != '-')) return std::nullopt;
  std::string_view hour = text.substr(1);
  std::string_view minute;
  if (const size_t colon = hour.find(':'); colon != std::string_view::npos) {
    minute = hour.substr(colon + 1);
    hour = hour.substr(0, colon);
    if (minute.size() != 2) return std::nullopt;
  } else if (hour.size() == 4) {
    minute = hour.substr(2);
    hour = hour.substr(0, 2);
  }
  if (hour.empty() || hour.size() > 2 || !IsDigits(hour) || !IsDigits(minute)) return std::nullopt;
  if (Number(hour) > 23 || Number(minute) > 59) return std::nullopt;
  const int32_t distance = Number(hour) * kSecondsPerHour + Number(minute) * kSecondsPerMinute;
  return text[0] == '-' ? -distance : distance;
}

// The rule at the end of a zone's file (RFC 8536, section 3.3), or empty. `name` is one that the
// library has listed, so it cannot lead out of the directory.
std::string ReadRule(const std::string& name) {
  std::ifstream file("/usr/share/zoneinfo/" + name, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  if (bytes.size() < 2 || bytes.back() != '\n') return "";
  const size_t start = bytes.rfind('\n', bytes.size() - 2);
  return start == std::string::npos ? "" : bytes.substr(start + 1, bytes.size() - start - 2);
}

// Throws if the file is not readable or not a zone.
template <typename Table>
std::unique_ptr<Table> LoadTable(const date::time_zone& listed) {
  auto table = std::make_unique<Table>();
  table->listed = &listed;
  constexpr sys_seconds kLate = date::sys_days(date::year(2500) / 1 / 1);
  const date::sys_info last = listed.get_info(kLate);
  table->rule = ZoneRule::Parse(ReadRule(listed.name()));
  if (table->rule) table->rule_begin = last.begin;
  return table;
}

std::string AddHint(std::string_view name) {
  std::vector<std::string> known = {"UTC", "GMT"};
  for (const date::time_zone& zone : date::get_tzdb().zones) known.push_back(zone.name());
  return DidYouMean(name, known);
}

}  // namespace

Result<const Zone::Table*> Zone::FindTable(std::string_view name) {
  static std::mutex mutex;
  // On the heap and never freed: a thread may still read its zone while the process exits.
  static auto& tables = *new std::map<std::string, std::unique_ptr<const Table>, std::less<>>;
  const std::lock_guard lock(mutex);
  if (const auto found = tables.find(name); found != tables.end()) return found->second.get();
  try {
    const auto& zones = date::get_tzdb().zones;
    if (zones.empty()) throw std::runtime_error("it is empty");
    const auto listed = std::find_if(zones.begin(), zones.end(),
                                     [&](const auto& zone) { return zone.name() == name; });
    if (listed == zones.end()) {
      return Error(Code::kInvalid, "unknown time zone '" + std::string(name) + "'" + AddHint(name));
    }
    std::unique_ptr<const Table> table = LoadTable<Table>(*listed);
    return tables.emplace(name, std::move(table)).first->second.get();
  } catch (const std::exception& e) {
    return Error(Code::kUnsupported,
                 "time zone '" + std::string(name) +
                     "' cannot be read from this machine's time zone database (install the package "
                     "tzdata, or use an offset such as UTC+02:00): " +
                     e.what());
  }
}

Result<Zone> Zone::Find(std::string_view name) {
  Zone zone;
  if (name.empty() || name == "Local" || name == "UTC" || name == "GMT") return zone;
  if (name.starts_with("UTC") || name.starts_with("GMT")) {
    const std::optional<int32_t> offset = ParseOffset(name.substr(3));
    if (offset) {
      zone.offset_seconds_ = *offset;
      return zone;
    }
    if (name[3] == '+' || name[3] == '-') {
      return Error(Code::kInvalid, "time zone '" + std::string(name) +
                                       "' has no valid offset: write it as UTC+5, UTC+05:30 or "
                                       "UTC-0530, up to 23:59");
    }
  }
  auto table = FindTable(name);
  if (!table) return std::move(table).error();
  zone.table_ = *table;
  return zone;
}

std::string Zone::name() const {
  if (table_ != nullptr) return table_->listed->name();
  if (offset_seconds_ == 0) return "UTC";
  const int minutes = std::abs(offset_seconds_) / kSecondsPerMinute;
  std::string text = offset_seconds_ < 0 ? "UTC-00:00" : "UTC+00:00";
  const auto put = [&](size_t at, int value) {
    text[at] = static_cast<char>('0' + value / 10);
    text[at + 1] = static_cast<char>('0' + value % 10);
  };
  put(4, minutes / 60);
  put(7, minutes % 60);
  return text;
}

ClockPeriod Zone::PeriodAt(sys_seconds time) const {
  if (table_ == nullptr) {
    return {sys_seconds::min(), sys_seconds::max(), seconds(offset_seconds_)};
  }
  if (table_->rule && time >= table_->rule_begin) {
    ClockPeriod period = table_->rule->PeriodAt(time);
    period.begin = std::max(period.begin, table_->rule_begin);
    return period;
  }
  const date::sys_info info = table_->listed->get_info(time);
  // The library ends the last listed period at the end of time, or where the rule takes over.
  return {info.begin, std::min(info.end, table_->rule_begin), info.offset};
}

Zone::Moments Zone::ToAbsolute(CivilSecond time) const {
  // No place is, or was, further than this from UTC.
  constexpr hours kFarthest(26);
  const sys_seconds as_utc(time.time_since_epoch());
  Moments moments{Fit::kSkipped, as_utc, as_utc};
  for (ClockPeriod period = PeriodAt(as_utc - kFarthest); period.begin <= as_utc + kFarthest;
       period = PeriodAt(period.end)) {
    const sys_seconds moment = as_utc - period.offset;
    if (moment >= period.begin && moment < period.end) {
      const bool again = moments.fit != Fit::kSkipped;
      moments.fit = again ? Fit::kRepeated : Fit::kUnique;
      if (!again) moments.first = moment;
      moments.last = moment;
    } else if (moment < period.begin && moments.fit == Fit::kSkipped) {
      moments.first = moments.last = period.begin;
      return moments;
    }
    if (period.end > as_utc + kFarthest) break;
  }
  return moments;
}

}  // namespace detent
