// What the API server asks before it stores an object of ours, and what it is answered: the verdict
// of the code that `detent validate` and the embedded API use (core/api/admission.h).
//
// Pure but for what the context brings along; any thread.
//
// Source: Kubernetes documentation, "Dynamic Admission Control" (admission.k8s.io/v1).

#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "core/api/admission.h"
#include "core/api/live_review.h"
#include "core/api/object.h"
#include "core/base/json.h"
#include "core/base/result.h"

namespace detent {

// A JobConfig by namespace and name. kNotFound: there is none; other errors: nobody can tell now.
using FindJobConfig = std::function<Result<Object>(const std::string& ns, const std::string& name)>;

struct ReviewContext {
  AdmissionContext admission;
  // "system:serviceaccount:NS:detent": what the host writes is not judged, since it adds what a
  // user may not change, such as the template of a Job that names a JobConfig.
  std::string host_user;
  // For a new Job with spec.configName and no template, which is judged as the host will complete
  // it. Null: it is judged as it is.
  FindJobConfig find_job_config;
  // Tries out what is about to be stored. Null: nothing is.
  const LiveValidator* live = nullptr;
  std::chrono::milliseconds live_patience{1'300};
};

// The AdmissionReview to answer with. kInvalid: `body` is no AdmissionReview of v1, or its request
// is not whole; the message is for HTTP 400.
//
// Judged are creations and updates of JobConfigs and Jobs. All else passes: deletions, the status,
// other kinds, the host's own writes, and every update of an object that is being deleted, so that
// its finalizers can come off. All mistakes are told at once. A mistake that the object had already
// does not stand in the way of an update, and is told as a warning. An object that cannot be
// looked up now is no reason to refuse, either: the host judges again before it starts anything.
Result<std::string> AnswerReview(std::string_view body, const ReviewContext& context);

// An object as the API server has it. kInvalid: its metadata cannot be read.
Result<Object> ObjectFromCluster(Kind kind, const Json& document);

}  // namespace detent
