// Shorthand of the cron tests: expressions and times as text.

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/clock.h"
#include "core/cron/expression.h"
#include "core/cron/schedule.h"

namespace detent {

inline CronExpression Cron(std::string_view text, const CronParseOptions& options = {}) {
  auto parsed = CronExpression::Parse(text, options);
  if (!parsed) {
    ADD_FAILURE() << text << ": " << parsed.error().message();
    return *CronExpression::Parse("0 0 1 1 *");
  }
  return *parsed;
}

inline std::string CronError(std::string_view text, const CronParseOptions& options = {}) {
  auto parsed = CronExpression::Parse(text, options);
  if (parsed) return "(valid)";
  EXPECT_EQ(parsed.error().code(), Code::kInvalid);
  return parsed.error().message();
}

inline Schedule ScheduleOf(std::string_view expression, std::string_view zone = "UTC") {
  auto parsed = Schedule::Parse({std::string(expression)}, zone);
  if (!parsed) {
    ADD_FAILURE() << expression << ": " << parsed.error().message();
    return *Schedule::Parse({"0 0 1 1 *"}, "UTC");
  }
  return *parsed;
}

inline WallTime At(std::string_view text) {
  auto time = ParseTime(text);
  EXPECT_TRUE(time) << text;
  return time.value_or(WallTime());
}

// The slot after `after`, as RFC 3339 in UTC, or "never".
inline std::string NextText(const Schedule& schedule, std::string_view after) {
  const auto next = schedule.NextAfter(At(after));
  return next ? FormatTime(*next) : "never";
}

// The first `count` slots after `after`.
inline std::vector<std::string> Slots(const Schedule& schedule, std::string_view after, int count) {
  std::vector<std::string> slots;
  std::optional<WallTime> time = At(after);
  while (count-- > 0 && (time = schedule.NextAfter(*time))) slots.push_back(FormatTime(*time));
  return slots;
}

}  // namespace detent
