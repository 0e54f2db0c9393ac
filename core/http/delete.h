// Deleting: an object with finalizers is marked and stays until the last of them is gone; one
// without goes at once. What depends on it is the loop's work.

#pragma once

#include "core/http/api_context.h"
#include "core/http/request.h"

namespace detent {

// Takes metav1.DeleteOptions as body or query. 200 with a Status where the object is gone, with
// the object where it only begins to go.
Response Delete(const ApiContext& context, const Request& request, const Target& target);

// All that the selectors match, as list reads them; answers the list of them.
Response DeleteCollection(const ApiContext& context, const Request& request, const Target& target);

}  // namespace detent
