// Between the border's (pointer, length) views and std::string_view. A view is borrowed on either
// side: it lives as long as what it was made from, which for arguments of a call means until the
// call returns. Copy what you keep into a std::string. Any thread.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "detent/types.h"

namespace detent::sdk {

inline std::string_view View(const detent_str& text) {
  return text.len == 0 ? std::string_view() : std::string_view(text.ptr, text.len);
}

inline std::string_view View(const detent_bytes& bytes) {
  if (bytes.len == 0) return {};
  return {reinterpret_cast<const char*>(bytes.ptr), bytes.len};
}

inline detent_str Str(std::string_view text) {
  return {text.data(), text.size()};
}

inline detent_bytes Bytes(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

}  // namespace detent::sdk
