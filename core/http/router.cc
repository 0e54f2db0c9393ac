#include "core/http/router.h"

#include <algorithm>
#include <optional>

#include "core/http/status_error.h"

namespace detent {
namespace {

std::vector<std::string> Split(std::string_view pattern) {
  std::vector<std::string> segments;
  while (!pattern.empty()) {
    pattern.remove_prefix(1);
    const size_t slash = pattern.find('/');
    if (!pattern.substr(0, slash).empty()) segments.emplace_back(pattern.substr(0, slash));
    pattern = slash == std::string_view::npos ? std::string_view() : pattern.substr(slash);
  }
  return segments;
}

std::optional<Router::Captures> Match(const std::vector<std::string>& pattern,
                                      const std::vector<std::string>& path) {
  if (pattern.size() != path.size()) return std::nullopt;
  Router::Captures captures;
  for (size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] == "{}") {
      captures.push_back(path[i]);
    } else if (pattern[i] != path[i]) {
      return std::nullopt;
    }
  }
  return captures;
}

}  // namespace

void Router::Add(std::string_view method, std::string_view pattern, Route route) {
  entries_.push_back({std::string(method), std::string(pattern), Split(pattern), std::move(route)});
}

Response Router::Dispatch(const Request& request) const {
  std::string allowed;
  for (const Entry& entry : entries_) {
    std::optional<Captures> captures = Match(entry.segments, request.segments);
    if (!captures) continue;
    if (entry.method == request.method) return entry.route(request, *captures);
    if (!allowed.empty()) allowed += ", ";
    allowed += entry.method;
  }
  if (allowed.empty()) return NoSuchPath();
  Response response = MethodNotAllowed();
  response.headers.emplace_back("Allow", std::move(allowed));
  return response;
}

std::vector<std::string> Router::Patterns() const {
  std::vector<std::string> patterns;
  for (const Entry& entry : entries_) {
    if (std::find(patterns.begin(), patterns.end(), entry.pattern) == patterns.end()) {
      patterns.push_back(entry.pattern);
    }
  }
  return patterns;
}

}  // namespace detent
