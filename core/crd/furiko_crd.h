// What a cluster is told of Furiko's kinds where Detent takes them: CustomResourceDefinitions made
// from the schemas of our own, so that what is refused is refused in the same words. Pure; any
// thread.
//
// They differ from ours where manifests for Furiko do (`task: {template: {...}}` beside
// `taskTemplate`), in the status, which is in Furiko's terms, and in names and columns.
//
// Source: Furiko's API v1alpha1.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/api/object.h"
#include "core/api/schema.h"
#include "core/base/json.h"

namespace detent {

// Of Kind::kTask there is none in Furiko.
inline constexpr Kind kFurikoKinds[] = {Kind::kJobConfig, Kind::kJob};

// "jobs.execution.furiko.io".
std::string FurikoCrdNameOf(Kind kind);

// `version` is Detent's own; by the annotation labels::kVersion with it the definition is known as
// one of ours.
Json FurikoCrdOf(Kind kind, std::string_view version);

// The fields of the status.
std::vector<Field> FurikoStatusFieldsOf(Kind kind);

}  // namespace detent
