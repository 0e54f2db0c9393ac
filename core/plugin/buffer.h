// The bytes behind detent_buf handles: read-only, with counted references. Any thread.
//
// One table for the process, like the host table that hands them out: a buffer may outlive the
// instance that made it. Tables are never destroyed, since plugin threads may end after main().

#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

#include "detent/types.h"

namespace detent {

inline constexpr size_t kBufferBytesMax = 32u << 20;

// One reference belongs to the caller. `leaks`, where not null, counts live buffers of its owner
// and must never be destroyed. 0: out of handles.
detent_buf NewBuffer(std::string bytes, std::atomic<int64_t>* leaks = nullptr);

// The bytes, or null data once the buffer has ended; valid while a reference is held.
std::string_view BufferView(detent_buf buffer);
bool BufferLives(detent_buf buffer);
void RetainBuffer(detent_buf buffer);
void ReleaseBuffer(detent_buf buffer);
// Buffers that somebody still holds a reference to, of all owners.
size_t LiveBuffers();

}  // namespace detent
