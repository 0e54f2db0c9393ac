#include "core/cron/hash.h"

#include <bit>
#include <cstddef>
#include <cstring>

namespace detent {
namespace {

static_assert(std::endian::native == std::endian::little, "words are read as they lie in memory");

constexpr uint64_t kPrime1 = 0x9E3779B185EBCA87;
constexpr uint64_t kPrime2 = 0xC2B2AE3D27D4EB4F;
constexpr uint64_t kPrime3 = 0x165667B19E3779F9;
constexpr uint64_t kPrime4 = 0x85EBCA77C2B2AE63;
constexpr uint64_t kPrime5 = 0x27D4EB2F165667C5;

template <typename Word>
uint64_t Take(const char*& at) {
  Word word;
  std::memcpy(&word, at, sizeof word);
  at += sizeof word;
  return word;
}

uint64_t Round(uint64_t lane, uint64_t word) {
  return std::rotl(lane + word * kPrime2, 31) * kPrime1;
}

// Consumes all whole 32-byte stripes and folds their four lanes into one word.
uint64_t HashStripes(const char*& at, const char* end) {
  uint64_t lanes[4] = {kPrime1 + kPrime2, kPrime2, 0, 0 - kPrime1};
  while (end - at >= 32) {
    for (uint64_t& lane : lanes) lane = Round(lane, Take<uint64_t>(at));
  }
  uint64_t hash = std::rotl(lanes[0], 1) + std::rotl(lanes[1], 7) + std::rotl(lanes[2], 12) +
                  std::rotl(lanes[3], 18);
  for (const uint64_t lane : lanes) hash = (hash ^ Round(0, lane)) * kPrime1 + kPrime4;
  return hash;
}

}  // namespace

uint64_t XxHash64(std::string_view text) {
  const char* at = text.data();
  const char* const end = at + text.size();
  uint64_t hash = text.size() >= 32 ? HashStripes(at, end) : kPrime5;
  hash += text.size();
  while (end - at >= 8) {
    hash = std::rotl(hash ^ Round(0, Take<uint64_t>(at)), 27) * kPrime1 + kPrime4;
  }
  if (end - at >= 4) {
    hash = std::rotl(hash ^ Take<uint32_t>(at) * kPrime1, 23) * kPrime2 + kPrime3;
  }
  while (at < end) hash = std::rotl(hash ^ Take<uint8_t>(at) * kPrime5, 11) * kPrime1;

  hash = (hash ^ hash >> 33) * kPrime2;
  hash = (hash ^ hash >> 29) * kPrime3;
  return hash ^ hash >> 32;
}

}  // namespace detent
