// Reads a cron expression's text into a CronExpression. Internal to core/cron: everybody else calls
// CronExpression::Parse. One parser reads one text, on one thread.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/cron/expression.h"

namespace detent {

class CronParser {
 public:
  // Both are borrowed and must outlive the parser.
  CronParser(std::string_view text, const CronParseOptions& options)
      : text_(text), options_(options) {}

  Result<CronExpression> Parse();

 private:
  enum FieldId { kSecond, kMinute, kHour, kDayOfMonth, kMonth, kDayOfWeek, kYear };
  struct Field;  // What one field may hold.
  struct Span {  // Values first, first + step, ... up to last.
    int first = 0;
    int last = 0;
    int step = 1;
  };

  static const Field& Describe(FieldId id);

  // Replaces text_ by what it stands for, if it is an alias.
  Result<void> ReplaceAlias();
  Result<void> ParseField(FieldId id, std::string_view text);
  Result<void> ParseItem();
  Result<void> ParseWildcard();
  Result<void> ParseHash();
  Result<void> ParseWord();
  Result<void> ParseNumber();
  // What may follow a value that starts an item: "-b", "/n", or, for days, W, L and #n.
  Result<void> AfterValue(int first, bool named);
  // The second value of a range.
  Result<int> RangeEnd(int first);
  // One value, a number or a name.
  Result<int> Value();
  // "/n" if it is there, otherwise 1. The interval must not exceed `max`.
  Result<int> Interval(int max);
  Result<void> NthWeekday(int weekday);

  std::string_view Word() const;
  std::optional<int> NameValue(std::string_view word) const;
  bool Take(char letter);
  bool AtEnd() const { return at_ >= end_ || text_[at_] == ','; }
  void Set(int value);
  void SetAll(Span span);
  int Hash(int size) const;

  Error At(size_t position, const std::string& message) const;
  Error Unexpected() const;
  std::string Allowed() const;

  std::string_view text_;
  const CronParseOptions& options_;
  CronExpression expression_;
  const Field* field_ = nullptr;  // The field being read,
  FieldId id_ = kSecond;          // its number,
  size_t at_ = 0;                 // the next character of text_ to read,
  size_t end_ = 0;                // and the end of the field.
};

}  // namespace detent
