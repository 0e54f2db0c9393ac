#include "core/base/result.h"

#include <gtest/gtest.h>

#include <memory>

namespace detent {
namespace {

Result<int> Half(int number) {
  if (number % 2 != 0) return Error(Code::kInvalid, "odd");
  return number / 2;
}

Result<int> Quarter(int number) {
  const int half = TRY(Half(number));
  return Half(half);
}

Result<void> OnlyEven(int number) {
  TRY(Half(number));
  return {};
}

TEST(Result, CarriesAValueOrAnError) {
  EXPECT_EQ(*Quarter(8), 2);
  EXPECT_EQ(Quarter(6).error(), Error(Code::kInvalid, "odd"));
  EXPECT_TRUE(OnlyEven(2));
  EXPECT_FALSE(OnlyEven(3));
}

TEST(Result, MovesWhatCannotBeCopied) {
  Result<std::unique_ptr<int>> result = std::make_unique<int>(4);
  const std::unique_ptr<int> value = *std::move(result);
  EXPECT_EQ(*value, 4);
}

TEST(Error, IsReadOutsideIn) {
  const Error error = Error(Code::kNotFound, "no such file").While("open '/x'").While("load");
  EXPECT_EQ(error.message(), "load: open '/x': no such file");
  EXPECT_EQ(error.code(), Code::kNotFound);
}

TEST(Error, HasANameAndARemedyForEachCode) {
  struct Case {
    Code code;
    const char* name;
    Remedy remedy;
  };
  const Case cases[] = {
      {Code::kInvalid, "Invalid", Remedy::kFixInput},
      {Code::kUnauthorized, "Unauthorized", Remedy::kFixInput},
      {Code::kForbidden, "Forbidden", Remedy::kFixInput},
      {Code::kNotFound, "NotFound", Remedy::kGone},
      {Code::kUnsupported, "Unsupported", Remedy::kFixInput},
      {Code::kAlreadyExists, "AlreadyExists", Remedy::kReread},
      {Code::kConflict, "Conflict", Remedy::kReread},
      {Code::kExpired, "Expired", Remedy::kReread},
      {Code::kTooLarge, "TooLarge", Remedy::kFixInput},
      {Code::kBusy, "Busy", Remedy::kRetry},
      {Code::kUnavailable, "Unavailable", Remedy::kRetry},
      {Code::kDeadline, "Deadline", Remedy::kRetry},
      {Code::kInternal, "Internal", Remedy::kReportBug},
  };
  for (const Case& c : cases) {
    EXPECT_STREQ(NameOf(c.code), c.name);
    EXPECT_EQ(Error(c.code, "").remedy(), c.remedy) << c.name;
  }
}

}  // namespace
}  // namespace detent
