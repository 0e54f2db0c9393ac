// Reads the header blocks of HTTP/2, for servers of tests. What they write needs no compression.
//
// One decoder for each connection, whose dynamic table it keeps. Source: RFC 7541.

#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace detent::testing {

using Fields = std::vector<std::pair<std::string, std::string>>;  // Names in lower case.

class HpackDecoder {
 public:
  // A whole block. nullopt: it is none; the connection is of no use then.
  std::optional<Fields> Decode(std::string_view block);

 private:
  std::optional<uint64_t> Number(int bits);
  std::optional<std::string> Text();
  std::optional<std::pair<std::string, std::string>> Entry(uint64_t index) const;
  bool TakeField(Fields& fields);
  void Remember(std::pair<std::string, std::string> field);
  void Shrink();

  std::string_view rest_;                                  // Of the block.
  std::deque<std::pair<std::string, std::string>> table_;  // The newest first.
  size_t size_ = 0;
  size_t size_max_ = 4096;
};

// A block that says these fields.
std::string HpackLiteral(const Fields& fields);

}  // namespace detent::testing
