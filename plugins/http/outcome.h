// From the answer to a request to the end of its task: result, reason, message and output. What the
// output looks like is described in README.md. Pure, any thread.

#pragma once

#include <string_view>

#include "detent/sdk/task.h"
#include "detent/services/http.h"
#include "plugins/http/plan.h"

namespace detent::http {

// Bounds that keep the output below the 64 KiB of a task, however it has to be escaped.
inline constexpr size_t kBodyKept = 40 * 1024;
inline constexpr size_t kHeadersKept = 3 * 1024;

struct Reply {
  const detent_http_response& raw;  // not E_CLOSING: that ends no task
  std::string_view body;
  bool body_is_json = false;  // looked at where WantsJson says so
};

// The body without a byte order mark, which may stand before JSON.
std::string_view WithoutMark(std::string_view body);

// Whether it matters if the body is JSON.
bool WantsJson(const Plan& plan, const detent_http_response& response, std::string_view body);

// How the task ended. All fields but the times are set. A request that was cancelled is LOST here:
// whoever asked for it says KILLED instead.
sdk::TaskStatus DescribeEnd(const Plan& plan, const Reply& reply);

}  // namespace detent::http
