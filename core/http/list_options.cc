#include "core/http/list_options.h"

#include <algorithm>
#include <charconv>

#include "core/base/json.h"

namespace detent {
namespace {

constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

std::string Base64Url(std::string_view bytes) {
  std::string text;
  uint32_t bits = 0;
  int count = 0;
  for (const char c : bytes) {
    bits = (bits << 8) | static_cast<unsigned char>(c);
    for (count += 8; count >= 6; count -= 6) text += kAlphabet[(bits >> (count - 6)) & 63];
  }
  if (count > 0) text += kAlphabet[(bits << (6 - count)) & 63];
  return text;
}

std::optional<std::string> FromBase64Url(std::string_view text) {
  std::string bytes;
  uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    const size_t digit = kAlphabet.find(c);
    if (digit == std::string_view::npos) return std::nullopt;
    bits = (bits << 6) | static_cast<uint32_t>(digit);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes += static_cast<char>((bits >> count) & 255);
  }
  return bytes;
}

std::optional<int64_t> ReadInteger(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

Outcome<std::optional<int64_t>> IntegerParameter(const Request& request, const char* name) {
  const std::string_view text = request.ParameterOr(name);
  if (text.empty()) return std::optional<int64_t>();
  const std::optional<int64_t> value = ReadInteger(text);
  if (value) return value;
  return BadRequest(std::string(name) + ": Invalid value: \"" + std::string(text) +
                    "\": must be a whole number, 0 or greater");
}

Outcome<VersionMatch> ReadMatch(const Request& request, const ListOptions& options) {
  const std::string_view text = request.ParameterOr("resourceVersionMatch");
  const auto refused = [](std::string_view why) {
    return InvalidOptions("ListOptions", "resourceVersionMatch", why);
  };
  if (text.empty()) {
    if (!request.Parameter("sendInitialEvents")) return VersionMatch::kUnset;
    return refused(
        "Forbidden: sendInitialEvents requires setting resourceVersionMatch to "
        "NotOlderThan");
  }
  if (text != "Exact" && text != "NotOlderThan") {
    return refused("Unsupported value: \"" + std::string(text) +
                   "\": supported values: \"Exact\", \"NotOlderThan\"");
  }
  const bool exact = text == "Exact";
  if (options.watch) {
    if (!request.Parameter("sendInitialEvents")) {
      return refused(
          "Forbidden: resourceVersionMatch is forbidden for watch unless "
          "sendInitialEvents is provided");
    }
    if (exact) return refused("Forbidden: a watch can only start NotOlderThan");
    return VersionMatch::kNotOlderThan;
  }
  if (options.from) {
    return refused("Forbidden: resourceVersionMatch is forbidden when continue is provided");
  }
  if (!options.version) {
    return refused(
        "Forbidden: resourceVersionMatch is forbidden unless resourceVersion is "
        "provided");
  }
  if (exact && *options.version == 0) {
    return refused(
        "Forbidden: resourceVersionMatch \"Exact\" is forbidden for resourceVersion "
        "\"0\"");
  }
  return exact ? VersionMatch::kExact : VersionMatch::kNotOlderThan;
}

Outcome<Selectors> ReadSelectors(Kind kind, const Request& request) {
  Selectors selectors;
  Result<LabelSelector> labels = LabelSelector::Parse(request.ParameterOr("labelSelector"));
  if (!labels) return BadRequest(labels.error().message());
  selectors.labels = std::move(labels).value();
  Result<FieldSelector> fields = FieldSelector::Parse(kind, request.ParameterOr("fieldSelector"));
  if (!fields) return BadRequest(fields.error().message());
  selectors.fields = std::move(fields).value();
  return selectors;
}

}  // namespace

std::string ContinueToken::Encode() const {
  Json json;
  json.Set("v", "meta.k8s.io/v1").Set("rv", version);
  json.Set("ns", ns);
  json.Set("name", name);
  return Base64Url(DumpJson(json));
}

std::optional<ContinueToken> ContinueToken::Decode(const std::string& text) {
  const std::optional<std::string> bytes = FromBase64Url(text);
  if (!bytes) return std::nullopt;
  const Result<Json> json = ParseJson(*bytes);
  if (!json) return std::nullopt;
  const Json* version = json->Find("rv");
  const Json* ns = json->Find("ns");
  const Json* name = json->Find("name");
  if (version == nullptr || !version->is_int() || ns == nullptr || !ns->is_string() ||
      name == nullptr || !name->is_string()) {
    return std::nullopt;
  }
  return ContinueToken{version->as_int(), ns->as_string(), name->as_string()};
}

bool IsTrue(const Request& request, std::string_view name) {
  const std::string* value = request.Parameter(name);
  return value != nullptr && !value->empty() && *value != "0" && *value != "false" &&
         *value != "False";
}

Outcome<ListOptions> ReadListOptions(Kind kind, const Request& request) {
  ListOptions options;
  options.selectors = TRY(ReadSelectors(kind, request));
  options.watch = IsTrue(request, "watch");
  options.bookmarks = IsTrue(request, "allowWatchBookmarks");
  options.initial_events = IsTrue(request, "sendInitialEvents");
  options.limit = static_cast<size_t>(TRY(IntegerParameter(request, "limit")).value_or(0));
  options.version = TRY(IntegerParameter(request, "resourceVersion"));
  if (const auto seconds = TRY(IntegerParameter(request, "timeoutSeconds"))) {
    // Longer than a day is as good as a day: clients begin again.
    options.timeout = std::chrono::seconds(std::min<int64_t>(*seconds, 86'400));
  }
  if (request.Parameter("sendInitialEvents") && !options.watch) {
    return InvalidOptions("ListOptions", "sendInitialEvents",
                          "Forbidden: sendInitialEvents is forbidden for list");
  }
  if (const std::string_view token = request.ParameterOr("continue"); !token.empty()) {
    options.from = ContinueToken::Decode(std::string(token));
    if (!options.from) return BadRequest("continue key is not valid");
    if (options.version && *options.version != 0) {
      return BadRequest("specifying resource version is not allowed when using continue");
    }
  }
  options.match = TRY(ReadMatch(request, options));
  return options;
}

}  // namespace detent
