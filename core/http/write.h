// Writing: create, replace and the change that patch ends in as well. Admission decides what is
// stored, the store whether it is stored; both "no"s come back as Kubernetes words them.
//
// A write without a resourceVersion is unconditional: when somebody else writes in between, it is
// done again on the newer object, a few times.

#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/http/api_context.h"
#include "core/http/request.h"
#include "core/http/status_error.h"

namespace detent {

struct WriteOptions {
  enum class Validation { kIgnore, kWarn, kStrict };
  bool dry_run = false;
  Validation validation = Validation::kWarn;  // Of unknown fields; kubectl asks for kStrict.
};

Outcome<WriteOptions> ReadWriteOptions(const Request& request);

// The body as a JSON object: application/json or application/yaml, else 415; 400 with the position
// of the mistake.
Outcome<Json> ReadBody(const Request& request);

Response Create(const ApiContext& context, const Request& request, const Target& target);

// PUT, of the target's part.
Response Replace(const ApiContext& context, const Request& request, const Target& target);

// The new document for an old object, in the form of the target's part; may be called again with a
// newer one.
using Revise = std::function<Outcome<Json>(const Object& old)>;

// Reads, revises, admits and stores, and answers the part. For Replace and patches.
Response Change(const ApiContext& context, const Request& request, const Target& target,
                const Revise& revise);

// Stores one write and waits for it. A dry run changes nothing and answers the object as it is.
Outcome<ObjectPtr> Commit(const ApiContext& context, Write write, bool dry_run);

}  // namespace detent
