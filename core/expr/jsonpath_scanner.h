// The characters of an expression, read from left to right: what strings, names and numbers look
// like (RFC 9535). What reads a thing returns false if it is malformed, and keeps the first mistake
// with its place. One thread; the text is borrowed.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/json.h"
#include "core/base/result.h"
#include "core/expr/jsonpath.h"

namespace detent::jsonpath {

class Scanner {
 public:
  // Requires: UTF-8.
  Scanner(std::string_view text, ExprDialect dialect) : text_(text), dialect_(dialect) {}

  size_t at() const { return at_; }
  void Return(size_t at) { at_ = at; }
  bool AtEnd() const { return at_ == text_.size(); }
  std::string_view rest() const { return text_.substr(at_); }

  // The byte that many further on; NUL beyond the end.
  char Peek(size_t further = 0) const {
    return further < text_.size() - at_ ? text_[at_ + further] : '\0';
  }
  bool Take(char c);
  bool Take(std::string_view word);
  bool SkipSpace();  // True if there was any.
  char PeekBehindSpace() const;

  // A letter, '_' or anything beyond ASCII begins a name.
  bool NextBeginsName() const;
  // Requires: NextBeginsName().
  bool ReadName(std::string& out);
  // Requires: a quote comes next.
  bool ReadString(std::string& out);
  // An index or a bound of a slice: within what a double holds exactly.
  bool ReadInteger(int64_t& out);
  bool ReadNumber(Json& out);
  // The letters, digits and underscores that come next.
  std::string_view PeekWord() const;

  // All return false. FailExpected names what stands here instead.
  bool Fail(size_t at, std::string message, std::string hint = "");
  bool FailExpected(const std::string& what);
  bool FailExpected(const std::string& what, std::string hint);
  bool FailTooLarge(size_t at, std::string message);

  // The column of a place.
  int ColumnOf(size_t at) const;
  // Requires: something failed.
  const ExpressionMistake& mistake() const { return *mistake_; }
  Code code() const { return code_; }

 private:
  bool ReadEscape(char quote, std::string& out);
  bool ReadUnicodeEscape(size_t begin, std::string& out);
  std::optional<char32_t> ReadHex();

  std::string_view text_;
  ExprDialect dialect_;
  size_t at_ = 0;
  std::optional<ExpressionMistake> mistake_;
  Code code_ = Code::kInvalid;
};

}  // namespace detent::jsonpath
