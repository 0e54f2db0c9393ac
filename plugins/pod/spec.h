// PodSpec: what stands under `taskTemplate.pod`, read from JSON with all mistakes reported at once.
// README.md describes every field. `spec` is any PodSpec of any version of Kubernetes: the API
// server judges it, and only what can be said without it is said here. Pure, any thread.

#pragma once

#include <cstdint>
#include <string>

#include "detent/sdk/spec.h"

namespace detent::pod {

enum class DeletePods : uint8_t { kNever, kOnSuccess, kAlways };

struct PodSpec {
  DeletePods delete_pods = DeletePods::kNever;  // once the outcome is recorded
  std::string result_path;                      // of resultJsonPath; empty: all of the message
  // What goes into the Pod as it is, borrowed from the document.
  sdk::Json labels, annotations, finalizers, spec;
};

// Findings go to fields.diag(); with any error in it the value is not to be used. instance: who
// evaluates expressions; 0 in pure calls.
PodSpec ReadSpec(sdk::Fields& fields, sdk::Fields::Mode mode, detent_instance instance);

}  // namespace detent::pod
