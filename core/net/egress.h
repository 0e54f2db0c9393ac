// Which addresses may be connected to: lists of CIDR blocks, judged on the address itself.
//
// Immutable once parsed; any thread. Deny wins over allow; an empty allow list allows whatever is
// not denied. An IPv4 address that is written as IPv6 (::ffff:10.0.0.1) is judged as IPv4, so that
// it cannot slip past a rule.

#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

struct sockaddr;

namespace detent {

class EgressPolicy {
 public:
  // Adds "10.0.0.0/8", "fd00::/8", or a single address. kInvalid: not one of these.
  Result<void> Allow(std::string_view cidr);
  Result<void> Deny(std::string_view cidr);

  // True if nothing is forbidden at all.
  bool empty() const { return allow_.empty() && deny_.empty(); }

  // Families other than IPv4 and IPv6 are local and always permitted.
  bool Permits(const sockaddr* address) const;
  // The same for an address as text. False for text that is no address.
  bool Permits(std::string_view address) const;

 private:
  struct Block {
    std::array<uint8_t, 16> prefix{};  // IPv4 as ::ffff:a.b.c.d.
    int bits = 0;                      // Of the 128.
  };
  static Result<Block> Parse(std::string_view cidr);
  bool PermitsBytes(const std::array<uint8_t, 16>& address) const;

  std::vector<Block> allow_, deny_;
};

}  // namespace detent
