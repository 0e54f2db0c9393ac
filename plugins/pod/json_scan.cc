#include "plugins/pod/json_scan.h"

#include <algorithm>
#include <charconv>

namespace detent::pod {
namespace {

constexpr int kDepthMost = 128;

bool IsSpace(char c) {
  return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

// Four hexadecimal digits at text[i]; -1: there are none.
int32_t HexAt(std::string_view text, size_t i) {
  uint32_t value = 0;
  if (text.size() < i + 4) return -1;
  const char* const begin = text.data() + i;
  const auto [end, error] = std::from_chars(begin, begin + 4, value, 16);
  return error == std::errc() && end == begin + 4 ? static_cast<int32_t>(value) : -1;
}

void AppendUtf8(std::string& out, int32_t code) {
  const auto put = [&](int32_t byte) { out += static_cast<char>(byte); };
  if (code < 0x80) return put(code);
  if (code < 0x800) {
    put(0xC0 | (code >> 6));
  } else if (code < 0x10000) {
    put(0xE0 | (code >> 12));
    put(0x80 | ((code >> 6) & 0x3F));
  } else {
    put(0xF0 | (code >> 18));
    put(0x80 | ((code >> 12) & 0x3F));
    put(0x80 | ((code >> 6) & 0x3F));
  }
  put(0x80 | (code & 0x3F));
}

// The code point of \uXXXX at raw[i], which is behind the `u`; moves i behind it.
int32_t CodePoint(std::string_view raw, size_t& i) {
  constexpr int32_t kReplacement = 0xFFFD;
  const int32_t high = HexAt(raw, i);
  if (high < 0) return kReplacement;
  i += 4;
  if (high < 0xD800 || high > 0xDFFF) return high;
  const bool pair = high <= 0xDBFF && raw.substr(i, 2) == "\\u";
  const int32_t low = pair ? HexAt(raw, i + 2) : -1;
  if (low < 0xDC00 || low > 0xDFFF) return kReplacement;
  i += 6;
  return 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00);
}

}  // namespace

std::string Unescaped(std::string_view raw) {
  std::string out;
  out.reserve(raw.size());
  for (size_t i = 0; i < raw.size();) {
    const size_t escape = std::min(raw.find('\\', i), raw.size());
    out.append(raw, i, escape - i);
    i = escape + 1;
    if (escape + 1 >= raw.size()) break;
    constexpr std::string_view kLetters = "\"\\/bfnrt";
    constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
    const char letter = raw[i++];
    const size_t known = kLetters.find(letter);
    if (known != std::string_view::npos) {
      out += kMeanings[known];
    } else {
      AppendUtf8(out, letter == 'u' ? CodePoint(raw, i) : 0xFFFD);
    }
  }
  return out;
}

bool JsonScan::Fail() {
  failed_ = true;
  at_ = end_;
  return false;
}

void JsonScan::Space() {
  while (at_ != end_ && IsSpace(*at_)) ++at_;
}

char JsonScan::Peek() {
  Space();
  return at_ == end_ ? '\0' : *at_;
}

bool JsonScan::Begin(char bracket) {
  if (Peek() != bracket) {
    Skip();
    return false;
  }
  ++at_;
  first_ = true;
  return true;
}

// Whether another member or element follows; behind its comma then.
bool JsonScan::Next(char closing) {
  const bool first = first_;
  first_ = false;
  const char c = Peek();
  if (c == closing) {
    ++at_;
    return false;
  }
  if (first) return c != '\0' || Fail();
  if (c != ',') return Fail();
  ++at_;
  return true;
}

bool JsonScan::NextItem() {
  return Next(']');
}

bool JsonScan::NextKey(std::string_view& key) {
  if (!Next('}')) return false;
  bool escaped = false;
  if (!RawText(key, escaped)) return Fail();
  if (Peek() != ':') return Fail();
  ++at_;
  return true;
}

// The text between quotes; behind them then. False, and nothing taken: there is no text here.
bool JsonScan::RawText(std::string_view& raw, bool& escaped) {
  if (Peek() != '"') return false;
  const char* const begin = ++at_;
  for (; at_ != end_ && *at_ != '"'; ++at_) {
    if (*at_ != '\\') continue;
    escaped = true;
    if (++at_ == end_) break;
  }
  if (at_ == end_) return Fail();
  raw = {begin, static_cast<size_t>(at_++ - begin)};
  return true;
}

std::string JsonScan::Text() {
  std::string_view raw;
  bool escaped = false;
  if (RawText(raw, escaped)) return escaped ? Unescaped(raw) : std::string(raw);
  if (!failed_) Skip();
  return {};
}

std::optional<int64_t> JsonScan::Int() {
  Space();
  int64_t value = 0;
  const auto [end, error] = std::from_chars(at_, end_, value);
  const bool whole = end == end_ || (*end != '.' && *end != 'e' && *end != 'E');
  if (error != std::errc() || !whole) {
    Skip();
    return std::nullopt;
  }
  at_ = end;
  return value;
}

bool JsonScan::Bool() {
  Space();
  const bool yes = std::string_view(at_, static_cast<size_t>(end_ - at_)).starts_with("true");
  Skip();
  return yes;
}

void JsonScan::Skip() {
  const char c = Peek();
  if (c == '{' || c == '[') return SkipNested();
  std::string_view raw;
  bool escaped = false;
  if (c == '"') {
    RawText(raw, escaped);
  } else {
    SkipWord();
  }
}

std::string_view JsonScan::Raw() {
  Space();
  const char* const begin = at_;
  Skip();
  return failed_ ? std::string_view() : std::string_view(begin, static_cast<size_t>(at_ - begin));
}

// A number, true, false or null.
void JsonScan::SkipWord() {
  const char* const begin = at_;
  while (at_ != end_ && *at_ != ',' && *at_ != '}' && *at_ != ']' && !IsSpace(*at_)) ++at_;
  if (at_ == begin) Fail();
}

void JsonScan::SkipNested() {
  char open[kDepthMost];
  int depth = 0;
  std::string_view raw;
  bool escaped = false;
  do {
    while (at_ != end_ && *at_ != '"' && *at_ != '{' && *at_ != '[' && *at_ != '}' && *at_ != ']') {
      ++at_;
    }
    if (at_ == end_ || failed_) return void(Fail());
    if (*at_ == '"') {
      if (!RawText(raw, escaped)) return;
      continue;
    }
    const char c = *at_++;
    if (c == '{' || c == '[') {
      if (depth == kDepthMost) return void(Fail());
      open[depth++] = c == '{' ? '}' : ']';
    } else if (depth == 0 || open[--depth] != c) {
      return void(Fail());
    }
  } while (depth > 0);
}

bool JsonScan::Finish() {
  Space();
  return !failed_ && at_ == end_;
}

}  // namespace detent::pod
