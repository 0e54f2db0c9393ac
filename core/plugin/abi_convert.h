// Between the words of the plugin border and the values of the core. Pure; any thread.

#pragma once

#include <cstring>
#include <string>
#include <string_view>

#include "core/api/task.h"
#include "core/base/result.h"
#include "core/plugin/executor.h"
#include "detent/detent.h"

namespace detent {

inline std::string_view Text(const detent_str& text) {
  return text.ptr == nullptr ? std::string_view() : std::string_view(text.ptr, text.len);
}
inline std::string_view Text(const detent_bytes& bytes) {
  return {reinterpret_cast<const char*>(bytes.ptr), bytes.ptr == nullptr ? 0 : bytes.len};
}
// Borrowed from `text`, which must have a NUL behind it (a string or a literal).
inline detent_str View(std::string_view text) {
  return {text.data(), text.size()};
}
inline detent_bytes Bytes(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

// A struct as its writer knew it: what lies beyond its `size` is zero (D-SIZE-1). Null, or a size
// that cannot hold the field `size` itself: all zero, with size 0.
template <typename T>
T Known(const T* given) {
  T known{};
  if (given == nullptr || given->size < sizeof(uint32_t)) return known;
  const size_t size = given->size < sizeof(T) ? given->size : sizeof(T);
  std::memcpy(static_cast<void*>(&known), given, size);
  return known;
}

// Well-formed UTF-8 of at most `most` bytes: what is malformed becomes U+FFFD, what is too long is
// cut between characters.
std::string Repaired(std::string_view text, size_t most);

// For messages about text that may be anything: at most 64 bytes, control characters as '?'.
std::string Printable(std::string_view text);

// "E_BUSY" and so on; "status 7" for others.
std::string StatusName(detent_status status);
// CamelCase, for results that come without a reason.
std::string ReasonFor(detent_status status);

WallTime FromNanos(int64_t nanoseconds);
int64_t ToNanos(WallTime time);

detent_status ToStatus(Code code);
Code FromStatus(detent_status status);

// Judges an update by task.h. DETENT_OK, and then `out` is filled in; else which rule it breaks.
// `out.handle` is left alone. `known` must come from Known().
detent_status ConvertStatus(const detent_task_status& known, TaskStatus& out);

uint32_t PhaseOf(TaskState state);

}  // namespace detent
