// Every bound in one place. At a limit the host refuses with a reason; it never grows without end.

#pragma once

#include <cstddef>
#include <cstdint>

namespace detent::limits {

inline constexpr int64_t kIndexesPerJob = 100'000;
inline constexpr int64_t kAttemptsPerIndex = 50;
inline constexpr size_t kObjectBytes = 1536 * 1024;  // As etcd's request limit: 1.5 MiB.
inline constexpr size_t kRequestBytes = 3 * 1024 * 1024;
inline constexpr int kDocumentDepth = 64;
inline constexpr size_t kJobConfigNameLength = 49;  // Leaves room for "-<unix seconds>" in a label.
inline constexpr size_t kJobNameLength = 60;
inline constexpr size_t kListPageMax = 10'000;

inline constexpr size_t kChangesKept = 16'384;  // Newest changes that a watch can resume from.
inline constexpr size_t kChangeBytesKept = 16 * 1024 * 1024;
inline constexpr size_t kMailboxEvents = 65'536;

inline constexpr size_t kTaskOutputBytes = 64 * 1024;
inline constexpr size_t kTaskMessageBytes = 1024;
inline constexpr size_t kStatusTaskRecords = 20;  // Full records of each sort in a Job's status.

inline constexpr int64_t kOutcomesPerStatusWrite = 500;

static_assert(kObjectBytes < kRequestBytes);
static_assert(kTaskOutputBytes < kObjectBytes);

}  // namespace detent::limits
