#include "tests/net/hpack.h"

#include <algorithm>
#include <array>

namespace detent::testing {
namespace {

// Appendix A.
constexpr std::pair<std::string_view, std::string_view> kStatic[] = {
    {":authority", ""},
    {":method", "GET"},
    {":method", "POST"},
    {":path", "/"},
    {":path", "/index.html"},
    {":scheme", "http"},
    {":scheme", "https"},
    {":status", "200"},
    {":status", "204"},
    {":status", "206"},
    {":status", "304"},
    {":status", "400"},
    {":status", "404"},
    {":status", "500"},
    {"accept-charset", ""},
    {"accept-encoding", "gzip, deflate"},
    {"accept-language", ""},
    {"accept-ranges", ""},
    {"accept", ""},
    {"access-control-allow-origin", ""},
    {"age", ""},
    {"allow", ""},
    {"authorization", ""},
    {"cache-control", ""},
    {"content-disposition", ""},
    {"content-encoding", ""},
    {"content-language", ""},
    {"content-length", ""},
    {"content-location", ""},
    {"content-range", ""},
    {"content-type", ""},
    {"cookie", ""},
    {"date", ""},
    {"etag", ""},
    {"expect", ""},
    {"expires", ""},
    {"from", ""},
    {"host", ""},
    {"if-match", ""},
    {"if-modified-since", ""},
    {"if-none-match", ""},
    {"if-range", ""},
    {"if-unmodified-since", ""},
    {"last-modified", ""},
    {"link", ""},
    {"location", ""},
    {"max-forwards", ""},
    {"proxy-authenticate", ""},
    {"proxy-authorization", ""},
    {"range", ""},
    {"referer", ""},
    {"refresh", ""},
    {"retry-after", ""},
    {"server", ""},
    {"set-cookie", ""},
    {"strict-transport-security", ""},
    {"transfer-encoding", ""},
    {"user-agent", ""},
    {"vary", ""},
    {"via", ""},
    {"www-authenticate", ""}};
static_assert(std::size(kStatic) == 61);

// Appendix B: the code is canonical, so the lengths say all of it. 'A' is 5 bits, for each octet.
constexpr std::string_view kLengths =
    "ISXXXXXXXTZXXZXXXXXXXXZXXXXXXXXXBFFHIBDGFFDGDBBBAAABBBBBBBCDKBHFIBCCCCCCCCCCCCCCCCCCCCCCDCDIOI"
    "JB"
    "KABABABBBACCBBBABCBAABCCCCCKGJIXPRPPRRRSRSSSSSTSTTRSTSSSSQRSRSSTRQPRRSSQSRRTQRSSQQRQSRSSPRRRSR"
    "RS"
    "VVPORSRUVVVWWVTUOQVWWVWTQQVVXWWWPTPQRQQSRRUUTTVSVWVVWWWWWXWWWWWV";
static_assert(kLengths.size() == 256);
constexpr int kLongest = 30;

struct HuffmanCode {
  // Of each length: the first code, and where its symbols begin among all in the order of codes.
  std::array<uint32_t, kLongest + 1> first{}, count{}, begin{};
  std::array<uint8_t, 256> symbols{};

  HuffmanCode() {
    uint32_t code = 0, placed = 0;
    for (int length = 5; length <= kLongest; ++length) {
      const auto at = static_cast<size_t>(length);
      code <<= 1;
      first[at] = code;
      begin[at] = placed;
      for (size_t symbol = 0; symbol < 256; ++symbol) {
        if (kLengths[symbol] - 'A' + 5 == length) symbols[placed++] = static_cast<uint8_t>(symbol);
      }
      count[at] = placed - begin[at];
      code += count[at];
    }
  }
};

std::string Unpack(std::string_view packed) {
  static const HuffmanCode kCode;
  std::string text;
  uint32_t code = 0;
  size_t length = 0;
  for (const char c : packed) {
    for (int bit = 7; bit >= 0; --bit) {
      code = code << 1 | (static_cast<unsigned char>(c) >> bit & 1U);
      if (++length < 5 || length > kLongest) continue;
      if (code - kCode.first[length] >= kCode.count[length]) continue;
      text += static_cast<char>(kCode.symbols[kCode.begin[length] + code - kCode.first[length]]);
      code = 0;
      length = 0;
    }
  }
  return text;  // What is left over are the ones that fill the last octet.
}

void AppendText(std::string& block, std::string_view text) {
  if (text.size() < 127) {
    block += static_cast<char>(text.size());
  } else {
    block += '\x7f';
    size_t rest = text.size() - 127;
    for (; rest >= 128; rest >>= 7) block += static_cast<char>((rest & 127) | 128);
    block += static_cast<char>(rest);
  }
  block += text;
}

}  // namespace

// Section 5.1; the first octet has `bits` of the number.
std::optional<uint64_t> HpackDecoder::Number(int bits) {
  if (rest_.empty()) return std::nullopt;
  const uint64_t most = (1U << bits) - 1;
  uint64_t number = static_cast<unsigned char>(rest_.front()) & most;
  rest_.remove_prefix(1);
  if (number < most) return number;
  for (int shift = 0; !rest_.empty() && shift < 32; shift += 7) {
    const auto octet = static_cast<unsigned char>(rest_.front());
    rest_.remove_prefix(1);
    number += static_cast<uint64_t>(octet & 127) << shift;
    if (octet < 128) return number;
  }
  return std::nullopt;
}

std::optional<std::string> HpackDecoder::Text() {
  const bool packed = !rest_.empty() && (rest_.front() & 0x80) != 0;
  const auto size = Number(7);
  if (!size || *size > rest_.size()) return std::nullopt;
  const std::string_view text = rest_.substr(0, *size);
  rest_.remove_prefix(*size);
  return packed ? Unpack(text) : std::string(text);
}

std::optional<std::pair<std::string, std::string>> HpackDecoder::Entry(uint64_t index) const {
  if (index == 0) return std::nullopt;
  if (index <= std::size(kStatic)) {
    const auto& [name, value] = kStatic[index - 1];
    return std::pair(std::string(name), std::string(value));
  }
  index -= std::size(kStatic) + 1;
  if (index >= table_.size()) return std::nullopt;
  return table_[index];
}

void HpackDecoder::Shrink() {
  while (size_ > size_max_) {
    size_ -= table_.back().first.size() + table_.back().second.size() + 32;
    table_.pop_back();
  }
}

void HpackDecoder::Remember(std::pair<std::string, std::string> field) {
  size_ += field.first.size() + field.second.size() + 32;
  table_.push_front(std::move(field));
  Shrink();
}

bool HpackDecoder::TakeField(Fields& fields) {
  const auto kind = static_cast<unsigned char>(rest_.front());
  if ((kind & 0x80) != 0) {  // Both from a table.
    const auto index = Number(7);
    auto entry = index ? Entry(*index) : std::nullopt;
    if (entry) fields.push_back(*std::move(entry));
    return entry.has_value();
  }
  if ((kind & 0xe0) == 0x20) {  // The table's size.
    const auto size = Number(5);
    if (size) size_max_ = *size;
    Shrink();
    return size.has_value();
  }
  const bool kept = (kind & 0x40) != 0;
  const auto index = Number(kept ? 6 : 4);
  if (!index) return false;
  std::optional<std::string> name;
  if (*index == 0) {
    name = Text();
  } else if (auto entry = Entry(*index)) {
    name = std::move(entry->first);
  }
  auto value = Text();
  if (!name || !value) return false;
  fields.emplace_back(*std::move(name), *std::move(value));
  if (kept) Remember(fields.back());
  return true;
}

std::optional<Fields> HpackDecoder::Decode(std::string_view block) {
  rest_ = block;
  Fields fields;
  while (!rest_.empty()) {
    if (!TakeField(fields)) return std::nullopt;
  }
  return fields;
}

std::string HpackLiteral(const Fields& fields) {
  std::string block;
  for (const auto& [name, value] : fields) {
    block += '\0';  // A new name, not to be remembered.
    AppendText(block, name);
    AppendText(block, value);
  }
  return block;
}

}  // namespace detent::testing
