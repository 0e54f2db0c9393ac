#include "plugins/exec/quantity.h"

#include <charconv>
#include <cmath>

namespace detent::exec {
namespace {

struct Suffix {
  std::string_view text;
  double factor;
};

constexpr Suffix kByteSuffixes[] = {
    {"", 1},
    {"k", 1e3},
    {"M", 1e6},
    {"G", 1e9},
    {"T", 1e12},
    {"P", 1e15},
    {"Ki", 1024.0},
    {"Mi", 1024.0 * 1024},
    {"Gi", 1024.0 * 1024 * 1024},
    {"Ti", 1024.0 * 1024 * 1024 * 1024},
    {"Pi", 1024.0 * 1024 * 1024 * 1024 * 1024},
};

constexpr Suffix kCpuSuffixes[] = {{"", 1000}, {"m", 1}};

template <size_t kCount>
std::optional<int64_t> Parse(std::string_view text, const Suffix (&suffixes)[kCount]) {
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, number, std::chars_format::fixed);
  if (parsed.ec != std::errc() || !std::isfinite(number) || number < 0) return std::nullopt;
  const std::string_view rest(parsed.ptr, static_cast<size_t>(end - parsed.ptr));
  for (const Suffix& suffix : suffixes) {
    if (rest != suffix.text) continue;
    const double value = std::ceil(number * suffix.factor);
    if (value >= 9.2e18) return std::nullopt;
    return static_cast<int64_t>(value);
  }
  return std::nullopt;
}

}  // namespace

std::optional<int64_t> ParseBytes(std::string_view text) {
  return Parse(text, kByteSuffixes);
}

std::optional<int64_t> ParseMilliCpu(std::string_view text) {
  return Parse(text, kCpuSuffixes);
}

}  // namespace detent::exec
