#include "core/expr/jsonpath_scanner.h"

#include <charconv>
#include <utility>

#include "core/base/text_position.h"
#include "core/expr/code_points.h"
#include "core/expr/jsonpath_slips.h"

namespace detent::jsonpath {
namespace {

constexpr int64_t kIntegerMax = (int64_t{1} << 53) - 1;

bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}
bool BeginsName(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}

}  // namespace

bool Scanner::Take(char c) {
  if (AtEnd() || text_[at_] != c) return false;
  ++at_;
  return true;
}

bool Scanner::Take(std::string_view word) {
  if (!rest().starts_with(word)) return false;
  at_ += word.size();
  return true;
}

bool Scanner::SkipSpace() {
  const size_t begin = at_;
  while (!AtEnd() && IsBlank(text_[at_])) ++at_;
  return at_ > begin;
}

char Scanner::PeekBehindSpace() const {
  const size_t next = text_.find_first_not_of(" \t\n\r", at_);
  return next == text_.npos ? '\0' : text_[next];
}

bool Scanner::NextBeginsName() const {
  return BeginsName(Peek());
}

std::string_view Scanner::PeekWord() const {
  size_t end = at_;
  while (end < text_.size() && (BeginsName(text_[end]) || IsDigit(text_[end]))) ++end;
  return text_.substr(at_, end - at_);
}

bool Scanner::ReadName(std::string& out) {
  const bool relaxed = dialect_ == ExprDialect::kCondition;
  while (!AtEnd()) {
    const char c = Peek();
    if (relaxed && c == '\\') {
      ++at_;
      if (AtEnd()) return Fail(at_, "expected a character behind the backslash");
      AppendCodePoint(out, NextCodePoint(text_, at_));
      continue;
    }
    const bool further = BeginsName(c) || IsDigit(c) || (relaxed && (c == '-' || c == '/'));
    if (!further) break;
    out += c;
    ++at_;
  }
  return true;
}

bool Scanner::ReadString(std::string& out) {
  const size_t begin = at_;
  const char quote = text_[at_++];
  while (!AtEnd()) {
    const char c = text_[at_];
    if (static_cast<unsigned char>(c) < 0x20) {
      return Fail(at_, "a control character in a string must be escaped",
                  "write \\n, \\t or \\u00..");
    }
    ++at_;
    if (c == quote) return true;
    if (c != '\\') {
      out += c;
    } else if (!ReadEscape(quote, out)) {
      return false;
    }
  }
  return Fail(begin, "this string has no end", std::string("close it with ") + quote);
}

bool Scanner::ReadEscape(char quote, std::string& out) {
  static constexpr std::pair<char, char> kEscapes[] = {
      {'b', '\b'}, {'f', '\f'}, {'n', '\n'}, {'r', '\r'}, {'t', '\t'}, {'/', '/'}, {'\\', '\\'}};
  const size_t begin = at_ - 1;
  const char c = Peek();
  if (Take('u')) return ReadUnicodeEscape(begin, out);
  if (Take(quote)) {
    out += quote;
    return true;
  }
  for (const auto& [letter, meant] : kEscapes) {
    if (c != letter) continue;
    ++at_;
    out += meant;
    return true;
  }
  if (c == '"' || c == '\'') {
    return Fail(begin, "malformed escape in a string", "this quote needs no backslash here");
  }
  return Fail(begin, "malformed escape in a string", "a backslash is written \\\\");
}

std::optional<char32_t> Scanner::ReadHex() {
  unsigned value = 0;
  const std::string_view digits = rest().substr(0, 4);
  const char* const end = digits.data() + digits.size();
  if (digits.size() < 4 || std::from_chars(digits.data(), end, value, 16).ptr != end) {
    return std::nullopt;
  }
  at_ += 4;
  return static_cast<char32_t>(value);
}

bool Scanner::ReadUnicodeEscape(size_t begin, std::string& out) {
  const auto first = ReadHex();
  if (!first) return Fail(begin, "\\u takes four hexadecimal digits");
  char32_t c = *first;
  if (c >= 0xDC00 && c <= 0xDFFF) return Fail(begin, "the first half of this character is missing");
  if (c >= 0xD800 && c <= 0xDBFF) {
    const auto second = Take("\\u") ? ReadHex() : std::nullopt;
    if (!second || *second < 0xDC00 || *second > 0xDFFF) {
      return Fail(begin, "the second half of this character is missing");
    }
    c = 0x10000 + ((c - 0xD800) << 10) + (*second - 0xDC00);
  }
  AppendCodePoint(out, c);
  return true;
}

bool Scanner::ReadInteger(int64_t& out) {
  const size_t begin = at_;
  const bool negative = Take('-');
  const size_t digits = at_;
  while (IsDigit(Peek())) ++at_;
  if (at_ == digits) return FailExpected("a number", HintForSelector(rest()));
  if (text_[digits] == '0' && (negative || at_ > digits + 1)) {
    return Fail(begin, "a number has no leading zeros, and 0 no sign");
  }
  const auto read = std::from_chars(text_.data() + begin, text_.data() + at_, out);
  if (read.ec != std::errc() || out > kIntegerMax || out < -kIntegerMax) {
    return Fail(begin, "beyond " + std::to_string(kIntegerMax) + ", the largest index there is");
  }
  return true;
}

bool Scanner::ReadNumber(Json& out) {
  const size_t begin = at_;
  size_t end = at_;
  for (char c = Peek(); IsDigit(c) || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E';) {
    c = Peek(++end - at_);
  }
  auto number = ParseJson(text_.substr(begin, end - begin));
  if (!number) return Fail(begin, "malformed number", "as in JSON: -1, 0.5, 1e9");
  out = std::move(*number);
  at_ = end;
  return true;
}

bool Scanner::Fail(size_t at, std::string message, std::string hint) {
  if (!mistake_) {
    ExpressionMistake& mistake = mistake_.emplace();
    mistake.column = ColumnOf(at);
    mistake.message = "column " + std::to_string(mistake.column) + ": " + std::move(message);
    mistake.hint = std::move(hint);
  }
  return false;
}

bool Scanner::FailExpected(const std::string& what) {
  return FailExpected(what, HintAt(rest()));
}

bool Scanner::FailExpected(const std::string& what, std::string hint) {
  return Fail(at_, "expected " + what + ", not " + Shown(rest()), std::move(hint));
}

bool Scanner::FailTooLarge(size_t at, std::string message) {
  if (!mistake_) code_ = Code::kTooLarge;
  return Fail(at, std::move(message));
}

int Scanner::ColumnOf(size_t at) const {
  return CountCharacters(text_.substr(0, at)) + 1;
}

}  // namespace detent::jsonpath
