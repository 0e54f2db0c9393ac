// A Job's own fields.

#include "core/api/admission_steps.h"
#include "core/base/limits.h"
#include "core/base/names.h"
#include "core/expr/variables.h"

namespace detent {
namespace {

using Reason = Diagnostic::Reason;

void CheckConfigName(Review& review, const Json& spec) {
  const std::string* name = TextIn(&spec, "configName");
  const Json* job_template = spec.Find("template");
  if (name == nullptr) {
    if (job_template != nullptr || spec.Find("configName") != nullptr) return;
    review.Add("/spec/template", Reason::kRequired,
               "is required; or give spec.configName, the name of a JobConfig");
    return;
  }
  review.AddIfBad("/spec/configName", *name, CheckDns1123Subdomain(*name));
  // An update is told by the check of immutable fields.
  if (job_template == nullptr || review.old != nullptr) return;
  review.Add("/spec/configName", Reason::kForbidden,
             "cannot be given beside spec.template, which comes from the JobConfig; remove one of "
             "them");
}

void CheckSubstitutions(Review& review, const Json* substitutions) {
  if (substitutions == nullptr) return;
  for (const auto& [name, value] : substitutions->as_object()) {
    if (HasKnownPrefix(name)) continue;
    review.Add("/spec/substitutions" + PointerToken(name), Reason::kInvalid,
               Quoted(name) +
                   " must be a variable's full name, which begins with job., "
                   "jobconfig., task. or option.");
  }
}

}  // namespace

void CheckJobSpec(Review& review, const Json& document) {
  const Json* spec = ObjectIn(&document, "spec");
  if (spec == nullptr) return;
  CheckConfigName(review, *spec);
  CheckSubstitutions(review, ObjectIn(spec, "substitutions"));
  CheckRange(review, *spec, "/spec", {"ttlSecondsAfterFinished", 0, kMostSeconds});
  if (const Json* job_template = ObjectIn(spec, "template")) {
    CheckJobTemplate(review, *job_template, "/spec/template");
  }
}

}  // namespace detent
