// A JobConfig as something that scales (autoscaling/v1 Scale): how many Jobs of it may be active at
// once. Of our kinds it alone does: a Job's withCount is immutable, as each index is one piece of
// its work. Pure; any thread.
//
// Source: Kubernetes API reference, autoscaling/v1.

#pragma once

#include "core/api/admission.h"
#include "core/api/object.h"
#include "core/base/json.h"
#include "core/base/result.h"

namespace detent {

inline constexpr const char* kScaleGroup = "autoscaling";
inline constexpr const char* kScaleVersion = "v1";
inline constexpr const char* kScaleGroupVersion = "autoscaling/v1";
inline constexpr const char* kScaleKind = "Scale";

// spec.replicas is the limit that holds: maxConcurrency, or its default. Policy Allow has none, and
// then it is absent, which autoscaling/v1 reads as 0: nothing to scale. status.replicas is
// status.active. An error: the stored JobConfig cannot be read (core/api/codec.h).
Result<Json> ScaleOf(const Object& config);

// A change of the JobConfig `old` by its Scale: AdmitUpdate with spec.replicas (absent: 0) as
// spec.concurrency.maxConcurrency, which mistakes are then about. Of metadata and status nothing is
// taken over.
Admission AdmitScale(const Object& old, const Json& scale, const AdmissionContext& context,
                     bool strict = true);

}  // namespace detent
