// Which resource of a Kubernetes API is meant, and the path at which the server has it. Pure.
//
// Written as at the plugin border: "v1/pods", "argoproj.io/v1alpha1/workflows", with a subresource
// behind the plural: "v1/pods/status". Source: Kubernetes API concepts, "Resource URIs".

#pragma once

#include <string>
#include <string_view>

#include "core/base/result.h"

namespace detent {

struct KubeResource {
  std::string group;  // Empty: the core group.
  std::string version;
  std::string plural;
  std::string subresource;  // Empty: the object itself.

  bool operator==(const KubeResource&) const = default;
  auto operator<=>(const KubeResource&) const = default;
};

// kInvalid: not of the form above; the message shows it.
Result<KubeResource> ParseKubeResource(std::string_view text);

// The same text again.
std::string ToString(const KubeResource& resource);

// "/apis/GROUP/VERSION/namespaces/NS/PLURAL/NAME/SUBRESOURCE", "/api/VERSION/..." for the core
// group. An empty `ns` leaves the namespace out; an empty `name` means the collection, which has no
// subresource. Parts are percent-encoded.
std::string PathOf(const KubeResource& resource, std::string_view ns, std::string_view name);

// "key=value" for a query string, the value percent-encoded (RFC 3986).
std::string QueryPart(std::string_view key, std::string_view value);

}  // namespace detent
