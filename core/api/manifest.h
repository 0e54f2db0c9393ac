// Reads manifest files: one or many YAML or JSON documents to objects of our kinds, with every
// mistake at its line and column. What `apply`, `validate` and `run -f` share.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/api/object.h"
#include "core/base/diagnostic.h"
#include "core/base/json.h"
#include "core/base/result.h"
#include "core/base/yaml.h"

namespace detent {

struct Manifest {
  Kind kind = Kind::kJob;
  Json document;        // The object, apiVersion and kind included. A List is taken apart.
  std::string file;     // As given, or "<stdin>".
  YamlDocument source;  // For positions.
};

// Errors are kInvalid and begin with "FILE:LINE:COLUMN: ". All documents are read; the first that
// is no object of a known kind is the error (with the kinds there are, and the nearest).
Result<std::vector<Manifest>> ReadManifests(std::string_view text, const std::string& file);

// "FILE:LINE:COLUMN: spec.schedule.cron.expression: ..." for a mistake in a manifest.
std::string Locate(const Manifest& manifest, const Diagnostic& mistake);

}  // namespace detent
