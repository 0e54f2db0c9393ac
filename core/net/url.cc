#include "core/net/url.h"

#include <strings.h>

#include <string>

namespace detent {
namespace {

std::string_view AuthorityOf(std::string_view url) {
  const size_t scheme = url.find("://");
  if (scheme == std::string_view::npos) return {};
  const std::string_view rest = url.substr(scheme + 3);
  return rest.substr(0, rest.find_first_of("/?#"));
}

}  // namespace

std::string_view HostOf(std::string_view url) {
  const std::string_view authority = AuthorityOf(url);
  const size_t at = authority.rfind('@');
  return at == std::string_view::npos ? authority : authority.substr(at + 1);
}

Result<void> CheckHttpUrl(std::string_view url) {
  const std::string_view scheme = url.substr(0, url.find("://"));
  const bool http = scheme.size() == 4 && strncasecmp(scheme.data(), "http", 4) == 0;
  const bool https = scheme.size() == 5 && strncasecmp(scheme.data(), "https", 5) == 0;
  if (!http && !https) {
    return Error(Code::kInvalid, "the URL must begin with http:// or https://");
  }
  for (const char c : url) {
    if (static_cast<unsigned char>(c) <= ' ' || c == 0x7f) {
      return Error(Code::kInvalid, "the URL contains a space or a control character; encode it");
    }
  }
  const std::string_view authority = AuthorityOf(url);
  if (authority.find('@') != std::string_view::npos) {
    return Error(Code::kInvalid, "the URL contains user info; send an Authorization header");
  }
  if (authority.empty() || authority.front() == ':') {
    return Error(Code::kInvalid, "the URL has no host");
  }
  return {};
}

}  // namespace detent
