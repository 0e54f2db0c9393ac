#include "core/base/random.h"

#include <sys/random.h>

#include <cerrno>
#include <cstdlib>
#include <string_view>

namespace detent {

uint64_t Random::Below(uint64_t bound) {
  // The 2^64 mod bound lowest values are left out: they would make some results likelier.
  const uint64_t least = (0 - bound) % bound;
  for (;;) {
    const uint64_t value = Next();
    if (value >= least) return value % bound;
  }
}

uint64_t SeededRandom::Next() {
  state_ += 0x9E3779B97F4A7C15;
  uint64_t mixed = state_;
  mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9;
  mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EB;
  return mixed ^ (mixed >> 31);
}

uint64_t SystemRandom::Next() {
  uint64_t value = 0;
  for (;;) {
    if (getrandom(&value, sizeof value, 0) == static_cast<ssize_t>(sizeof value)) return value;
    // Only a kernel without the call fails otherwise; a predictable UID would be worse than none.
    if (errno != EINTR) std::abort();
  }
}

std::string RandomUid(Random& random) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string uid;
  uint64_t bits = 0;
  for (int digit = 0; digit < 32; ++digit) {
    if (digit % 16 == 0) bits = random.Next();
    if (digit == 8 || digit == 12 || digit == 16 || digit == 20) uid += '-';
    uint64_t nibble = bits & 15;
    bits >>= 4;
    if (digit == 12) nibble = 4;                 // The version.
    if (digit == 16) nibble = 8 | (nibble & 3);  // The variant.
    uid += kHex[nibble];
  }
  return uid;
}

std::string RandomSuffix(Random& random) {
  constexpr std::string_view kLetters = "bcdfghjklmnpqrstvwxz2456789";
  std::string suffix;
  for (int i = 0; i < 5; ++i) suffix += kLetters[random.Below(kLetters.size())];
  return suffix;
}

}  // namespace detent
