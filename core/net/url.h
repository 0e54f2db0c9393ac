// The parts of a URL that the host judges before it hands the text on unchanged. Pure.

#pragma once

#include <string_view>

#include "core/base/result.h"

namespace detent {

// "host:port" of an absolute URL as it is written, without user info; empty if there is none.
std::string_view HostOf(std::string_view url);

// Accepts absolute http and https URLs without user info, spaces and control characters.
Result<void> CheckHttpUrl(std::string_view url);

}  // namespace detent
