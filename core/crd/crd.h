// What a cluster is told of our kinds: CustomResourceDefinitions, made from the tables of fields
// that admission and OpenAPI read too. Pure; any thread.
//
// Source: Kubernetes API reference, apiextensions.k8s.io/v1.

#pragma once

#include <string>
#include <string_view>

#include "core/api/object.h"
#include "core/base/json.h"

namespace detent {

// "jobs.execution.detent.dev".
std::string CrdNameOf(Kind kind);

// `version` is Detent's own ("0.1.0"); it stands in the annotation labels::kVersion.
Json CrdOf(Kind kind, std::string_view version);

}  // namespace detent
