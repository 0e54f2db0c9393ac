// What the API server says of a Pod that it was only asked to try out (dryRun=All), as findings
// about the spec that the Pod was made of. Pure, any thread.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "detent/sdk/json.h"
#include "detent/sdk/kube.h"

namespace detent::pod {

struct DryRunFinding {
  std::string pointer;  // into the task's spec; "": it names no field, or one of the host's
  std::string reason, message;
  bool lasting = true;  // false: rights, a quota or a namespace, which may be others by then
};

struct DryRunVerdict {
  // Not OK: nothing was learned, and why.
  sdk::Status looked;
  std::vector<DryRunFinding> findings;
};

//   2xx              nothing is wrong
//   400, 413, 422    a finding for each field that the server names, else one
//   403              one: of the host's rights, of a quota, of a namespace that ends; all else (an
//                    admission policy) is lasting
//   404              one: there is no such namespace yet
//   all else         nothing was learned
//
// spec: the task's, of which the Pod was made (manifest.h).
DryRunVerdict VerdictOf(const sdk::KubeAnswer& answer, const sdk::Json& spec, std::string_view ns);

}  // namespace detent::pod
