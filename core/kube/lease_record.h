// A Lease as electors see it: what is read of one, and how one is written. Pure.
//
// Source: Kubernetes API reference, coordination.k8s.io/v1 Lease.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/clock.h"
#include "core/base/result.h"

namespace detent {

struct LeaseRecord {
  bool exists = false;      // All else says nothing where it does not.
  std::string version;      // metadata.resourceVersion; of what is to be written: the one replaced.
  WallTime created{};       // By the server's clock.
  std::string holder;       // Empty: nobody.
  int64_t duration_s = 0;   // 0: it does not say.
  int64_t transitions = 0;  // How often it was taken.
  std::optional<WallTime> acquired, renewed;  // By the holder's clock, for people.
};

// kInvalid: no Lease that a server can have sent; the message names the field.
Result<LeaseRecord> ReadLease(std::string_view json);

// The epoch of the leadership that `lease` is held for: the second of its creation, and in the last
// six digits its transitions. So it rises with each takeover, and does not fall when the Lease is
// deleted and made again, which sets its transitions back.
int64_t EpochOf(const LeaseRecord& lease);

// The object to create, and the JSON merge patch (RFC 7386) that makes `lease` of the version that
// it names, and of no other: the server refuses it (409) if somebody was faster.
std::string NewLease(std::string_view ns, std::string_view name, const LeaseRecord& lease);
std::string LeasePatch(const LeaseRecord& lease);

}  // namespace detent
