// The parts of a URL that the host judges before it hands the text on unchanged. Pure.

#pragma once

#include <string>
#include <string_view>

#include "core/base/result.h"

namespace detent {

// "host:port" of an absolute URL as it is written, without user info; empty if there is none.
std::string_view HostOf(std::string_view url);

// Accepts absolute http and https URLs without user info, spaces and control characters.
Result<void> CheckHttpUrl(std::string_view url);

// Accepts a DNS name or an IP address that a certificate can be for. Not brackets, no port.
Result<void> CheckServerName(std::string_view name);

// How a URL's server is reached under another name: the name takes the host's place in the URL, and
// a connection is made to the host all the same.
struct RenamedUrl {
  std::string url;
  std::string connect_to;  // "host:port" as the URL had them; the port is empty where it had none.
};
// Requires: CheckServerName(name), and a URL with a host.
RenamedUrl RenameServer(std::string_view url, std::string_view name);

}  // namespace detent
