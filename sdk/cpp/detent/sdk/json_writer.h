// JsonWriter: writes one JSON value by appending, in the order in which it is called. For outputs,
// extra and log fields. Keeps the commas and the escapes; the caller keeps the nesting right:
//
//   JsonWriter w;
//   w.BeginObject().Key("code").Int(200).Key("tags").BeginArray().String("a").EndArray();
//   w.EndObject();
//
// Invalid UTF-8 in a string becomes U+FFFD, NaN and infinities become null. One thread at a time.

#pragma once

#include <charconv>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace detent::sdk {

class JsonWriter {
 public:
  JsonWriter& BeginObject() { return Open('{'); }
  JsonWriter& EndObject() { return Close('}'); }
  JsonWriter& BeginArray() { return Open('['); }
  JsonWriter& EndArray() { return Close(']'); }

  JsonWriter& Key(std::string_view key) {
    Comma();
    Quote(key);
    text_ += ':';
    comma_ = false;
    return *this;
  }

  JsonWriter& String(std::string_view value) {
    Comma();
    Quote(value);
    return *this;
  }
  JsonWriter& Int(int64_t value) { return Raw(std::to_string(value)); }
  JsonWriter& Uint(uint64_t value) { return Raw(std::to_string(value)); }
  JsonWriter& Bool(bool value) { return Raw(value ? "true" : "false"); }
  JsonWriter& Null() { return Raw("null"); }
  JsonWriter& Double(double value) {
    if (!std::isfinite(value)) return Null();
    char digits[32];
    const auto end = std::to_chars(digits, digits + sizeof(digits), value).ptr;
    return Raw({digits, static_cast<size_t>(end - digits)});
  }

  // Appends text that is a JSON value already.
  JsonWriter& Raw(std::string_view json) {
    Comma();
    text_ += json;
    return *this;
  }

  const std::string& text() const& { return text_; }
  std::string text() && { return std::move(text_); }

 private:
  JsonWriter& Open(char bracket) {
    Comma();
    text_ += bracket;
    comma_ = false;
    return *this;
  }
  JsonWriter& Close(char bracket) {
    text_ += bracket;
    comma_ = true;
    return *this;
  }
  void Comma() {
    if (comma_) text_ += ',';
    comma_ = true;
  }

  void Quote(std::string_view value) {
    text_ += '"';
    for (size_t i = 0; i < value.size();) {
      const auto c = static_cast<unsigned char>(value[i]);
      if (c < 0x80) {
        Ascii(c);
        ++i;
        continue;
      }
      const size_t length = SequenceAt(value, i);
      text_ += length == 0 ? "\xEF\xBF\xBD" : value.substr(i, length);
      i += length == 0 ? 1 : length;
    }
    text_ += '"';
  }

  void Ascii(unsigned char c) {
    static constexpr char kHex[] = "0123456789abcdef";
    if (c == '"' || c == '\\') {
      text_ += '\\';
      text_ += static_cast<char>(c);
    } else if (c == '\n') {
      text_ += "\\n";
    } else if (c < 0x20) {
      text_ += "\\u00";
      text_ += kHex[c >> 4];
      text_ += kHex[c & 15];
    } else {
      text_ += static_cast<char>(c);
    }
  }

  // Length of the well-formed UTF-8 sequence that starts at i (RFC 3629), 0 if there is none.
  static size_t SequenceAt(std::string_view s, size_t i) {
    const auto byte = [&](size_t k) { return static_cast<unsigned char>(s[i + k]); };
    const unsigned char lead = byte(0);
    const size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
    if (lead < 0xC2 || lead > 0xF4 || s.size() - i < length) return 0;
    for (size_t k = 1; k < length; ++k) {
      if ((byte(k) & 0xC0) != 0x80) return 0;
    }
    const bool overlong = (lead == 0xE0 && byte(1) < 0xA0) || (lead == 0xF0 && byte(1) < 0x90);
    const bool too_high = (lead == 0xED && byte(1) > 0x9F) || (lead == 0xF4 && byte(1) > 0x8F);
    return overlong || too_high ? 0 : length;
  }

  std::string text_;
  bool comma_ = false;
};

}  // namespace detent::sdk
