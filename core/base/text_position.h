// Where something stands in a text, as an editor counts: for errors that a person must find. Pure.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace detent {

struct TextPosition {
  int line = 0;    // From 1; 0 = unknown.
  int column = 0;  // From 1, in characters (code points); 0 = unknown.
  bool operator==(const TextPosition&) const = default;
};

// The position of a byte of `text`; an offset beyond its end means the end.
TextPosition PositionAt(std::string_view text, size_t offset);

// The characters of `text` (code points; every byte that continues none).
int CountCharacters(std::string_view text);

// "line 3, column 7: ", to put in front of a message.
std::string Where(const TextPosition& position);

}  // namespace detent
