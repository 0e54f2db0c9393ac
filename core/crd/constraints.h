// What fields may hold beyond their type, in the words of an API server: bounds, defaults, and
// rules in CEL, for what admission (core/api/admission.h) says in code. Pure; any thread.
//
// tests/crd holds the two together. What needs a clock, a parser or a plugin (cron expressions,
// time zones, executors' specs, killTimestamp once it has passed), metadata beyond the names, and
// what would look at every member of a large map is left to admission.
//
// Source: Kubernetes documentation, "Validation rules" of CustomResourceDefinitions (KEP-2876).

#pragma once

#include <string>
#include <vector>

#include "core/api/object.h"
#include "core/base/diagnostic.h"
#include "core/base/json.h"

namespace detent {

// Pointers lead to fields by their names; "*" is every member of a map, or element of a list.

// One keyword of JSON Schema: minimum, maxLength, default and so on.
struct FieldBound {
  std::string pointer;
  std::string keyword;
  Json value;
};

// What must be true of the value there. A rule that names oldSelf is asked of changes only.
struct FieldRule {
  std::string pointer;
  std::string rule;
  std::string path;  // Where the mistake is, from there: ".configName". Empty: there itself.
  Diagnostic::Reason reason = Diagnostic::Reason::kInvalid;
  std::string message;  // As admission has it.
};

std::vector<FieldBound> BoundsOf(Kind kind);
std::vector<FieldRule> RulesOf(Kind kind);

}  // namespace detent
