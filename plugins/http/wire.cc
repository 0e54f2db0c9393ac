#include "plugins/http/wire.h"

#include <algorithm>

#include "plugins/http/url.h"

namespace detent::http {
namespace {

char Lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool IsToken(std::string_view text) {
  constexpr std::string_view kMarks = "!#$%&'*+-.^_`|~";
  return !text.empty() && std::all_of(text.begin(), text.end(), [&](char c) {
    return IsAlphanumeric(c) || kMarks.find(c) != std::string_view::npos;
  });
}

NameValue* FindHeader(std::vector<NameValue>& headers, std::string_view name) {
  for (NameValue& header : headers) {
    if (SameIgnoringCase(header.name, name)) return &header;
  }
  return nullptr;
}

std::string_view Trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

// Whether a Cookie header's value has a cookie of that name.
bool HasCookie(std::string_view value, std::string_view name) {
  while (!value.empty()) {
    const size_t end = value.find(';');
    const std::string_view pair = Trimmed(value.substr(0, end));
    if (pair.substr(0, pair.find('=')) == name) return true;
    value = end == std::string_view::npos ? std::string_view() : value.substr(end + 1);
  }
  return false;
}

// A recorded request has its cookies in the header and in the list; the header is what was sent.
void AddCookies(const HttpSpec& spec, std::vector<NameValue>& headers) {
  const NameValue* given = FindHeader(headers, "Cookie");
  const std::string before = given == nullptr ? std::string() : given->value;
  std::string value = before;
  for (const Cookie& cookie : spec.cookies) {
    if (HasCookie(before, cookie.name) || (cookie.secure && !IsHttps(spec.url))) continue;
    if (!value.empty()) value += "; ";
    value.append(cookie.name).append("=").append(cookie.value);
  }
  if (value == before) return;
  if (NameValue* header = FindHeader(headers, "Cookie")) {
    header->value = std::move(value);
  } else {
    headers.push_back({"Cookie", std::move(value)});
  }
}

void AddBody(const HttpSpec& spec, WireRequest& wire) {
  if (spec.text) wire.body = *spec.text;
  if (spec.has_params) wire.body = FormEncode(spec.params);
  std::string type = spec.mime_type;
  if (type.empty() && spec.has_params) type = "application/x-www-form-urlencoded";
  if (type.empty() || (!spec.text && !spec.has_params)) return;
  if (FindHeader(wire.headers, "Content-Type") == nullptr) {
    wire.headers.push_back({"Content-Type", std::move(type)});
  }
}

// Recorded browsers accept what nobody here can decode, so the host says what it can.
bool TakeAcceptEncoding(std::vector<NameValue>& headers) {
  bool decode = false;
  for (auto at = headers.begin(); at != headers.end();) {
    if (!SameIgnoringCase(at->name, "Accept-Encoding")) {
      ++at;
      continue;
    }
    decode = decode || at->value.find("gzip") != std::string::npos ||
             at->value.find("deflate") != std::string::npos;
    at = headers.erase(at);
  }
  return decode;
}

}  // namespace

bool IsAlphanumeric(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool SameIgnoringCase(std::string_view a, std::string_view b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(),
                                            [](char x, char y) { return Lower(x) == Lower(y); });
}

std::string_view MethodProblem(std::string_view method) {
  if (!IsToken(method)) return "must be the name of an HTTP method, such as POST";
  if (SameIgnoringCase(method, "CONNECT") || SameIgnoringCase(method, "TRACE")) {
    return "must not be CONNECT or TRACE, which are no requests to a service";
  }
  return {};
}

std::string_view HeaderNameProblem(std::string_view name) {
  return IsToken(name) ? std::string_view()
                       : "must be a token: letters, digits and !#$%&'*+-.^_`|~ only";
}

std::string_view HeaderValueProblem(std::string_view value) {
  return value.find_first_of(std::string_view("\r\n\0", 3)) == std::string_view::npos
             ? std::string_view()
             : "must not contain line breaks or NUL";
}

std::string_view CookieValueProblem(std::string_view value) {
  if (value.size() >= 2 && value.front() == '"' && value.back() == '"') {
    value = value.substr(1, value.size() - 2);
  }
  const bool good = std::all_of(value.begin(), value.end(), [](char c) {
    return c > ' ' && c < 0x7f && c != '"' && c != ',' && c != ';' && c != '\\';
  });
  return good ? std::string_view()
              : "must consist of visible ASCII characters without \" , ; and \\; encode the others";
}

bool IsLeftToTheHost(std::string_view name) {
  if (!name.empty() && name.front() == ':') return true;
  constexpr std::string_view kNames[] = {"Connection", "Content-Length",    "Expect",
                                         "Keep-Alive", "Proxy-Connection",  "TE",
                                         "Trailer",    "Transfer-Encoding", "Upgrade"};
  return std::any_of(std::begin(kNames), std::end(kNames),
                     [&](std::string_view known) { return SameIgnoringCase(name, known); });
}

bool IsFormType(std::string_view mime_type) {
  return SameIgnoringCase(Trimmed(mime_type.substr(0, mime_type.find(';'))),
                          "application/x-www-form-urlencoded");
}

bool CharsetFits(std::string_view mime_type, std::string_view text) {
  std::string lower;
  for (const char c : mime_type) lower += Lower(c);
  const size_t at = lower.find("charset=");
  if (at == std::string::npos) return true;
  std::string_view charset = std::string_view(lower).substr(at + 8);
  charset = Trimmed(charset.substr(0, charset.find(';')));
  if (charset == "utf-8" || charset == "utf8" || charset == "\"utf-8\"") return true;
  // ASCII is the same in nearly all of them; UTF-16 and UTF-32 are not.
  return !charset.starts_with("utf-") && !charset.starts_with("\"utf-") &&
         std::all_of(text.begin(), text.end(), [](char c) { return (c & 0x80) == 0; });
}

WireRequest ToWire(const HttpSpec& spec, std::string_view user_agent) {
  WireRequest wire;
  wire.method = spec.method;
  wire.url = UrlWithQuery(spec.url, spec.query);
  wire.headers.reserve(spec.headers.size() + 3);
  for (const NameValue& header : spec.headers) {
    wire.headers.push_back({header.name, std::string(Trimmed(header.value))});
  }
  wire.decode = TakeAcceptEncoding(wire.headers);
  AddBody(spec, wire);
  if (!spec.cookies.empty()) AddCookies(spec, wire.headers);
  if (!user_agent.empty() && FindHeader(wire.headers, "User-Agent") == nullptr) {
    wire.headers.push_back({"User-Agent", std::string(user_agent)});
  }
  return wire;
}

}  // namespace detent::http
