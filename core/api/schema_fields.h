// How the tables of fields are written down, and the tables that several kinds have in common. For
// core/api, and for the host's configuration. Constant data; any thread.

#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/api/schema.h"
#include "core/base/json.h"

namespace detent {

using Fields = std::vector<Field>;

inline Field Text(std::string_view name, std::string_view description) {
  return {name, FieldType::kString, description};
}
inline Field Number(std::string_view name, std::string_view description) {
  return {name, FieldType::kInteger, description};
}
inline Field Truth(std::string_view name, std::string_view description) {
  return {name, FieldType::kBoolean, description};
}
inline Field Moment(std::string_view name, std::string_view description) {
  return {name, FieldType::kTime, description};
}
inline Field Texts(std::string_view name, std::string_view description) {
  return {name, FieldType::kArray, description};
}
inline Field TextMap(std::string_view name, std::string_view description) {
  return {name, FieldType::kStringMap, description};
}
inline Field Anything(std::string_view name, std::string_view description) {
  return {name, FieldType::kAny, description};
}
inline Field Struct(std::string_view name, std::string_view description, Fields fields) {
  return {name, FieldType::kObject, description, std::move(fields)};
}
inline Field Structs(std::string_view name, std::string_view description, Fields fields) {
  return {name, FieldType::kArray, description, std::move(fields), FieldType::kObject};
}
inline Field OneOf(std::string_view name, std::string_view description,
                   std::vector<std::string_view> values) {
  Field field = Text(name, description);
  field.values = std::move(values);
  return field;
}
inline Field Required(Field field) {
  field.required = true;
  return field;
}
// Known from Furiko or from Detent's own manifests, and not done by this version.
inline Field NotOffered(Field field) {
  field.offered = false;
  return field;
}

// The members of every object, around the fields of its spec and status.
Fields ObjectFields(std::string_view spec_description, Fields spec, Fields status);
Fields MetadataFields();

// One entry for each executor that is known by name, and one for all others.
Fields ExecutorFields();
// spec.template.spec of a JobConfig, spec.template of a Job.
Fields JobTemplateFields();
Field ConcurrencyPolicyField(std::string_view name, std::string_view description);

Fields JobConfigFields();
Fields JobFields();
Fields TaskFields();

// The entry for `name`: its own, or the one named "*", or null.
const Field* FindField(const Fields& fields, std::string_view name);

// CheckFields for one object inside a document, which stands at `pointer`.
void CheckObject(const Fields& fields, const Json& object, const std::string& pointer,
                 Diagnostics& mistakes);

// Takes out of `object` what is null and what `fields` does not know, all the way down.
void DropUnknown(const Fields& fields, Json& object);

}  // namespace detent
