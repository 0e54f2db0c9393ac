// One description of every field: its name, type, meaning. Feeds the check for unknown fields, the
// OpenAPI documents that `kubectl explain` shows, and later the CRDs. Constant data; any thread.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/api/object.h"
#include "core/base/diagnostic.h"
#include "core/base/json.h"

namespace detent {

enum class FieldType : uint8_t {
  kString,
  kInteger,
  kBoolean,
  kTime,
  kObject,
  kArray,
  kStringMap,
  kAny
};

struct Field {
  std::string_view name;  // "*" stands for every name that has no entry of its own.
  FieldType type;
  std::string_view description;  // One or two sentences, with unit, range and default.
  // Of an object (none: it may hold anything), or of an array's elements if those are objects.
  std::vector<Field> fields = {};
  FieldType element = FieldType::kString;     // Of an array.
  std::vector<std::string_view> values = {};  // Of an enumeration.
  bool required = false;
  bool offered = true;  // False: known, and refused, since this version does not do it.
  // Of an enumeration: values that are known and refused in the same way.
  std::vector<std::string_view> values_not_offered = {};
};

// The fields of a kind below the object itself: apiVersion, kind, metadata, spec, status.
const std::vector<Field>& FieldsOf(Kind kind);

// Checks names and types of a whole document: unknown fields with the nearest known name, wrong
// types with both, values outside an enumeration with those inside, required fields that are
// missing, fields that are not offered. A member that is null counts as absent.
void CheckFields(Kind kind, const Json& document, Diagnostics& mistakes);

// /openapi/v3/apis/<group>/<version>: OpenAPI 3.0 with the component schemas of all kinds and the
// paths that kubectl looks for. `executor_schemas` are JSON Schemas by executor kind, from plugins.
Json OpenApiV3(const std::vector<std::pair<std::string, Json>>& executor_schemas);

}  // namespace detent
