// Where a plugin's findings about a document are gathered. One thread at a time.

#pragma once

#include <string>

#include "core/base/diagnostic.h"
#include "detent/status.h"

// The type that plugins know by its name only.
struct detent_diag {
  detent::Diagnostics mistakes;  // Of severity ERROR, at most 100.
  detent::Diagnostics warnings;  // The rest, at most 100.
  size_t dropped = 0;            // Beyond these.
};

namespace detent {

// Adds a finding as detent_host.diag_add takes it. Ill-formed text is repaired.
void AddFinding(detent_diag& sink, uint32_t severity, Diagnostic finding,
                const std::string& reason);

// The reason of a field error by a plugin's word for it; kInvalid for words of its own.
Diagnostic::Reason ReasonFromName(const std::string& name);

}  // namespace detent
