// The schema of a kind as a CustomResourceDefinition needs it: structural, so that the API server
// prunes what it does not know, and defaults what is missing. Pure; any thread.
//
// Unknown members are kept only where a plugin says what they mean: executors' specs, and what
// executors report. Fields that are known and not offered are described too, and refused whole by
// a rule, so that nobody's wish is dropped in silence.
//
// Source: Kubernetes documentation, "Specifying a structural schema".

#pragma once

#include "core/api/object.h"
#include "core/api/schema.h"
#include "core/base/json.h"

namespace detent {

Json StructuralSchema(Kind kind);

// Of one field and what is in it, without bounds and rules.
Json StructuralSchemaOf(const Field& field);

}  // namespace detent
