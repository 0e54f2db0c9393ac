// Quantities as Kubernetes writes them ("512Mi", "1G", "500m"), as far as a process's limits need
// them. Pure; any thread.

#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace detent::exec {

// Bytes: a decimal number, perhaps with a fraction, and one of the suffixes k M G T P (powers of
// 1000) or Ki Mi Gi Ti Pi (powers of 1024). Rounded up. Nothing for anything else, below 0, or
// beyond int64.
std::optional<int64_t> ParseBytes(std::string_view text);

// Thousandths of a cpu: "0.5" and "500m" are 500. Rounded up.
std::optional<int64_t> ParseMilliCpu(std::string_view text);

}  // namespace detent::exec
