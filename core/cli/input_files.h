// What -f names: files, directories, and standard input. Blocks while it reads.

#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "core/api/manifest.h"
#include "core/base/result.h"

namespace detent {

struct InputFile {
  std::string name;  // As given, or "<stdin>".
  std::string text;
};

// "-" is `in`; of a directory all *.yaml, *.yml and *.json, by name, not those below it.
// kInvalid: not there, not readable, or a directory without any.
Result<std::vector<InputFile>> ReadInputFiles(const std::vector<std::string>& paths,
                                              std::istream& in);

// The same, read into objects.
Result<std::vector<Manifest>> ReadInputManifests(const std::vector<std::string>& paths,
                                                 std::istream& in);

}  // namespace detent
