#include "core/expr/code_points.h"

#include <cstdint>

namespace detent {
namespace {

constexpr char32_t kReplacement = 0xFFFD;

// Sequences of this length begin with this byte, and stand for code points from `least`.
struct Utf8Form {
  uint8_t mask;
  uint8_t lead;
  size_t size;
  char32_t least;
};
constexpr Utf8Form kUtf8Forms[] = {
    {0xE0, 0xC0, 2, 0x80}, {0xF0, 0xE0, 3, 0x800}, {0xF8, 0xF0, 4, 0x10000}};

}  // namespace

char32_t NextCodePoint(std::string_view text, size_t& at) {
  const auto lead = static_cast<uint8_t>(text[at++]);
  if (lead < 0x80) return lead;
  for (const Utf8Form& form : kUtf8Forms) {
    if ((lead & form.mask) != form.lead) continue;
    if (text.size() - at < form.size - 1) return kReplacement;
    char32_t c = lead & ~form.mask & 0xFFu;
    for (size_t i = 0; i + 1 < form.size; ++i) {
      const auto byte = static_cast<uint8_t>(text[at + i]);
      if ((byte & 0xC0) != 0x80) return kReplacement;
      c = c << 6 | (byte & 0x3Fu);
    }
    const bool surrogate = c >= 0xD800 && c <= 0xDFFF;
    if (c < form.least || c > kCodePointMax || surrogate) return kReplacement;
    at += form.size - 1;
    return c;
  }
  return kReplacement;
}

void AppendCodePoint(std::string& out, char32_t c) {
  const auto tail = [&](int shift) { out += static_cast<char>(0x80 | (c >> shift & 0x3F)); };
  if (c < 0x80) {
    out += static_cast<char>(c);
  } else if (c < 0x800) {
    out += static_cast<char>(0xC0 | c >> 6);
    tail(0);
  } else if (c < 0x10000) {
    out += static_cast<char>(0xE0 | c >> 12);
    tail(6);
    tail(0);
  } else {
    out += static_cast<char>(0xF0 | c >> 18);
    tail(12);
    tail(6);
    tail(0);
  }
}

}  // namespace detent
