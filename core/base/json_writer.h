// Writes JSON straight into a string, for hot paths that never need a document.
//
// Call order: BeginObject (Key Value)* EndObject, arrays likewise, nested as JSON nests. The writer
// places the commas; it does not check the order, which its callers' tests do. One thread.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/json.h"

namespace detent {

class JsonWriter {
 public:
  // `out` is borrowed, appended to, and must outlive the writer.
  explicit JsonWriter(std::string& out) : out_(out) {}

  JsonWriter& BeginObject() { return Open('{'); }
  JsonWriter& EndObject() { return Close('}'); }
  JsonWriter& BeginArray() { return Open('['); }
  JsonWriter& EndArray() { return Close(']'); }

  JsonWriter& Key(std::string_view name) {
    Comma();
    AppendJsonString(out_, name);
    out_ += ':';
    comma_ = false;
    return *this;
  }

  JsonWriter& Value(std::string_view text) {
    Comma();
    AppendJsonString(out_, text);
    return *this;
  }
  JsonWriter& Value(const char* text) { return Value(std::string_view(text)); }
  JsonWriter& Value(const std::string& text) { return Value(std::string_view(text)); }
  JsonWriter& Value(int64_t number) {
    Comma();
    out_ += std::to_string(number);
    return *this;
  }
  JsonWriter& Value(int number) { return Value(int64_t{number}); }
  JsonWriter& Value(bool truth) {
    Comma();
    out_ += truth ? "true" : "false";
    return *this;
  }
  JsonWriter& Value(const Json& value) {
    Comma();
    AppendJson(out_, value);
    return *this;
  }

  // Appends `json`, which must be one whole JSON text already.
  JsonWriter& Raw(std::string_view json) {
    Comma();
    out_ += json;
    return *this;
  }

  template <typename T>
  JsonWriter& Member(std::string_view name, const T& value) {
    return Key(name).Value(value);
  }
  // Leaves an empty text out, as Kubernetes' omitempty does.
  JsonWriter& MemberIfSet(std::string_view name, std::string_view text) {
    return text.empty() ? *this : Key(name).Value(text);
  }

 private:
  JsonWriter& Open(char bracket) {
    Comma();
    out_ += bracket;
    comma_ = false;
    return *this;
  }
  JsonWriter& Close(char bracket) {
    out_ += bracket;
    comma_ = true;
    return *this;
  }
  void Comma() {
    if (comma_) out_ += ',';
    comma_ = true;
  }

  std::string& out_;
  bool comma_ = false;
};

}  // namespace detent
