#include "core/install/version.h"

#include <algorithm>
#include <charconv>

namespace detent {

std::optional<ReleaseVersion> ParseReleaseVersion(std::string_view text) {
  ReleaseVersion version{};
  for (size_t part = 0; part < version.size(); ++part) {
    const size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
    const auto number = LeadingNumber(text);
    if (!number) return std::nullopt;
    version[part] = *number;
    text.remove_prefix(digits);
    if (part + 1 == version.size()) break;
    if (!text.starts_with('.')) return std::nullopt;
    text.remove_prefix(1);
  }
  if (!text.empty()) return std::nullopt;
  return version;
}

std::optional<int64_t> LeadingNumber(std::string_view text) {
  // from_chars would take a sign.
  if (text.empty() || text[0] < '0' || text[0] > '9') return std::nullopt;
  int64_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (read.ec != std::errc()) return std::nullopt;
  return number;
}

}  // namespace detent
