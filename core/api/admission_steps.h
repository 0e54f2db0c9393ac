// The steps of admission, each over the document as it will be stored. Internal to core/api.
//
// A step skips what has the wrong type or is missing: CheckFields has reported that already. One
// Review is used by one thread.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/api/admission.h"
#include "core/api/object.h"
#include "core/base/diagnostic.h"
#include "core/base/json.h"
#include "core/base/result.h"

namespace detent {

// What one admission works on, and what it has found so far.
struct Review {
  const AdmissionContext& context;
  Kind kind;
  const Object* old = nullptr;  // Null for a new object.
  Diagnostics mistakes = {};
  std::vector<std::string> warnings = {};

  void Add(std::string pointer, Diagnostic::Reason reason, std::string message,
           std::string hint = "");
  // "'VALUE' must be ...", if `result` is an error.
  void AddIfBad(const std::string& pointer, std::string_view value, const Result<void>& result);
};

// Unknown fields are let go with a warning each.
void ForgiveUnknown(Review& review);

// A member of that name and type, or null. `object` may be null.
const Json* ObjectIn(const Json* object, std::string_view name);
const Json* ArrayIn(const Json* object, std::string_view name);
const std::string* TextIn(const Json* object, std::string_view name);

// "'some text'", cut where it is long.
std::string Quoted(std::string_view text);

struct Range {
  std::string_view name;
  int64_t least;
  int64_t most;
};

// Seconds are bounded as Kubernetes bounds them: by what 32 bits hold.
inline constexpr int64_t kMostSeconds = INT32_MAX;

// Reports an integer member that is out of range.
void CheckRange(Review& review, const Json& object, const std::string& pointer, const Range& range);

// Members of metadata that a user writes.
void CheckMeta(Review& review, const Json& document);
// metadata.labels and metadata.annotations, here and in templates.
void CheckLabelsAndAnnotations(Review& review, const Json* metadata, const std::string& pointer);

void CheckJobTemplate(Review& review, const Json& job_template, const std::string& pointer);

void CheckJobConfigSpec(Review& review, const Json& document);
void CheckJobSpec(Review& review, const Json& document);

// Puts in what is not given and means the same on every host.
void ApplyDefaults(const Review& review, Json& document);

// Reports what differs from the old object and may not.
void CheckImmutable(Review& review, const Json& document);

}  // namespace detent
