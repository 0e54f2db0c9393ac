#include "core/http/request.h"

#include <algorithm>

#include "core/base/json.h"

namespace detent {
namespace {

char Lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool EqualsIgnoringCase(std::string_view a, std::string_view b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(),
                                            [](char x, char y) { return Lower(x) == Lower(y); });
}

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char lower = Lower(c);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

// `plus_is_space` holds in queries only (HTML forms write them so, and so does Go's client).
Result<std::string> Decode(std::string_view text, bool plus_is_space) {
  std::string decoded;
  decoded.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '+' && plus_is_space) c = ' ';
    if (c == '%') {
      const int high = i + 2 < text.size() ? HexDigit(text[i + 1]) : -1;
      const int low = i + 2 < text.size() ? HexDigit(text[i + 2]) : -1;
      if (high < 0 || low < 0) return Error(Code::kInvalid, "invalid URL escape in the request");
      c = static_cast<char>(high * 16 + low);
      i += 2;
    }
    if (c == '\0') return Error(Code::kInvalid, "the URL contains NUL");
    decoded += c;
  }
  if (!IsUtf8(decoded)) return Error(Code::kInvalid, "the URL is not UTF-8");
  return decoded;
}

Result<void> AddQuery(Request& request, std::string_view query) {
  while (!query.empty()) {
    const size_t end = query.find('&');
    const std::string_view pair = query.substr(0, end);
    query = end == std::string_view::npos ? std::string_view() : query.substr(end + 1);
    if (pair.empty()) continue;
    const size_t equals = pair.find('=');
    std::string name = TRY(Decode(pair.substr(0, equals), true));
    std::string value;
    if (equals != std::string_view::npos) value = TRY(Decode(pair.substr(equals + 1), true));
    request.query.emplace_back(std::move(name), std::move(value));
  }
  return {};
}

}  // namespace

std::string_view Request::Header(std::string_view name) const {
  for (const auto& [key, value] : headers) {
    if (EqualsIgnoringCase(key, name)) return value;
  }
  return {};
}

const std::string* Request::Parameter(std::string_view name) const {
  for (const auto& [key, value] : query) {
    if (key == name) return &value;
  }
  return nullptr;
}

std::string_view Request::ParameterOr(std::string_view name, std::string_view absent) const {
  const std::string* value = Parameter(name);
  return value == nullptr ? absent : std::string_view(*value);
}

Result<void> SetTarget(Request& request, std::string_view target) {
  // RFC 9112 3.2.2: a server must take the absolute form too.
  if (!target.starts_with('/')) {
    const size_t host = target.find("://");
    if (host == std::string_view::npos) {
      return Error(Code::kInvalid, "the request's target is no path");
    }
    const size_t path = target.find('/', host + 3);
    target = path == std::string_view::npos ? std::string_view("/") : target.substr(path);
  }
  const size_t question = target.find('?');
  std::string_view path = target.substr(0, question);
  request.path = TRY(Decode(path, false));
  while (!path.empty()) {
    path.remove_prefix(1);
    const size_t slash = path.find('/');
    const std::string_view segment = path.substr(0, slash);
    path = slash == std::string_view::npos ? std::string_view() : path.substr(slash);
    // A slash at the end names the same thing as none.
    if (!segment.empty()) request.segments.push_back(TRY(Decode(segment, false)));
  }
  if (question == std::string_view::npos) return {};
  return AddQuery(request, target.substr(question + 1));
}

Response JsonResponse(std::string body, int status) {
  Response response;
  response.status = status;
  response.body = std::move(body);
  return response;
}

Response TextResponse(std::string body, int status) {
  Response response;
  response.status = status;
  response.content_type = "text/plain; charset=utf-8";
  response.body = std::move(body);
  return response;
}

}  // namespace detent
