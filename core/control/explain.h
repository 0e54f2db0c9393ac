// `detent why`: the chain of reasons for where an object is. Reads the model and the store, changes
// nothing. The loop's thread only.

#pragma once

#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/control/context.h"
#include "core/control/job_controller.h"

namespace detent {

Result<std::vector<std::string>> ExplainObject(Context& context, const JobController& jobs,
                                               const ObjectKey& key);

}  // namespace detent
