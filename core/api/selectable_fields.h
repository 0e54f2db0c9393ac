// What objects can be selected by besides their names and labels: the terms of a fieldSelector.
// metadata.name and metadata.namespace go everywhere and are not among these. One list for the API
// that the host serves, for the CRDs (selectableFields, KEP-4358), and for the CLI.

#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

#include "core/api/object.h"

namespace detent {

// Paths as a fieldSelector has them; each leads to a string of the object.
inline std::vector<std::string_view> SelectableFieldsOf(Kind kind) {
  if (kind == Kind::kJob) return {"status.phase"};
  if (kind == Kind::kTask) return {"status.state", "spec.jobName"};
  return {};
}

inline bool IsSelectable(Kind kind, std::string_view field) {
  const auto fields = SelectableFieldsOf(kind);
  return std::find(fields.begin(), fields.end(), field) != fields.end();
}

}  // namespace detent
