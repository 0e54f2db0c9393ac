#include "core/base/text_position.h"

#include <algorithm>

namespace detent {

TextPosition PositionAt(std::string_view text, size_t offset) {
  const std::string_view before = text.substr(0, std::min(offset, text.size()));
  const size_t newline = before.rfind('\n');
  const std::string_view line = newline == before.npos ? before : before.substr(newline + 1);
  const auto lines = std::count(before.begin(), before.end(), '\n');
  return {static_cast<int>(lines) + 1, CountCharacters(line) + 1};
}

int CountCharacters(std::string_view text) {
  // A continuation byte (10xxxxxx) belongs to the character before it.
  return static_cast<int>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

std::string Where(const TextPosition& position) {
  return "line " + std::to_string(position.line) + ", column " + std::to_string(position.column) +
         ": ";
}

}  // namespace detent
