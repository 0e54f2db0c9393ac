// URLs as requests need them: what is refused, how parameters are added, and how texts are encoded.
// A URL's own bytes are never re-encoded (signatures may depend on them). Pure, any thread.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "plugins/http/spec.h"

namespace detent::http {

inline constexpr size_t kUrlMostBytes = 8192;  // of detent.http/1

// What is wrong with it, as the end of "the URL ..."; empty if nothing is. It must be absolute,
// http or https, with a host, without user info, and consist of visible ASCII.
std::string_view UrlProblem(std::string_view url);

// "host:port" as it is written.
std::string_view HostOf(std::string_view url);
bool IsHttps(std::string_view url);

// The URL without its fragment, with `query` behind the query it has. A recorded request has its
// parameters in both places, so each of `query` that the URL has already is taken as that copy, and
// not appended (once for each time it is there).
std::string UrlWithQuery(std::string_view url, const std::vector<NameValue>& query);

// application/x-www-form-urlencoded, by the WHATWG URL Standard: space is +.
std::string FormEncode(const std::vector<NameValue>& fields);

}  // namespace detent::http
