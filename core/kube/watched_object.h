// One object as a watch or a list showed it. Kept in as many pieces as there are objects in a
// cluster, hence in one: all of its texts stand in a single block. Shared and never changed.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace detent {

class WatchedObject {
 public:
  // Copied.
  struct Parts {
    std::string_view ns, name, uid, resource_version;
    std::string_view task_key;  // Of labels::kTaskKey; empty: it has no such label.
    // As the server sent it, or as the JSON that its protobuf stands for, or as much of that as a
    // WatchShape keeps; without metadata.managedFields, and with the apiVersion and kind that are
    // left out of the items of a list.
    std::string_view json;
  };

  explicit WatchedObject(const Parts& parts) {
    const std::string_view all[] = {parts.ns,       parts.name, parts.uid, parts.resource_version,
                                    parts.task_key, parts.json};
    size_t size = 0;
    for (const std::string_view part : all) size += part.size();
    text_.reserve(size);
    for (size_t i = 0; i < kParts; ++i) {
      text_ += all[i];
      ends_[i] = static_cast<uint32_t>(text_.size());
    }
  }

  // Views into this.
  std::string_view ns() const { return Part(0); }
  std::string_view name() const { return Part(1); }
  std::string_view uid() const { return Part(2); }
  std::string_view resource_version() const { return Part(3); }
  std::string_view task_key() const { return Part(4); }
  std::string_view json() const { return Part(5); }

 private:
  static constexpr size_t kParts = 6;

  std::string_view Part(size_t i) const {
    const uint32_t begin = i == 0 ? 0 : ends_[i - 1];
    return std::string_view(text_).substr(begin, ends_[i] - begin);
  }

  std::string text_;  // The parts, one behind the other. No reply has 4 GiB (kReplyBytes).
  uint32_t ends_[kParts];
};
using WatchedObjectPtr = std::shared_ptr<const WatchedObject>;

}  // namespace detent
