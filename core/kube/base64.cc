#include "core/kube/base64.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace detent {
namespace {

constexpr std::string_view kBase64Alphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

// The value of each character, or -1.
constexpr std::array<int8_t, 256> Base64Values() {
  std::array<int8_t, 256> values{};
  for (int8_t& value : values) value = -1;
  for (size_t i = 0; i < kBase64Alphabet.size(); ++i) {
    values[static_cast<unsigned char>(kBase64Alphabet[i])] = static_cast<int8_t>(i);
  }
  return values;
}

}  // namespace

std::optional<std::string> DecodeBase64(std::string_view text) {
  static constexpr std::array<int8_t, 256> kValues = Base64Values();
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3);
  uint32_t bits = 0;
  size_t digits = 0;
  size_t padding = 0;
  for (const char c : text) {
    if (c == '\r' || c == '\n') continue;
    if (c == '=') {
      ++padding;
      continue;
    }
    const int8_t value = kValues[static_cast<unsigned char>(c)];
    if (value < 0 || padding > 0) return std::nullopt;
    bits = bits << 6 | static_cast<uint32_t>(value);
    ++digits;
    // The first digit of four completes no byte; each of the others does, and 4, 2 or 0 bits stay.
    if (digits % 4 == 1) continue;
    const size_t unused = (4 - digits % 4) % 4 * 2;
    bytes.push_back(static_cast<char>(bits >> unused & 0xFF));
  }
  if (padding > 2 || digits % 4 == 1 || (digits + padding) % 4 != 0) return std::nullopt;
  return bytes;
}

std::string EncodeBase64(std::string_view bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t at = 0; at < bytes.size(); at += 3) {
    const size_t count = std::min<size_t>(3, bytes.size() - at);
    uint32_t bits = 0;
    for (size_t i = 0; i < 3; ++i) {
      bits = bits << 8 | (i < count ? static_cast<unsigned char>(bytes[at + i]) : 0U);
    }
    for (size_t i = 0; i < 4; ++i) {
      text += i > count ? '=' : kBase64Alphabet[bits >> (18 - 6 * i) & 63];
    }
  }
  return text;
}

}  // namespace detent
