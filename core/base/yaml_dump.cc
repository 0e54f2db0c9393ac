// Writing YAML, in the block style that kubectl shows.

#include <algorithm>

#include "core/base/yaml.h"
#include "core/base/yaml_scalar.h"

namespace detent {

namespace {

bool StartsWith(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

// Well-formed, and without what YAML does not count as printable: control characters (but for line
// feeds, which the callers judge), C1 controls, line and paragraph separators, byte order marks.
bool IsPrintable(std::string_view text) {
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if ((byte < 0x20 && byte != '\n') || byte == 0x7F) return false;
    const std::string_view rest = text.substr(i);
    if (byte == 0xC2 && rest.size() > 1 && static_cast<unsigned char>(rest[1]) < 0xA0) return false;
    if (StartsWith(rest, "\xE2\x80\xA8") || StartsWith(rest, "\xE2\x80\xA9")) return false;
    if (StartsWith(rest, "\xEF\xBB\xBF")) return false;
  }
  return IsUtf8(text);
}

// Words and numbers that YAML 1.1 readers, kubectl's among them, take for something else.
bool IsOldYaml(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  static constexpr std::string_view kWords[] = {"y", "n", "yes", "no", "on", "off", "=", "<<"};
  if (std::find(std::begin(kWords), std::end(kWords), lower) != std::end(kWords)) return true;
  // Octal numbers, digits with '_', base 60, dates and times.
  return std::string_view("0123456789+-.").find(lower[0]) != std::string_view::npos &&
         lower.find_first_not_of("0123456789+-_:.exotz ") == std::string::npos;
}

bool IsPlainSafe(std::string_view text) {
  if (ResolveYamlScalar(text).kind != ScalarKind::kString || IsOldYaml(text)) return false;
  if (std::string_view(",[]{}#&*!|>'\"%@`").find(text[0]) != std::string_view::npos) return false;
  if (std::string_view("-?:").find(text[0]) != std::string_view::npos &&
      (text.size() == 1 || text[1] == ' ')) {
    return false;
  }
  if (StartsWith(text, "---") || StartsWith(text, "...")) return false;
  if (text.front() == ' ' || text.back() == ' ' || text.back() == ':') return false;
  return text.find(": ") == text.npos && text.find(" #") == text.npos &&
         text.find('\n') == text.npos && IsPrintable(text);
}

// True if a literal block gives the text back, whatever the reader.
bool IsBlockSafe(std::string_view text) {
  if (text.find('\n') == text.npos || !IsPrintable(text)) return false;
  // A leading space or empty line would need an indentation indicator.
  if (text[0] == ' ' || text[0] == '\n') return false;
  if (text.size() >= 2 && text.substr(text.size() - 2) == "\n\n") return false;
  return text.back() != ' ' && text.find(" \n") == text.npos;
}

void AppendQuoted(std::string& out, std::string_view text) {
  std::string quoted;
  AppendJsonString(quoted, text);
  if (IsPrintable(quoted)) {
    out += quoted;
    return;
  }
  static constexpr std::string_view kHex = "0123456789ABCDEF";
  for (size_t i = 0; i < quoted.size(); ++i) {
    const std::string_view rest = std::string_view(quoted).substr(i);
    const auto byte = static_cast<unsigned char>(rest[0]);
    if (byte == 0x7F) {
      out += "\\x7F";
    } else if (byte == 0xC2 && static_cast<unsigned char>(rest[1]) < 0xA0) {
      const auto code = static_cast<unsigned char>(quoted[++i]);
      out += "\\x";
      out += kHex[code >> 4];
      out += kHex[code & 15];
    } else if (StartsWith(rest, "\xE2\x80\xA8") || StartsWith(rest, "\xE2\x80\xA9")) {
      out += rest[2] == '\xA8' ? "\\u2028" : "\\u2029";
      i += 2;
    } else if (StartsWith(rest, "\xEF\xBB\xBF")) {
      out += "\\uFEFF";
      i += 2;
    } else {
      out += rest[0];
    }
  }
}

class BlockWriter {
 public:
  explicit BlockWriter(std::string& out) : out_(out) {}

  // Writes what follows "key:" or "-", or the whole document; ends with a line feed.
  void WriteRoot(const Json& value) {
    if (IsCollection(value)) {
      WriteCollection(value, 0, false);
    } else {
      WriteScalar(value, 2);
      out_ += '\n';
    }
  }

 private:
  static bool IsCollection(const Json& value) {
    return (value.is_array() && !value.as_array().empty()) ||
           (value.is_object() && !value.as_object().empty());
  }

  // `inside` says that the first line's indentation is there already, after a "- ".
  void WriteCollection(const Json& value, size_t indent, bool inside) {
    if (value.is_array()) {
      for (const Json& item : value.as_array()) {
        if (!inside) out_.append(indent, ' ');
        inside = false;
        out_ += '-';
        WriteItem(item, indent + 2);
      }
      return;
    }
    for (const auto& [name, member] : value.as_object()) {
      if (!inside) out_.append(indent, ' ');
      inside = false;
      WriteKey(name);
      WriteMember(member, indent);
    }
  }

  void WriteItem(const Json& item, size_t indent) {
    out_ += ' ';
    if (IsCollection(item)) {
      WriteCollection(item, indent, true);
    } else {
      WriteScalar(item, indent);
      out_ += '\n';
    }
  }

  void WriteMember(const Json& member, size_t indent) {
    out_ += ':';
    if (IsCollection(member)) {
      out_ += '\n';
      // A list stands below its key without more indentation.
      WriteCollection(member, member.is_array() ? indent : indent + 2, false);
    } else {
      out_ += ' ';
      WriteScalar(member, indent + 2);
      out_ += '\n';
    }
  }

  void WriteKey(std::string_view name) {
    if (IsPlainSafe(name)) {
      out_ += name;
    } else {
      AppendQuoted(out_, name);
    }
  }

  void WriteScalar(const Json& value, size_t indent) {
    if (!value.is_string()) {
      AppendJson(out_, value);
    } else if (IsPlainSafe(value.as_string())) {
      out_ += value.as_string();
    } else if (IsBlockSafe(value.as_string())) {
      WriteBlock(value.as_string(), indent);
    } else {
      AppendQuoted(out_, value.as_string());
    }
  }

  void WriteBlock(std::string_view text, size_t indent) {
    out_ += text.back() == '\n' ? "|" : "|-";
    if (text.back() == '\n') text.remove_suffix(1);
    for (size_t begin = 0; begin <= text.size();) {
      const size_t end = std::min(text.find('\n', begin), text.size());
      out_ += '\n';
      if (end > begin) out_.append(indent, ' ');
      out_ += text.substr(begin, end - begin);
      begin = end + 1;
    }
  }

  std::string& out_;
};

}  // namespace

std::string DumpYaml(const Json& value) {
  std::string out;
  BlockWriter(out).WriteRoot(value);
  return out;
}

}  // namespace detent
