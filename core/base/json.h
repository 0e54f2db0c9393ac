// The one JSON value type of the core (RFC 8259): for documents whose shape is not ours to fix.
//
// A value: copies are deep, nothing is shared, no thread rules but the usual ones. Objects keep the
// order of their members, so that what is written comes out as it came in. json.cc is the only file
// that names a JSON library.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/base/result.h"

namespace detent {

class Json {
 public:
  using Array = std::vector<Json>;
  using Member = std::pair<std::string, Json>;
  using Object = std::vector<Member>;

  // Implicit, so that a member is set as it is written: Set("name", "x").
  // NOLINTBEGIN(google-explicit-constructor)
  Json() = default;  // null
  Json(std::nullptr_t) {}
  Json(bool value) : value_(value) {}
  Json(int value) : value_(int64_t{value}) {}
  Json(int64_t value) : value_(value) {}
  Json(double value) : value_(value) {}
  Json(const char* value) : value_(std::string(value)) {}
  Json(std::string_view value) : value_(std::string(value)) {}
  Json(std::string value) : value_(std::move(value)) {}
  Json(Array value) : value_(std::move(value)) {}
  Json(Object value) : value_(std::move(value)) {}
  // NOLINTEND(google-explicit-constructor)

  bool is_null() const { return value_.index() == 0; }
  bool is_bool() const { return value_.index() == 1; }
  bool is_int() const { return value_.index() == 2; }
  bool is_double() const { return value_.index() == 3; }
  bool is_number() const { return is_int() || is_double(); }
  bool is_string() const { return value_.index() == 4; }
  bool is_array() const { return value_.index() == 5; }
  bool is_object() const { return value_.index() == 6; }

  // "null", "bool", "integer", "number", "string", "array" or "object": the word errors use.
  const char* type_name() const;

  // Each requires the matching is_...().
  bool as_bool() const { return std::get<bool>(value_); }
  int64_t as_int() const { return std::get<int64_t>(value_); }
  double as_double() const;  // Also of an integer.
  const std::string& as_string() const { return std::get<std::string>(value_); }
  const Array& as_array() const { return std::get<Array>(value_); }
  Array& as_array() { return std::get<Array>(value_); }
  const Object& as_object() const { return std::get<Object>(value_); }
  Object& as_object() { return std::get<Object>(value_); }

  // The member of that name, or null if this is no object or has none. Borrowed.
  const Json* Find(std::string_view name) const;
  Json* Find(std::string_view name);

  // The value at an RFC 6901 pointer ("/spec/template"), or null. Borrowed.
  const Json* At(std::string_view pointer) const;

  // Sets a member, at the end if it is new; a null value becomes an object first.
  Json& Set(std::string_view name, Json value);

  // Takes a member out; false if there was none.
  bool Remove(std::string_view name);

  // Appends to an array; a null value becomes an array first.
  Json& Append(Json value);

  // Compares as JSON does: members in any order; 1 and 1.0 are equal.
  bool operator==(const Json& other) const;

 private:
  std::variant<std::monostate, bool, int64_t, double, std::string, Array, Object> value_;
};

// Reads one JSON text, all of it. Refuses (Code::kInvalid, with the position in the message):
// malformed text, invalid UTF-8, nesting deeper than `depth_max`, a member named twice.
Result<Json> ParseJson(std::string_view text, size_t depth_max = 64);

// Writes compact JSON, members in their order.
std::string DumpJson(const Json& value);
void AppendJson(std::string& out, const Json& value);

// Writes indented JSON, as `-o json` shows it.
std::string DumpJsonPretty(const Json& value, int indent = 4);

// Appends `text` as a JSON string with its quotes. Invalid UTF-8 becomes U+FFFD.
void AppendJsonString(std::string& out, std::string_view text);

// True if `text` is well-formed UTF-8 (RFC 3629).
bool IsUtf8(std::string_view text);

// The number of leading bytes of `text` that are well-formed UTF-8.
size_t Utf8Prefix(std::string_view text);

// One step of an RFC 6901 pointer, with '~' and '/' escaped and a '/' put in front.
std::string PointerToken(std::string_view name);

// The steps of an RFC 6901 pointer, unescaped; nullopt if it is neither empty nor begins with '/',
// or has a '~' that escapes nothing.
std::optional<std::vector<std::string>> SplitPointer(std::string_view pointer);

// A step as the index of an array: digits without a leading zero.
std::optional<size_t> ArrayIndex(std::string_view step);

}  // namespace detent
