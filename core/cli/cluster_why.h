// `detent why` of an object in a cluster: the chain of reasons as far as it is stored, in the words
// of core/api/explanation.h. A host knows more, and says the same of what is told here.

#pragma once

#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/base/result.h"
#include "core/cli/api_client.h"

namespace detent {

// Reads the object, and what it depends on. Errors as ApiClient::Read.
Result<std::vector<std::string>> ExplainStored(ApiClient& api, const ObjectKey& key, WallTime now);

}  // namespace detent
