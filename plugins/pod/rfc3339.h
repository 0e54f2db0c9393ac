// Times as Kubernetes writes them (RFC 3339), and as the CRI log format does. Pure, any thread.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace detent::pod {

inline constexpr int64_t kNsPerSecond = 1'000'000'000;

// "2026-11-20T10:00:08Z", with or without a fraction of up to nanoseconds (more digits are cut), in
// any zone, as wall clock nanoseconds since 1970-01-01 UTC. Years 1678 to 2261, since others have
// no place in them. nullopt: it is no such text.
std::optional<int64_t> ParseTime(std::string_view text);

// "2026-11-20T10:00:08.000000000Z": 30 bytes, whatever the time.
std::string FormatNanos(int64_t ns);
// "2026-11-20T10:00:08Z", the fraction cut.
std::string FormatSeconds(int64_t ns);

}  // namespace detent::pod
