// Between our objects and the documents that a Kubernetes API server has of them. Pure; any thread.

#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "core/api/object.h"
#include "core/base/result.h"

namespace detent {

// What the server sent, as our own object. Spec and status are texts in the host's own form where
// they can be read, and as they came where not: then they are for whoever decodes them to refuse.
// kInvalid: no object, or its metadata cannot be read.
Result<std::shared_ptr<Object>> ObjectFromDocument(Kind kind, std::string_view document);

// The body of a creation: what the server sets itself is left out, and so is the status, which has
// a path of its own.
std::string CreationDocument(const Object& object);

}  // namespace detent
