#include "core/api/field_reader.h"

#include <utility>

namespace detent {

FieldReader::FieldReader(const Json& object, std::string where)
    : object_(object), where_(std::move(where)) {
  if (object_.is_object()) return;
  error_.emplace(Code::kInvalid, (where_.empty() ? std::string("the document") : where_) +
                                     ": must be an object, not " + object_.type_name());
}

FieldReader& FieldReader::Read(std::string_view name, std::string& out) {
  const Json* value = Find(name);
  if (value == nullptr) return *this;
  if (value->is_string()) {
    out = value->as_string();
  } else {
    WrongType(name, "a string", *value);
  }
  return *this;
}

FieldReader& FieldReader::Read(std::string_view name, int64_t& out) {
  const Json* value = Find(name);
  if (value == nullptr) return *this;
  if (value->is_int()) {
    out = value->as_int();
  } else {
    WrongType(name, "an integer", *value);
  }
  return *this;
}

FieldReader& FieldReader::Read(std::string_view name, std::optional<int64_t>& out) {
  if (Find(name) == nullptr) return *this;
  return Read(name, out.emplace());
}

FieldReader& FieldReader::Read(std::string_view name, bool& out) {
  const Json* value = Find(name);
  if (value == nullptr) return *this;
  if (value->is_bool()) {
    out = value->as_bool();
  } else {
    WrongType(name, "true or false", *value);
  }
  return *this;
}

FieldReader& FieldReader::Read(std::string_view name, WallTime& out) {
  const Json* value = Find(name);
  if (value == nullptr) return *this;
  const auto time = value->is_string() ? ParseTime(value->as_string()) : std::nullopt;
  if (time) {
    out = *time;
  } else {
    WrongType(name, "an RFC 3339 time", *value);
  }
  return *this;
}

FieldReader& FieldReader::Read(std::string_view name, std::optional<WallTime>& out) {
  if (Find(name) == nullptr) return *this;
  return Read(name, out.emplace());
}

FieldReader& FieldReader::Read(std::string_view name, StringMap& out) {
  const Json* map = Object(name);
  if (map == nullptr) return *this;
  for (const auto& [key, value] : map->as_object()) {
    if (value.is_string()) {
      out.insert_or_assign(key, value.as_string());
    } else {
      WrongType(std::string(name) + "[" + key + "]", "a string", value);
    }
  }
  return *this;
}

const Json* FieldReader::Object(std::string_view name) {
  const Json* value = Find(name);
  if (value == nullptr || value->is_object()) return value;
  WrongType(name, "an object", *value);
  return nullptr;
}

const Json* FieldReader::Array(std::string_view name) {
  const Json* value = Find(name);
  if (value == nullptr || value->is_array()) return value;
  WrongType(name, "an array", *value);
  return nullptr;
}

std::string FieldReader::Path(std::string_view name) const {
  std::string path = where_;
  if (!path.empty()) path += '.';
  return path.append(name);
}

void FieldReader::Fail(std::string_view name, const std::string& what) {
  Fail(Error(Code::kInvalid, Path(name) + ": " + what));
}

void FieldReader::Fail(Error error) {
  if (!error_) error_.emplace(std::move(error));
}

void FieldReader::Merge(const FieldReader& inner) {
  if (inner.error_) Fail(*inner.error_);
}

Result<void> FieldReader::Finish() const {
  if (error_) return *error_;
  return {};
}

const Json* FieldReader::Find(std::string_view name) const {
  const Json* value = object_.Find(name);
  return value == nullptr || value->is_null() ? nullptr : value;
}

void FieldReader::WrongType(std::string_view name, const char* wanted, const Json& found) {
  Fail(name, std::string("must be ") + wanted + ", not " + found.type_name());
}

std::string TimeText(WallTime time) {
  const bool whole = std::chrono::floor<std::chrono::seconds>(time) == time;
  return whole ? FormatTime(time) : FormatMicroTime(time);
}

}  // namespace detent
