// Which form of an answer a client asks for: Kubernetes' parameters on media types ("as=Table"),
// taken from Accept in the client's order. Pure; any thread.

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace detent {

struct MediaType {
  std::string type;                                             // "application/json", lower case.
  std::vector<std::pair<std::string, std::string>> parameters;  // Without q.

  std::string_view Parameter(std::string_view name) const;
  bool IsJson() const;  // Also of "*/*" and "application/*".
};

// One media type; an empty text gives an empty type.
MediaType ParseMediaType(std::string_view text);

// All of an Accept header in its order, without those of q=0. Empty: anything.
std::vector<MediaType> ParseAccept(std::string_view header);

enum class Form {
  kObject,    // The object, or a List of them.
  kTable,     // meta.k8s.io Table: what `kubectl get` shows.
  kMetadata,  // PartialObjectMetadata, or a List of it.
};

struct Negotiated {
  Form form = Form::kObject;
  std::string version = "v1";  // Of meta.k8s.io: "v1" or "v1beta1".
};

// The first form that the client accepts and we have; nullopt: none (406).
std::optional<Negotiated> NegotiateForm(std::string_view accept);

// Whether aggregated discovery is asked for; then the version, "v2" or "v2beta1".
std::optional<std::string> WantsAggregatedDiscovery(std::string_view accept);

}  // namespace detent
