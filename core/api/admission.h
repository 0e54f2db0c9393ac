// What may be stored: reads a whole object as a user wrote it, fills in defaults, and reports every
// mistake at once. Pure but for the SpecValidator; any thread.
//
// The same code serves the API server, `detent validate` and `detent apply`.

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/api/object.h"
#include "core/base/clock.h"
#include "core/base/diagnostic.h"
#include "core/base/json.h"

namespace detent {

// Asks the plugins about what only they understand. Any thread; must not block on the outside.
class SpecValidator {
 public:
  virtual ~SpecValidator() = default;
  // The executor kinds that the host is configured with ("exec", "http"), sorted.
  virtual std::vector<std::string> Kinds() const = 0;
  // Mistakes in the spec of one kind, pointers relative to it. Empty also where the plugin is not
  // usable now: such tasks are held, not refused.
  virtual Diagnostics Validate(std::string_view kind, std::string_view spec_json) const = 0;
};

struct AdmissionContext {
  const SpecValidator* validator = nullptr;  // Null: kinds and their specs are not checked.
  WallTime now{};
  std::string default_timezone = "UTC";
};

struct Admission {
  Object object;                      // Meaningful where there are no diagnostics.
  Diagnostics mistakes;               // Empty: admitted.
  std::vector<std::string> warnings;  // For the reply's Warning header (RFC 9111 form, text only).
};

// Brings spellings of an older form to the one that is stored: Furiko's apiVersion becomes ours,
// and `task: {template: {...}}` becomes `taskTemplate: {...}`. All else stays as it is, mistakes
// too. True: the second was done, and OlderPointer says where the user has what a mistake is about.
bool Modernize(Kind kind, Json& document);
std::string OlderPointer(Kind kind, const std::string& pointer);

// A new object. `document` is the whole object; apiVersion and kind of Furiko's group are taken as
// ours, and the older `task: {template: {...}}` as `taskTemplate`. Unknown fields are mistakes (or
// warnings with `strict` false, and are dropped). Name or generateName must be there. A Task is
// always refused: the host makes them, for Jobs, without admission.
Admission AdmitNew(Kind kind, const Json& document, const AdmissionContext& context,
                   bool strict = true);

// A changed object: besides the above, immutable fields must be as in `old`. metadata that only the
// server sets (uid, creation, version, generation, deletion) is taken from `old`; status is kept.
Admission AdmitUpdate(const Object& old, const Json& document, const AdmissionContext& context,
                      bool strict = true);

// A change of /status: metadata and spec stay as in `old`.
Admission AdmitStatus(const Object& old, const Json& document);

}  // namespace detent
