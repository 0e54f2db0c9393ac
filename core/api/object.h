// What every stored object has in common: its kind, its metadata and two documents.
//
// Values. `spec` and `status` are canonical JSON texts, already admitted; typed views of them are
// in job_config.h, job.h and task.h. An Object that others can see is const and shared, never
// changed.

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/clock.h"

namespace detent {

inline constexpr const char* kApiGroup = "execution.detent.dev";
inline constexpr const char* kApiVersion = "v1alpha1";
inline constexpr const char* kGroupVersion = "execution.detent.dev/v1alpha1";

enum class Kind : uint8_t { kJobConfig = 1, kJob = 2, kTask = 3 };  // Stored: never renumber.

inline constexpr Kind kKinds[] = {Kind::kJobConfig, Kind::kJob, Kind::kTask};

// "JobConfig", "jobconfigs", "jobconfig", "jc".
const char* NameOf(Kind kind);
const char* PluralOf(Kind kind);
const char* SingularOf(Kind kind);
const char* ShortNameOf(Kind kind);
// Any of these forms, case ignored.
std::optional<Kind> KindFromName(std::string_view name);

using StringMap = std::map<std::string, std::string, std::less<>>;

struct OwnerReference {
  std::string api_version;
  std::string kind;
  std::string name;
  std::string uid;
  bool controller = false;
  bool block_owner_deletion = false;
  bool operator==(const OwnerReference&) const = default;
};

// metav1.ObjectMeta, without what this API group has no use for (managedFields, selfLink).
struct ObjectMeta {
  std::string name;
  std::string generate_name;
  std::string ns;  // JSON: namespace.
  std::string uid;
  int64_t resource_version = 0;  // Set by the store alone; 0 = never stored.
  int64_t generation = 0;        // Counts changes of the spec.
  WallTime created{};
  std::optional<WallTime> deleted;  // JSON: deletionTimestamp.
  std::optional<int64_t> deletion_grace_seconds;
  StringMap labels;
  StringMap annotations;
  std::vector<std::string> finalizers;
  std::vector<OwnerReference> owners;
  bool operator==(const ObjectMeta&) const = default;
};

struct ObjectKey {
  Kind kind = Kind::kJob;
  std::string ns;
  std::string name;
  auto operator<=>(const ObjectKey&) const = default;
};

// "job default/hello": how a message or a log line names an object.
std::string ToString(const ObjectKey& key);

struct Object {
  Kind kind = Kind::kJob;
  ObjectMeta meta;
  std::string spec = "{}";
  std::string status;  // Empty until something wrote one.

  ObjectKey key() const { return {kind, meta.ns, meta.name}; }
  bool operator==(const Object&) const = default;
};

using ObjectPtr = std::shared_ptr<const Object>;

// The controller among the owners, or null.
const OwnerReference* ControllerOf(const ObjectMeta& meta);
bool HasFinalizer(const ObjectMeta& meta, std::string_view finalizer);
void RemoveFinalizer(ObjectMeta& meta, std::string_view finalizer);

}  // namespace detent
