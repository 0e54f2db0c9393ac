// A Task's own fields.

#include <limits>

#include "core/api/admission_steps.h"
#include "core/api/schema_fields.h"
#include "core/base/limits.h"

namespace detent {
namespace {

// What the table names and is no executor; the entry "*" must not make a field of everything.
bool IsTaskField(std::string_view name) {
  static const Fields executors = ExecutorFields();
  for (const Field& field : FieldsOf(Kind::kTask)) {
    if (field.name != "spec") continue;
    const Field* found = FindField(field.fields, name);
    return found != nullptr && found->name != "*" && FindField(executors, name)->name == "*";
  }
  return false;
}

}  // namespace

void CheckTaskSpec(Review& review, const Json& document) {
  const Json* spec = ObjectIn(&document, "spec");
  if (spec == nullptr) return;
  CheckRange(review, *spec, "/spec", {"index", 0, limits::kIndexesPerJob - 1});
  CheckRange(review, *spec, "/spec", {"attempt", 1, std::numeric_limits<int32_t>::max()});
  CheckExecutors(review, *spec, "/spec", IsTaskField);
}

}  // namespace detent
