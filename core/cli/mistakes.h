// Mistakes in manifests, each as "FILE:LINE:COLUMN: field: what is wrong": found here, or by the
// server. Pure.

#pragma once

#include <string>
#include <vector>

#include "core/api/manifest.h"
#include "core/base/clock.h"
#include "core/cli/api_client.h"

namespace detent {

struct Findings {
  std::vector<std::string> mistakes;
  std::vector<std::string> warnings;
};

// What admission says without a host: executors' specs are not checked.
Findings CheckOffline(const Manifest& manifest, WallTime now);

// Why the server refused `manifest`: located where that is possible, and at least one sentence.
std::vector<std::string> ExplainRefusal(const Manifest& manifest, const Error& error,
                                        const std::vector<FieldMistake>& fields, WallTime now);

// "spec.a[0].b" as an RFC 6901 pointer, "/spec/a/0/b".
std::string PointerOf(std::string_view field);

}  // namespace detent
