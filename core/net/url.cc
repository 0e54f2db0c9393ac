#include "core/net/url.h"

#include <strings.h>

#include <algorithm>
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

Result<void> CheckServerName(std::string_view name) {
  const bool good =
      !name.empty() && name.size() <= 253 && std::all_of(name.begin(), name.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '.' || c == '-' || c == '_' || c == ':';
      });
  if (good) return {};
  return Error(Code::kInvalid, "the TLS server name must be a DNS name or an IP address");
}

RenamedUrl RenameServer(std::string_view url, std::string_view name) {
  const std::string_view host = HostOf(url);
  const auto at = static_cast<size_t>(host.data() - url.data());
  const size_t bracket = host.find(']');  // Of an IPv6 address.
  const size_t colon = host.find(':', bracket == host.npos ? 0 : bracket);
  const std::string_view port = colon == host.npos ? "" : host.substr(colon);
  RenamedUrl renamed;
  renamed.url = url.substr(0, at);
  renamed.url += name.find(':') == name.npos ? std::string(name) : "[" + std::string(name) + "]";
  renamed.url += port;
  renamed.url += url.substr(at + host.size());
  renamed.connect_to = std::string(host.substr(0, host.size() - port.size()));
  renamed.connect_to += port.empty() ? ":" : port;
  return renamed;
}

}  // namespace detent
