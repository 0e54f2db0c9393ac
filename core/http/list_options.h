// The query of a list, watch or deletecollection: metav1.ListOptions, read and checked. Pure; any
// thread.

#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include "core/http/request.h"
#include "core/http/selectors.h"
#include "core/http/status_error.h"

namespace detent {

// Where a list goes on. Opaque to clients: base64url of JSON.
struct ContinueToken {
  // Of the first page. Every page answers it, so that a watch from there misses nothing that
  // changed between two pages.
  int64_t version = 0;
  std::string ns;
  std::string name;

  std::string Encode() const;
  static std::optional<ContinueToken> Decode(const std::string& text);
};

enum class VersionMatch { kUnset, kExact, kNotOlderThan };

struct ListOptions {
  Selectors selectors;
  size_t limit = 0;  // 0 = none.
  std::optional<ContinueToken> from;
  std::optional<int64_t> version;  // resourceVersion; absent where it was empty.
  VersionMatch match = VersionMatch::kUnset;

  bool watch = false;
  bool bookmarks = false;
  bool initial_events = false;                  // sendInitialEvents.
  std::optional<std::chrono::seconds> timeout;  // timeoutSeconds.
};

// 400 for what cannot be read, 422 for what contradicts itself, 410 for a stale continue token.
Outcome<ListOptions> ReadListOptions(Kind kind, const Request& request);

// A query parameter as a boolean, as Kubernetes reads it: "", "0" and "false" are false.
bool IsTrue(const Request& request, std::string_view name);

}  // namespace detent
