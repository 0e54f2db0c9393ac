#include "plugins/http/url.h"

#include <algorithm>

#include "plugins/http/wire.h"

namespace detent::http {
namespace {

std::string_view SchemeOf(std::string_view url) {
  const size_t end = url.find("://");
  return end == std::string_view::npos ? std::string_view() : url.substr(0, end);
}

std::string_view AuthorityOf(std::string_view url) {
  const std::string_view rest = url.substr(SchemeOf(url).size() + 3);
  return rest.substr(0, rest.find_first_of("/?#"));
}

bool IsPort(std::string_view text) {
  if (text.empty()) return true;  // "http://host:/" is allowed by RFC 3986
  if (text.size() > 5) return false;
  unsigned number = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return false;
    number = number * 10 + static_cast<unsigned>(c - '0');
  }
  return number > 0 && number <= 65535;
}

std::string_view AuthorityProblem(std::string_view authority) {
  if (authority.find('@') != std::string_view::npos) {
    return "must not contain user info; send an Authorization header";
  }
  const size_t bracket = authority.rfind(']');
  if (authority.front() == '[' && bracket == std::string_view::npos) {
    return "has an IPv6 address without its closing bracket";
  }
  const size_t from = bracket == std::string_view::npos ? 0 : bracket;
  const size_t colon = authority.find(':', from);
  if (colon == 0 || authority.empty()) return "has no host";
  if (colon != std::string_view::npos && !IsPort(authority.substr(colon + 1))) {
    return "has a port that is not a number from 1 to 65535";
  }
  return {};
}

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

std::string Decode(std::string_view text, bool plus_is_space) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const int high = text[i] == '%' && i + 2 < text.size() ? HexDigit(text[i + 1]) : -1;
    const int low = high >= 0 ? HexDigit(text[i + 2]) : -1;
    if (low >= 0) {
      out += static_cast<char>(high * 16 + low);
      i += 2;
    } else {
      out += text[i] == '+' && plus_is_space ? ' ' : text[i];
    }
  }
  return out;
}

// Recorders disagree on whether the + of a query is a space.
bool Means(std::string_view encoded, std::string_view value) {
  return encoded == value || Decode(encoded, true) == value || Decode(encoded, false) == value;
}

std::vector<std::string_view> PairsOf(std::string_view query) {
  std::vector<std::string_view> pairs;
  while (!query.empty()) {
    const size_t end = query.find('&');
    if (end != 0) pairs.push_back(query.substr(0, end));
    query = end == std::string_view::npos ? std::string_view() : query.substr(end + 1);
  }
  return pairs;
}

// Takes one pair of that meaning out. False: there is none.
bool TakeEqual(std::vector<std::string_view>& pairs, const NameValue& wanted) {
  const auto found = std::find_if(pairs.begin(), pairs.end(), [&](std::string_view pair) {
    const size_t equals = pair.find('=');
    const std::string_view value =
        equals == std::string_view::npos ? std::string_view() : pair.substr(equals + 1);
    return Means(pair.substr(0, equals), wanted.name) && Means(value, wanted.value);
  });
  if (found == pairs.end()) return false;
  pairs.erase(found);
  return true;
}

void AppendEncoded(std::string& out, std::string_view text, std::string_view kept) {
  static constexpr char kHex[] = "0123456789ABCDEF";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (IsAlphanumeric(c) || kept.find(c) != std::string_view::npos) {
      out += c;
    } else if (c == ' ' && kept.front() == '*') {
      out += '+';
    } else {
      out += '%';
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    }
  }
}

constexpr std::string_view kUnreserved = "-._~";  // RFC 3986 section 2.3
constexpr std::string_view kFormKept = "*-._";    // its star tells the two apart

}  // namespace

std::string_view UrlProblem(std::string_view url) {
  const std::string_view scheme = SchemeOf(url);
  if (!SameIgnoringCase(scheme, "http") && !SameIgnoringCase(scheme, "https")) {
    return "must begin with http:// or https://";
  }
  if (url.size() > kUrlMostBytes) return "must have at most 8192 bytes";
  for (const char c : url) {
    if (c <= ' ' || c >= 0x7f || c == '\\') {
      return "must consist of visible ASCII characters without \\; percent-encode the others";
    }
  }
  const std::string_view authority = AuthorityOf(url);
  return authority.empty() ? "has no host" : AuthorityProblem(authority);
}

std::string_view HostOf(std::string_view url) {
  return AuthorityOf(url);
}

bool IsHttps(std::string_view url) {
  return SameIgnoringCase(SchemeOf(url), "https");
}

std::string UrlWithQuery(std::string_view url, const std::vector<NameValue>& query) {
  std::string out(url.substr(0, url.find('#')));
  if (query.empty()) return out;
  const size_t mark = out.find('?');
  // The path is "/" where there is none.
  const bool bare = out.size() == SchemeOf(out).size() + 3 + AuthorityOf(out).size();
  if (bare) out += '/';
  const std::string own = mark == std::string::npos ? std::string() : out.substr(mark + 1);
  std::vector<std::string_view> pairs = PairsOf(own);
  char separator = mark == std::string::npos ? '?' : '&';
  if (mark == out.size() - 1) separator = '\0';
  for (const NameValue& pair : query) {
    if (TakeEqual(pairs, pair)) continue;
    if (separator != '\0') out += separator;
    separator = '&';
    AppendEncoded(out, pair.name, kUnreserved);
    out += '=';
    AppendEncoded(out, pair.value, kUnreserved);
  }
  return out;
}

std::string FormEncode(const std::vector<NameValue>& fields) {
  std::string out;
  for (const NameValue& field : fields) {
    if (!out.empty()) out += '&';
    AppendEncoded(out, field.name, kFormKept);
    out += '=';
    AppendEncoded(out, field.value, kFormKept);
  }
  return out;
}

}  // namespace detent::http
