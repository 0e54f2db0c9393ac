// The only source of randomness: name suffixes, UIDs, jitter. Seeded, so that a run can be
// repeated.

#pragma once

#include <cstdint>
#include <string>

namespace detent {

class Random {
 public:
  virtual ~Random() = default;
  // Uniform over all 64-bit values. One thread at a time, unless an implementation says otherwise.
  virtual uint64_t Next() = 0;

  // Uniform in [0, bound). Requires: bound > 0.
  uint64_t Below(uint64_t bound);
};

// SplitMix64: fine for simulation and names, useless for secrets.
class SeededRandom final : public Random {
 public:
  explicit SeededRandom(uint64_t seed) : state_(seed) {}
  uint64_t Next() override;

 private:
  uint64_t state_;
};

// The kernel's generator (getrandom(2)). Any thread.
class SystemRandom final : public Random {
 public:
  uint64_t Next() override;
};

// A random UUID (RFC 9562, version 4), in lower case.
std::string RandomUid(Random& random);

// Five letters and digits as Kubernetes appends to a generateName: no vowels, nothing ambiguous.
std::string RandomSuffix(Random& random);

}  // namespace detent
