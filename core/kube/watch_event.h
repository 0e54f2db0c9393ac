// What an API server says about objects, in the two places where it says it: an event of a watch,
// and a page of a list. Pure, but for the memory that a reader keeps for the next text.
//
// Objects are kept as the texts that they are; a few of their members are picked out on the way.
// Source: Kubernetes API concepts, "Efficient detection of changes", "Retrieving large results sets
// in chunks"; WatchEvent and Status of its reference.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/json_scan.h"
#include "core/base/result.h"
#include "core/kube/watch_shape.h"
#include "core/kube/watched_object.h"

namespace detent {

struct WatchEvent {
  enum class Type : uint8_t { kUpsert, kDelete, kBookmark, kError };
  Type type = Type::kUpsert;
  WatchedObjectPtr object;          // Of kUpsert and kDelete.
  std::string resource_version;     // Of all but kError: a watch may be resumed behind it.
  bool initial_events_end = false;  // Of kBookmark: all that existed has been said.
  // Of kError, from the server's Status.
  int status = 0;
  std::string reason, message;
};

struct ListPage {
  std::vector<WatchedObjectPtr> objects;
  std::string resource_version;  // Of the whole list, the same on each of its pages.
  std::string continue_token;    // Empty: this page is the last.
};

// One thread at a time.
class WatchEventReader {
 public:
  explicit WatchEventReader(WatchShape shape = {}) : shape_(std::move(shape)) {}

  // kInvalid: no event, or one that lacks what its type needs; the message says what.
  Result<WatchEvent> ReadEvent(std::string_view line);
  // Of a watch that is read as protobuf (IsReadAsProto).
  Result<WatchEvent> ReadProtoEvent(std::string_view frame);

 private:
  const WatchShape shape_;
  JsonScan scan_;
  std::string line_;  // For what a frame stands for.
};

// kInvalid: no list, or one without a version.
Result<ListPage> ReadListPage(std::string_view body, const WatchShape& shape = {});

}  // namespace detent
