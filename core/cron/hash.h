// The hash behind `H` in a cron expression: XXH64 with seed 0, so that a schedule keeps the slots
// that it has under other hosts with the same language. Pure; any thread.

#pragma once

#include <cstdint>
#include <string_view>

namespace detent {

// XXH64 of the bytes of `text`, seed 0 (the xxHash specification, version 0.1.1).
uint64_t XxHash64(std::string_view text);

}  // namespace detent
