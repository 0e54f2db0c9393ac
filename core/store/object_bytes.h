// How much room an object takes: what limits::kObjectBytes and the change log's bound are held
// against. The texts it carries are counted, not how an implementation lays them out, so that every
// store refuses the same objects. Pure; any thread.

#pragma once

#include <cstddef>

#include "core/api/object.h"

namespace detent {

inline size_t BytesOf(const StringMap& map) {
  size_t bytes = 0;
  for (const auto& [key, value] : map) bytes += key.size() + value.size();
  return bytes;
}

inline size_t BytesOf(const Object& object) {
  const ObjectMeta& meta = object.meta;
  size_t bytes = object.spec.size() + object.status.size();
  bytes += meta.name.size() + meta.generate_name.size() + meta.ns.size() + meta.uid.size();
  bytes += BytesOf(meta.labels) + BytesOf(meta.annotations);
  for (const std::string& finalizer : meta.finalizers) bytes += finalizer.size();
  for (const OwnerReference& owner : meta.owners) {
    bytes += owner.api_version.size() + owner.kind.size() + owner.name.size() + owner.uid.size();
  }
  return bytes;
}

}  // namespace detent
