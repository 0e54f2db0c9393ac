// ReadDocument: a spec or a config, from its text to a plugin's own struct, in one step. The same
// `read` function that Validate runs for its findings (see spec.h) gives the values here, and the
// first thing that is wrong is the Status. Strand, or pure calls with instance 0.

#pragma once

#include <string_view>
#include <type_traits>
#include <utility>

#include "detent/sdk/host.h"
#include "detent/sdk/spec.h"

namespace detent::sdk {

// text: a JSON object, after substitution. read: T(Fields&). Findings go to sink too, if not null.
template <typename Read>
auto ReadDocument(const Host& host, std::string_view text, Read read, detent_diag* sink = nullptr)
    -> Result<std::invoke_result_t<Read, Fields&>> {
  auto doc = JsonDoc::Parse(host.table(), host.instance(), text, sink);
  if (!doc) return doc.status();
  Diagnostics diag(host.table(), sink);
  auto value = [&] {
    Fields fields(doc->root(), "", Fields::Mode::kFinal, diag);
    return read(fields);
  }();
  if (!diag.ok()) return diag.status();
  return value;
}

}  // namespace detent::sdk
