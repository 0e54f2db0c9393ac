// Reads YAML text into JSON values that remember where they stood, so that an error can say line
// and column. The only file that names yaml-cpp. Pure; any thread.
//
// Scalars follow YAML 1.2's core schema: null, true, false, integers, floats; the rest are strings
// (`yes` and `on` too). Aliases are followed within a limit, so that no text can explode.

#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/json.h"
#include "core/base/result.h"
#include "core/base/text_position.h"

namespace detent {

struct YamlDocument {
  Json value;
  // Where each value stands, by RFC 6901 pointer; of an object's member, its name.
  std::map<std::string, TextPosition, std::less<>> positions;

  // The position of `pointer`, or of the nearest value around it that has one.
  TextPosition PositionOf(std::string_view pointer) const;
};

// Reads every document of a stream; empty ones are left out. JSON text is YAML too.
// Errors (kInvalid) begin with "line L, column C: ".
// Refuses: syntax errors, invalid UTF-8, NUL, keys that are no strings, a key given twice, nesting
// deeper than 64, more than 1,000,000 values after aliases.
Result<std::vector<YamlDocument>> ParseYaml(std::string_view text);

// Writes a value as YAML in block style, as `-o yaml` shows it. Strings that YAML would read as
// something else are quoted.
std::string DumpYaml(const Json& value);

}  // namespace detent
