#include "core/http/media_type.h"

#include <algorithm>

namespace detent {
namespace {

std::string_view Trim(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

// Takes the text before the next `separator` off the front.
std::string_view Next(std::string_view& rest, char separator) {
  const size_t end = rest.find(separator);
  const std::string_view piece = rest.substr(0, end);
  rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
  return Trim(piece);
}

bool IsZero(std::string_view q) {
  return !q.empty() && q.find_first_not_of("0.") == std::string_view::npos;
}

}  // namespace

std::string_view MediaType::Parameter(std::string_view name) const {
  for (const auto& [key, value] : parameters) {
    if (key == name) return value;
  }
  return {};
}

bool MediaType::IsJson() const {
  return type == "application/json" || type == "application/*" || type == "*/*";
}

MediaType ParseMediaType(std::string_view text) {
  MediaType media;
  media.type = Lower(Next(text, ';'));
  while (!text.empty()) {
    std::string_view parameter = Next(text, ';');
    const std::string name = Lower(Next(parameter, '='));
    std::string_view value = Trim(parameter);
    if (value.size() >= 2 && value.front() == '"' && value.back() == '"') {
      value = value.substr(1, value.size() - 2);
    }
    if (!name.empty()) media.parameters.emplace_back(name, value);
  }
  return media;
}

std::vector<MediaType> ParseAccept(std::string_view header) {
  std::vector<MediaType> accepted;
  while (!header.empty()) {
    MediaType media = ParseMediaType(Next(header, ','));
    if (media.type.empty() || IsZero(media.Parameter("q"))) continue;
    std::erase_if(media.parameters, [](const auto& parameter) { return parameter.first == "q"; });
    accepted.push_back(std::move(media));
  }
  return accepted;
}

std::optional<Negotiated> NegotiateForm(std::string_view accept) {
  const std::vector<MediaType> accepted = ParseAccept(accept);
  if (accepted.empty()) return Negotiated{};
  for (const MediaType& media : accepted) {
    if (!media.IsJson()) continue;
    const std::string_view as = media.Parameter("as");
    if (as.empty()) return Negotiated{};
    const std::string_view version = media.Parameter("v");
    if (media.Parameter("g") != "meta.k8s.io") continue;
    if (version != "v1" && version != "v1beta1") continue;
    if (as == "Table") return Negotiated{Form::kTable, std::string(version)};
    if (as == "PartialObjectMetadata" || as == "PartialObjectMetadataList") {
      return Negotiated{Form::kMetadata, std::string(version)};
    }
  }
  return std::nullopt;
}

std::optional<std::string> WantsAggregatedDiscovery(std::string_view accept) {
  for (const MediaType& media : ParseAccept(accept)) {
    if (!media.IsJson()) continue;
    const std::string_view as = media.Parameter("as");
    if (as.empty()) return std::nullopt;
    const std::string_view version = media.Parameter("v");
    if (as == "APIGroupDiscoveryList" && media.Parameter("g") == "apidiscovery.k8s.io" &&
        (version == "v2" || version == "v2beta1")) {
      return std::string(version);
    }
  }
  return std::nullopt;
}

}  // namespace detent
