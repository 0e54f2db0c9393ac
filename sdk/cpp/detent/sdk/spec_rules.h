// What a field of a spec has to satisfy; arguments of the readers in spec.h. Plain values, meant
// for designated initialisers: f.Int("port", {.required = true, .min = 1, .max = 65535}).

#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string>
#include <string_view>

namespace detent::sdk {

struct TextRule {
  bool required = false;
  std::string_view fallback = {};
  size_t max_bytes = 65536;
  std::initializer_list<std::string_view> one_of = {};  // empty: any text
};

struct IntRule {
  bool required = false;
  int64_t fallback = 0;
  int64_t min = std::numeric_limits<int64_t>::min();
  int64_t max = std::numeric_limits<int64_t>::max();
};

struct ListRule {
  bool required = false;
  size_t min_items = 0;
  size_t max_items = 1024;
};

// One step of an RFC 6901 pointer with its slash, escaped.
inline std::string PointerToken(std::string_view name) {
  std::string out = "/";
  for (const char c : name) {
    if (c == '~') out += "~0";
    if (c == '/') out += "~1";
    if (c != '~' && c != '/') out += c;
  }
  return out;
}

}  // namespace detent::sdk
