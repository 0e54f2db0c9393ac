#include "core/net/egress.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <charconv>
#include <cstring>
#include <optional>

namespace detent {
namespace {

using Bytes = std::array<uint8_t, 16>;

Bytes Mapped(const in_addr& address) {
  Bytes bytes{};
  bytes[10] = bytes[11] = 0xff;
  std::memcpy(bytes.data() + 12, &address, 4);
  return bytes;
}

struct Address {
  Bytes bytes{};
  bool v4 = false;
};

std::optional<Address> ParseAddress(std::string_view text) {
  const std::string copy(text);
  in_addr v4{};
  if (inet_pton(AF_INET, copy.c_str(), &v4) == 1) return Address{Mapped(v4), true};
  Address v6;
  if (inet_pton(AF_INET6, copy.c_str(), v6.bytes.data()) == 1) return v6;
  return std::nullopt;
}

bool Inside(const Bytes& address, const Bytes& prefix, int bits) {
  const int whole = bits / 8;
  if (std::memcmp(address.data(), prefix.data(), static_cast<size_t>(whole)) != 0) return false;
  const int rest = bits % 8;
  if (rest == 0) return true;
  const int mask = 0xff << (8 - rest);
  return ((address[static_cast<size_t>(whole)] ^ prefix[static_cast<size_t>(whole)]) & mask) == 0;
}

}  // namespace

Result<EgressPolicy::Block> EgressPolicy::Parse(std::string_view cidr) {
  const size_t slash = cidr.find('/');
  const auto address = ParseAddress(cidr.substr(0, slash));
  const Error wrong(Code::kInvalid, "'" + std::string(cidr) +
                                        "' is no CIDR block; write it like 10.0.0.0/8 or fd00::/8");
  if (!address) return wrong;
  const int offset = address->v4 ? 96 : 0;
  const int most = address->v4 ? 32 : 128;
  int bits = most;
  if (slash != std::string_view::npos) {
    const std::string_view digits = cidr.substr(slash + 1);
    const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), bits);
    if (failure != std::errc() || end != digits.data() + digits.size()) return wrong;
    if (bits < 0 || bits > most) return wrong;
  }
  return Block{address->bytes, bits + offset};
}

Result<void> EgressPolicy::Allow(std::string_view cidr) {
  allow_.push_back(TRY(Parse(cidr)));
  return {};
}

Result<void> EgressPolicy::Deny(std::string_view cidr) {
  deny_.push_back(TRY(Parse(cidr)));
  return {};
}

bool EgressPolicy::PermitsBytes(const Bytes& address) const {
  for (const Block& block : deny_) {
    if (Inside(address, block.prefix, block.bits)) return false;
  }
  if (allow_.empty()) return true;
  for (const Block& block : allow_) {
    if (Inside(address, block.prefix, block.bits)) return true;
  }
  return false;
}

bool EgressPolicy::Permits(const sockaddr* address) const {
  if (address->sa_family == AF_INET) {
    return PermitsBytes(Mapped(reinterpret_cast<const sockaddr_in*>(address)->sin_addr));
  }
  if (address->sa_family == AF_INET6) {
    Bytes bytes;
    std::memcpy(bytes.data(), &reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr, 16);
    return PermitsBytes(bytes);
  }
  return true;
}

bool EgressPolicy::Permits(std::string_view address) const {
  const auto parsed = ParseAddress(address);
  return parsed && PermitsBytes(parsed->bytes);
}

}  // namespace detent
