// From a spec to what goes on the wire: method, headers and body, by RFC 9110 and, for cookies, RFC
// 6265. The judgements (…Problem) give the end of a sentence that says what is wrong, empty if
// nothing is. Pure, any thread.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "plugins/http/spec.h"

namespace detent::http {

bool IsAlphanumeric(char c);
bool SameIgnoringCase(std::string_view a, std::string_view b);

std::string_view MethodProblem(std::string_view method);      // a token; no CONNECT, no TRACE
std::string_view HeaderNameProblem(std::string_view name);    // a token
std::string_view HeaderValueProblem(std::string_view value);  // no CR, LF, NUL
std::string_view CookieValueProblem(std::string_view value);  // cookie-octets

// Headers that belong to one connection or frame the message (RFC 9110 section 7.6.1), and the
// pseudo-headers of recorded HTTP/2 requests: what a spec says of them is not sent.
bool IsLeftToTheHost(std::string_view header_name);

// Whether a media type is application/x-www-form-urlencoded, with or without parameters.
bool IsFormType(std::string_view mime_type);
// Whether text, which is UTF-8, may be sent under that type.
bool CharsetFits(std::string_view mime_type, std::string_view text);

struct WireRequest {
  std::string method;
  std::string url;
  std::vector<NameValue> headers;
  std::string body;
  bool decode = false;  // the spec accepts a compressed response
};

// spec: without errors. user_agent is sent where the spec has none; empty: none.
WireRequest ToWire(const HttpSpec& spec, std::string_view user_agent);

}  // namespace detent::http
