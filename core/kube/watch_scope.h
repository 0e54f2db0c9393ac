// Which objects a watch follows. Values; pure.

#pragma once

#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/kube/resource.h"

namespace detent {

struct WatchScope {
  KubeResource resource;
  std::string ns;  // Empty: all namespaces.
  std::string label_selector;
  std::string field_selector;
  std::string only{};  // What of each object is kept, for WatchShape. Empty: all of it.

  bool operator==(const WatchScope&) const = default;
  auto operator<=>(const WatchScope&) const = default;
};

// What the API server would refuse whoever asks: a subresource, a namespace that is none, selectors
// or a shape that cannot be read. kInvalid names the field.
Result<void> CheckWatchScope(const WatchScope& scope);

// Where the server has them: the path of the collection, with the selectors as its query.
std::string PathOf(const WatchScope& scope);

}  // namespace detent
