// Writing JSON, and the UTF-8 that it is made of.

#include <charconv>
#include <cmath>

#include "core/base/json.h"

namespace detent {

namespace {

constexpr std::string_view kHex = "0123456789abcdef";
constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD.

bool IsByteIn(std::string_view text, size_t at, unsigned least, unsigned most) {
  if (at >= text.size()) return false;
  const auto byte = static_cast<unsigned char>(text[at]);
  return byte >= least && byte <= most;
}

// The length of the character at `at`, or 0 if there is no well-formed one (RFC 3629, section 4).
size_t CharacterLength(std::string_view text, size_t at) {
  const auto first = static_cast<unsigned char>(text[at]);
  if (first < 0x80) return 1;
  if (first < 0xC2 || first > 0xF4) return 0;
  if (first < 0xE0) return IsByteIn(text, at + 1, 0x80, 0xBF) ? 2 : 0;
  // The second byte's range excludes overlong forms, surrogates and what lies beyond U+10FFFF.
  const unsigned least = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
  const unsigned most = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
  if (!IsByteIn(text, at + 1, least, most) || !IsByteIn(text, at + 2, 0x80, 0xBF)) return 0;
  if (first < 0xF0) return 3;
  return IsByteIn(text, at + 3, 0x80, 0xBF) ? 4 : 0;
}

bool IsPlain(char c) {
  return static_cast<unsigned char>(c) >= 0x20 && static_cast<unsigned char>(c) < 0x80 &&
         c != '"' && c != '\\';
}

void AppendEscaped(std::string& out, char c) {
  switch (c) {
    case '"':
      out += "\\\"";
      break;
    case '\\':
      out += "\\\\";
      break;
    case '\n':
      out += "\\n";
      break;
    case '\r':
      out += "\\r";
      break;
    case '\t':
      out += "\\t";
      break;
    default:
      out += "\\u00";
      out += kHex[static_cast<unsigned char>(c) >> 4];
      out += kHex[static_cast<unsigned char>(c) & 15];
  }
}

template <typename Number>
void AppendNumber(std::string& out, Number number) {
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, number).ptr;
  out.append(text, end);
}

void AppendScalar(std::string& out, const Json& value) {
  if (value.is_string()) {
    AppendJsonString(out, value.as_string());
  } else if (value.is_bool()) {
    out += value.as_bool() ? "true" : "false";
  } else if (value.is_int()) {
    AppendNumber(out, value.as_int());
  } else if (value.is_double() && std::isfinite(value.as_double())) {
    AppendNumber(out, value.as_double());
  } else {
    // JSON has no word for infinity and NaN either.
    out += "null";
  }
}

class PrettyWriter {
 public:
  PrettyWriter(std::string& out, int indent) : out_(out), indent_(indent) {}

  void Write(const Json& value, int depth) {
    if (value.is_object() && !value.as_object().empty()) {
      WriteAll(value.as_object(), '{', '}', depth);
    } else if (value.is_array() && !value.as_array().empty()) {
      WriteAll(value.as_array(), '[', ']', depth);
    } else {
      AppendJson(out_, value);
    }
  }

 private:
  template <typename Items>
  void WriteAll(const Items& items, char open, char close, int depth) {
    out_ += open;
    bool first = true;
    for (const auto& item : items) {
      if (!first) out_ += ',';
      first = false;
      NewLine(depth + 1);
      WriteItem(item, depth + 1);
    }
    NewLine(depth);
    out_ += close;
  }

  void WriteItem(const Json& item, int depth) { Write(item, depth); }
  void WriteItem(const Json::Member& item, int depth) {
    AppendJsonString(out_, item.first);
    out_ += ": ";
    Write(item.second, depth);
  }

  void NewLine(int depth) {
    out_ += '\n';
    out_.append(static_cast<size_t>(depth) * indent_, ' ');
  }

  std::string& out_;
  const size_t indent_;
};

}  // namespace

size_t Utf8Prefix(std::string_view text) {
  size_t at = 0;
  while (at < text.size()) {
    const size_t length = CharacterLength(text, at);
    if (length == 0) break;
    at += length;
  }
  return at;
}

bool IsUtf8(std::string_view text) {
  return Utf8Prefix(text) == text.size();
}

void AppendJsonString(std::string& out, std::string_view text) {
  out += '"';
  size_t at = 0;
  while (at < text.size()) {
    size_t end = at;
    while (end < text.size() && IsPlain(text[end])) ++end;
    out += text.substr(at, end - at);
    at = end;
    if (at == text.size()) break;
    const size_t length = CharacterLength(text, at);
    if (length == 1) {
      AppendEscaped(out, text[at]);
    } else {
      out += length == 0 ? kReplacement : text.substr(at, length);
    }
    at += length == 0 ? 1 : length;
  }
  out += '"';
}

void AppendJson(std::string& out, const Json& value) {
  if (value.is_array()) {
    out += '[';
    bool first = true;
    for (const Json& item : value.as_array()) {
      if (!first) out += ',';
      first = false;
      AppendJson(out, item);
    }
    out += ']';
  } else if (value.is_object()) {
    out += '{';
    bool first = true;
    for (const auto& [name, member] : value.as_object()) {
      if (!first) out += ',';
      first = false;
      AppendJsonString(out, name);
      out += ':';
      AppendJson(out, member);
    }
    out += '}';
  } else {
    AppendScalar(out, value);
  }
}

std::string DumpJson(const Json& value) {
  std::string out;
  AppendJson(out, value);
  return out;
}

std::string DumpJsonPretty(const Json& value, int indent) {
  std::string out;
  PrettyWriter(out, indent).Write(value, 0);
  return out;
}

}  // namespace detent
