// Versions as releases have them, "1.2.3", and which is newer. Pure.

#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace detent {

// Major, minor, patch: std::array compares them in that order.
using ReleaseVersion = std::array<int64_t, 3>;

// nullopt: not three whole numbers with dots between them.
std::optional<ReleaseVersion> ParseReleaseVersion(std::string_view text);

// The number that a text begins with, as in "29+"; nullopt: it begins with none.
std::optional<int64_t> LeadingNumber(std::string_view text);

}  // namespace detent
