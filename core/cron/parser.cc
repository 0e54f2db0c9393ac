#include "core/cron/parser.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/base/spelling.h"
#include "core/cron/hash.h"

namespace detent {
namespace {

constexpr std::string_view kMonths[] = {"january",   "february", "march",    "april",
                                        "may",       "june",     "july",     "august",
                                        "september", "october",  "november", "december"};
constexpr std::string_view kWeekdays[] = {"sunday",   "monday", "tuesday", "wednesday",
                                          "thursday", "friday", "saturday"};

constexpr std::pair<std::string_view, std::string_view> kAliases[] = {
    {"@yearly", "0 0 0 1 1 * *"}, {"@annually", "0 0 0 1 1 * *"}, {"@monthly", "0 0 0 1 * * *"},
    {"@weekly", "0 0 0 * * 0 *"}, {"@daily", "0 0 0 * * * *"},    {"@midnight", "0 0 0 * * * *"},
    {"@hourly", "0 0 * * * * *"}};

constexpr size_t kShortName = 3;
constexpr int kTooManyDigits = 1'000'000;  // No field comes near it.

// Locale-free, as names and specials are ASCII.
bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}
char Lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}
bool IsLetter(char c) {
  return Lower(c) >= 'a' && Lower(c) <= 'z';
}
bool IsSpace(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

std::string ToLower(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(), Lower);
  return lower;
}

std::string Quoted(std::string_view text) {
  return "'" + std::string(text) + "'";
}

// One character as a message can carry it, whatever byte it is.
std::string Printable(char c) {
  if (c >= ' ' && c <= '~') return Quoted({&c, 1});
  constexpr char kHex[] = "0123456789abcdef";
  const auto byte = static_cast<unsigned char>(c);
  return std::string("byte 0x") + kHex[byte >> 4] + kHex[byte & 15];
}

std::vector<std::string_view> SplitFields(std::string_view text) {
  std::vector<std::string_view> fields;
  for (size_t at = 0; at < text.size();) {
    if (IsSpace(text[at])) {
      ++at;
      continue;
    }
    size_t end = at;
    while (end < text.size() && !IsSpace(text[end])) ++end;
    fields.push_back(text.substr(at, end - at));
    at = end;
  }
  return fields;
}

Error AtColumn(size_t position, const std::string& message) {
  return Error(Code::kInvalid, "column " + std::to_string(position + 1) + ": " + message);
}

}  // namespace

struct CronParser::Field {
  const char* name;  // Also what is hashed for H, so it must not change.
  int min;
  int max;
  int hash_max;       // H is one of min..hash_max.
  int value_max;      // The largest value that may be written: 7 for the day of the week.
  const char* names;  // How messages describe the names, or null.
};

const CronParser::Field& CronParser::Describe(FieldId id) {
  static constexpr Field kFields[] = {
      {"second", 0, 59, 59, 59, nullptr},
      {"minute", 0, 59, 59, 59, nullptr},
      {"hour", 0, 23, 23, 23, nullptr},
      {"day-of-month", 1, 31, 28, 31, nullptr},
      {"month", 1, 12, 12, 12, "jan-dec"},
      {"day-of-week", 0, 6, 6, 7, "sun-sat"},
      {"year", CronExpression::kFirstYear, CronExpression::kLastYear, CronExpression::kLastYear,
       CronExpression::kLastYear, nullptr},
  };
  return kFields[id];
}

Result<CronExpression> CronExpression::Parse(std::string_view text,
                                             const CronParseOptions& options) {
  return CronParser(text, options).Parse();
}

Result<CronExpression> CronParser::Parse() {
  if (auto replaced = ReplaceAlias(); !replaced) return std::move(replaced).error();
  const std::vector<std::string_view> fields = SplitFields(text_);
  if (fields.size() < 5 || fields.size() > 7) {
    const size_t position = fields.size() > 7 ? fields[7].data() - text_.data() : text_.size();
    return AtColumn(position, "expected 5 to 7 fields, found " + std::to_string(fields.size()));
  }
  const size_t shift = fields.size() == 7 ? 0 : 1;  // Without a second the first is the minute.
  for (size_t i = 0; i < fields.size(); ++i) {
    if (auto read = ParseField(static_cast<FieldId>(i + shift), fields[i]); !read) {
      return std::move(read).error();
    }
  }
  if (fields.size() == 5) expression_.years_ = {~uint64_t{0}, ~uint64_t{0}, 3};
  if (shift == 1) {
    id_ = kSecond;
    field_ = &Describe(kSecond);
    const bool hashed = options_.hash_seconds_by_default && !options_.hash_id.empty();
    Set(hashed ? Hash(60) : 0);
  }
  // A list with `*` in it means every day, so what stands beside it adds nothing; without it, two
  // expressions with the same meaning compare equal more often.
  if (expression_.any_day_) {
    expression_.days_ = expression_.near_days_ = 0;
    expression_.last_day_ = expression_.last_weekday_ = false;
  }
  if (expression_.any_weekday_) {
    expression_.weekdays_ = 0;
    expression_.nth_weekdays_ = 0;
  }
  return expression_;
}

Result<void> CronParser::ReplaceAlias() {
  const size_t start = text_.find('@');
  if (start == std::string_view::npos) return {};
  size_t end = start + 1;
  while (end < text_.size() && !IsSpace(text_[end])) ++end;
  const std::string word = ToLower(text_.substr(start, end - start));
  const auto* alias = std::find_if(std::begin(kAliases), std::end(kAliases),
                                   [&](const auto& entry) { return entry.first == word; });
  if (alias == std::end(kAliases)) {
    std::vector<std::string> known;
    std::string list;
    for (const auto& entry : kAliases) {
      known.emplace_back(entry.first);
      list += (list.empty() ? "" : ", ") + known.back();
    }
    return AtColumn(start, "unknown alias " + Quoted(text_.substr(start, end - start)) +
                               DidYouMean(word, known) + "; there are " + list);
  }
  const auto other = std::find_if_not(text_.begin(), text_.end(), IsSpace) - text_.begin();
  const auto rest = std::find_if_not(text_.begin() + end, text_.end(), IsSpace) - text_.begin();
  if (static_cast<size_t>(other) != start) {
    return AtColumn(start, "an alias stands alone, without other fields");
  }
  if (static_cast<size_t>(rest) != text_.size()) {
    return AtColumn(rest, "an alias stands alone, without other fields");
  }
  text_ = alias->second;
  return {};
}

Result<void> CronParser::ParseField(FieldId id, std::string_view text) {
  id_ = id;
  field_ = &Describe(id);
  at_ = text.data() - text_.data();
  end_ = at_ + text.size();
  while (true) {
    if (auto item = ParseItem(); !item) return item;
    if (at_ == end_) return {};
    if (!Take(',')) return Unexpected();
  }
}

Result<void> CronParser::ParseItem() {
  if (AtEnd()) return At(at_, "expected a value, " + Allowed());
  const char c = text_[at_];
  if (c == '*' || c == '?' || c == '/') return ParseWildcard();
  if (IsDigit(c)) return ParseNumber();
  if (IsLetter(c)) return ParseWord();
  return Unexpected();
}

// *  **  ?  ??  */n  /n
Result<void> CronParser::ParseWildcard() {
  const size_t start = at_;
  const char c = text_[at_];
  if (c != '/') {
    Take(c);
    Take(c);
  }
  if (at_ < end_ && text_[at_] == '/') {
    if (c == '?') return Unexpected();
    auto step = Interval(field_->max);
    if (!step) return std::move(step).error();
    SetAll({field_->min, field_->max, *step});
    return {};
  }
  if (at_ == start) return Unexpected();
  if (id_ == kDayOfMonth) expression_.any_day_ = true;
  if (id_ == kDayOfWeek) expression_.any_weekday_ = true;
  SetAll({field_->min, field_->max, 1});
  return {};
}

// H  H/n  H(a-b)  H(a-b)/n, with the H already read.
Result<void> CronParser::ParseHash() {
  const size_t start = at_ - 1;
  if (options_.hash_id.empty()) return At(start, "H cannot be used here: hashing is turned off");
  Span span{field_->min, field_->hash_max, 1};
  if (Take('(')) {
    auto first = Value();
    if (!first) return std::move(first).error();
    if (!Take('-')) return At(at_, "expected '-', as in H(a-b)");
    auto last = RangeEnd(*first);
    if (!last) return std::move(last).error();
    if (!Take(')')) return At(at_, "expected ')', as in H(a-b)");
    span = {*first, *last, 1};
  }
  const int size = span.last - span.first + 1;
  if (AtEnd()) {
    Set(span.first + Hash(size));
    return {};
  }
  // An interval beyond the range would make it depend on the id whether anything is left.
  auto step = Interval(std::min(size, field_->max));
  if (!step) return std::move(step).error();
  SetAll({span.first + Hash(*step), span.last, *step});
  return {};
}

// Anything that begins with a letter: H, L, LW, or a name.
Result<void> CronParser::ParseWord() {
  const size_t start = at_;
  const std::string word = ToLower(Word());
  if (word == "h") {
    ++at_;
    return ParseHash();
  }
  if (id_ == kDayOfMonth && (word == "l" || word == "lw")) {
    at_ += word.size();
    if (word == "l") {
      expression_.last_day_ = true;
    } else {
      expression_.last_weekday_ = true;
    }
    return {};
  }
  if (id_ == kDayOfWeek && word == "l") {
    return At(start, "L needs a weekday in front of it, as in 5L for the last Friday");
  }
  // "friL": no name of a weekday ends in an L of its own.
  if (id_ == kDayOfWeek && word.back() == 'l') {
    if (auto value = NameValue(std::string_view(word).substr(0, word.size() - 1))) {
      at_ += word.size() - 1;
      return AfterValue(*value, true);
    }
  }
  auto value = Value();
  if (!value) return std::move(value).error();
  return AfterValue(*value, true);
}

Result<void> CronParser::ParseNumber() {
  auto value = Value();
  if (!value) return std::move(value).error();
  return AfterValue(*value, false);
}

Result<void> CronParser::AfterValue(int first, bool named) {
  if (AtEnd()) {
    Set(first);
    return {};
  }
  if (id_ == kDayOfMonth && !named && (Take('w') || Take('W'))) {
    expression_.near_days_ |= 1U << first;
    return {};
  }
  if (id_ == kDayOfWeek && (Take('l') || Take('L'))) {
    expression_.nth_weekdays_ |= uint64_t{1} << (first % 7 * 6);
    return {};
  }
  if (id_ == kDayOfWeek && Take('#')) return NthWeekday(first % 7);

  Span span{first, field_->max, 1};
  if (Take('-')) {
    auto last = RangeEnd(first);
    if (!last) return std::move(last).error();
    span.last = *last;
  } else if (text_[at_] != '/') {
    return Unexpected();
  }
  // "7/n" begins with the week's other end, which the loop over 7..6 would lose.
  span.last = std::max(span.last, span.first);
  auto step = Interval(field_->max);
  if (!step) return std::move(step).error();
  span.step = *step;
  SetAll(span);
  return {};
}

Result<int> CronParser::RangeEnd(int first) {
  const size_t start = at_;
  auto last = Value();
  if (!last) return last;
  // As the end of a range Sunday comes after Saturday.
  if (id_ == kDayOfWeek && *last == 0 && first > 0 && IsLetter(text_[start])) last = 7;
  if (*last < first) {
    return At(start, "the range ends at " + std::to_string(*last) + ", before its beginning " +
                         std::to_string(first));
  }
  return last;
}

Result<int> CronParser::Value() {
  const size_t start = at_;
  if (AtEnd()) return At(at_, "expected a value, " + Allowed());
  if (IsLetter(text_[at_])) {
    const std::string_view word = Word();
    const std::optional<int> value = NameValue(word);
    if (!value) return At(start, Quoted(word) + " is not " + Allowed());
    at_ += word.size();
    return *value;
  }
  if (!IsDigit(text_[at_])) return Unexpected();
  int value = 0;
  while (at_ < end_ && IsDigit(text_[at_])) {
    value = std::min(value * 10 + (text_[at_++] - '0'), kTooManyDigits);
  }
  if (value < field_->min || value > field_->value_max) {
    return At(start, std::string(text_.substr(start, at_ - start)) + " is not " + Allowed());
  }
  return value;
}

Result<int> CronParser::Interval(int max) {
  if (!Take('/')) return 1;
  const size_t start = at_;
  int value = 0;
  while (at_ < end_ && IsDigit(text_[at_])) {
    value = std::min(value * 10 + (text_[at_++] - '0'), kTooManyDigits);
  }
  const std::string allowed = "in 1-" + std::to_string(max);
  if (at_ == start) return At(at_, "expected an interval " + allowed);
  if (value < 1 || value > max) {
    return At(start, "the interval " + std::string(text_.substr(start, at_ - start)) + " is not " +
                         allowed);
  }
  return value;
}

Result<void> CronParser::NthWeekday(int weekday) {
  const size_t start = at_;
  int n = 0;
  while (at_ < end_ && IsDigit(text_[at_])) n = std::min(n * 10 + (text_[at_++] - '0'), 10);
  if (n < 1 || n > 5) return At(start, "after # comes which one of the month, in 1-5");
  expression_.nth_weekdays_ |= uint64_t{1} << (weekday * 6 + n);
  return {};
}

std::string_view CronParser::Word() const {
  size_t end = at_;
  while (end < end_ && IsLetter(text_[end])) ++end;
  return text_.substr(at_, end - at_);
}

std::optional<int> CronParser::NameValue(std::string_view word) const {
  const std::string lower = ToLower(word);
  const auto find = [&](const auto& names, int first) -> std::optional<int> {
    for (size_t i = 0; i < std::size(names); ++i) {
      if (lower == names[i] || lower == names[i].substr(0, kShortName)) {
        return static_cast<int>(i) + first;
      }
    }
    return std::nullopt;
  };
  if (id_ == kMonth) return find(kMonths, 1);
  if (id_ == kDayOfWeek) return find(kWeekdays, 0);
  return std::nullopt;
}

bool CronParser::Take(char letter) {
  if (at_ >= end_ || text_[at_] != letter) return false;
  ++at_;
  return true;
}

void CronParser::Set(int value) {
  const uint64_t bit = uint64_t{1} << (value & 63);
  switch (id_) {
    case kSecond:
      expression_.seconds_ |= bit;
      break;
    case kMinute:
      expression_.minutes_ |= bit;
      break;
    case kHour:
      expression_.hours_ |= static_cast<uint32_t>(bit);
      break;
    case kDayOfMonth:
      expression_.days_ |= static_cast<uint32_t>(bit);
      break;
    case kMonth:
      expression_.months_ |= static_cast<uint16_t>(bit);
      break;
    case kDayOfWeek:
      expression_.weekdays_ |= static_cast<uint8_t>(1U << value % 7);
      break;
    case kYear: {
      const auto year = static_cast<unsigned>(value - CronExpression::kFirstYear);
      expression_.years_[year / 64] |= uint64_t{1} << year % 64;
      break;
    }
  }
}

void CronParser::SetAll(Span span) {
  for (int value = span.first; value <= span.last; value += span.step) Set(value);
}

int CronParser::Hash(int size) const {
  std::string id(options_.hash_id);
  if (options_.hash_fields) id.append(":").append(field_->name);
  // The remainder of the signed value, made positive, rather than of the unsigned one: Furiko's
  // schedules would move otherwise.
  const auto rest = static_cast<int>(static_cast<int64_t>(XxHash64(id)) % size);
  return rest < 0 ? rest + size : rest;
}

Error CronParser::At(size_t position, const std::string& message) const {
  return AtColumn(position, std::string(field_->name) + ": " + message);
}

Error CronParser::Unexpected() const {
  if (at_ >= end_) return At(at_, "expected more");
  return At(at_, "unexpected " + Printable(text_[at_]));
}

std::string CronParser::Allowed() const {
  std::string allowed =
      "in " + std::to_string(field_->min) + "-" + std::to_string(field_->value_max);
  if (field_->names != nullptr) allowed += std::string(" or ") + field_->names;
  return allowed;
}

}  // namespace detent
