#include "core/base/yaml_scalar.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>

namespace detent {

namespace {

template <size_t N>
bool IsOneOf(std::string_view text, const std::string_view (&words)[N]) {
  return std::find(std::begin(words), std::end(words), text) != std::end(words);
}

bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}

// The core schema's integers in base 8 and 16 have no sign.
ResolvedScalar InBase(std::string_view digits, int base, std::string_view text) {
  uint64_t number = 0;
  const char* const end = digits.data() + digits.size();
  const auto [stopped, error] = std::from_chars(digits.data(), end, number, base);
  if (digits.empty() || stopped != end) return {ScalarKind::kString, text};
  if (error != std::errc()) return {ScalarKind::kNoJson, Json()};
  if (number <= uint64_t{INT64_MAX}) return {ScalarKind::kInt, static_cast<int64_t>(number)};
  return {ScalarKind::kInt, static_cast<double>(number)};
}

size_t SkipDigits(std::string_view text, size_t at) {
  while (at < text.size() && IsDigit(text[at])) ++at;
  return at;
}

// [0-9]+ ( \. [0-9]* )? | \. [0-9]+, then an exponent; `text` has no sign.
bool IsFloat(std::string_view text) {
  size_t at = SkipDigits(text, 0);
  size_t digits = at;
  if (at < text.size() && text[at] == '.') {
    const size_t end = SkipDigits(text, at + 1);
    digits += end - at - 1;
    at = end;
  }
  if (digits == 0) return false;
  if (at == text.size()) return true;
  if (text[at] != 'e' && text[at] != 'E') return false;
  ++at;
  if (at < text.size() && (text[at] == '+' || text[at] == '-')) ++at;
  return at < text.size() && SkipDigits(text, at) == text.size();
}

ResolvedScalar Decimal(std::string_view text) {
  // from_chars knows no '+', and the schema allows one sign only.
  std::string_view number = text;
  const bool signed_number = number[0] == '+' || number[0] == '-';
  const std::string_view magnitude = number.substr(signed_number ? 1 : 0);
  if (number[0] == '+') number.remove_prefix(1);
  const char* const end = number.data() + number.size();
  const bool integer =
      !magnitude.empty() && std::all_of(magnitude.begin(), magnitude.end(), IsDigit);
  int64_t whole = 0;
  if (integer && std::from_chars(number.data(), end, whole).ec == std::errc()) {
    return {ScalarKind::kInt, whole};
  }
  if (!IsFloat(magnitude)) return {ScalarKind::kString, text};
  double value = 0;
  if (std::from_chars(number.data(), end, value).ec != std::errc()) {
    return {ScalarKind::kNoJson, Json()};
  }
  return {integer ? ScalarKind::kInt : ScalarKind::kFloat, value};
}

}  // namespace

ResolvedScalar ResolveYamlScalar(std::string_view text) {
  static constexpr std::string_view kNulls[] = {"", "~", "null", "Null", "NULL"};
  static constexpr std::string_view kTrues[] = {"true", "True", "TRUE"};
  static constexpr std::string_view kFalses[] = {"false", "False", "FALSE"};
  static constexpr std::string_view kNumberless[] = {".inf",  ".Inf",  ".INF",  "+.inf",
                                                     "+.Inf", "+.INF", "-.inf", "-.Inf",
                                                     "-.INF", ".nan",  ".NaN",  ".NAN"};
  if (IsOneOf(text, kNulls)) return {ScalarKind::kNull, Json()};
  if (IsOneOf(text, kTrues)) return {ScalarKind::kBool, true};
  if (IsOneOf(text, kFalses)) return {ScalarKind::kBool, false};
  if (IsOneOf(text, kNumberless)) return {ScalarKind::kNoJson, Json()};
  const char first = text[0];
  if (!IsDigit(first) && first != '+' && first != '-' && first != '.') {
    return {ScalarKind::kString, text};
  }
  if (text.substr(0, 2) == "0x") return InBase(text.substr(2), 16, text);
  if (text.substr(0, 2) == "0o") return InBase(text.substr(2), 8, text);
  return Decimal(text);
}

}  // namespace detent
