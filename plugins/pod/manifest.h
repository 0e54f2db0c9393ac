// From a spec to the Pod that is created: the template as it is, with the task's name, with
// restartPolicy Never where nothing is said, and with four variables in the environment of each
// container that does not set them itself. The host adds its marks (detent/services/kube.h,
// ensure). Pure, any thread.

#pragma once

#include <string>
#include <string_view>

#include "detent/sdk/task.h"
#include "plugins/pod/spec.h"

namespace detent::pod {

// What a container can read of its task; the names are those of README.md.
struct TaskVariables {
  explicit TaskVariables(const sdk::TaskRef& ref);

  struct Variable {
    std::string_view name;
    std::string value;
  };
  Variable all[4];
};

// The Pod as JSON. spec: without errors; host and instance are for reading it.
std::string ManifestOf(const PodSpec& spec, const sdk::TaskRef& ref, const sdk::Host& host);

// The same for a task that nobody has made, under a name that the server chooses. What is wrong
// with the spec is in the Pod, too.
std::string DryRunManifestOf(const PodSpec& spec, const sdk::Host& host);

// How many variables are put before the `env` of a container, which may be missing.
uint64_t AddedVariables(const sdk::Json& env);

}  // namespace detent::pod
