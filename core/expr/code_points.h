// The characters of UTF-8 text, one at a time. Pure; any thread.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace detent {

// Code points from `first` to `last`, both included.
struct CodeRange {
  char32_t first;
  char32_t last;
  bool operator==(const CodeRange&) const = default;
};

inline constexpr char32_t kCodePointMax = 0x10FFFF;

// The character at `at`, which moves behind it. Requires: at < text.size(). A byte that belongs to
// no character counts as U+FFFD.
char32_t NextCodePoint(std::string_view text, size_t& at);

// Space as the grammar of JSON, and of JSONPath, knows it.
inline bool IsBlank(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

// Appends it as UTF-8. Requires: at most kCodePointMax, and no surrogate.
void AppendCodePoint(std::string& out, char32_t c);

}  // namespace detent
