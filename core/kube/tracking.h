// The marks that a tracked object carries: whose it is, by which it is found again, and the
// finalizer that keeps it until its outcome is durable. Pure.
//
// Tracking ends by one merge patch that takes the finalizer and the label kTrackedBy off together:
// a selector for that label then sees what is still to be done and nothing else, however many
// finished objects lie about. Source: KEP-2307, of which this is a simpler form, since the identity
// of a task is deterministic and an outcome recorded twice is the same outcome.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace detent {

// The task that an object is made for.
struct TrackedTask {
  std::string key;   // As at the plugin border: "UID.INDEX.ATTEMPT".
  std::string name;  // Also the object's, where its maker does not say another.
  std::string ns;
  std::string job_name, job_uid;
  uint64_t index = 0;
  int64_t attempt = 1;
};

struct TrackingMarks {
  TrackedTask task;
  std::string host_id;  // labels::kTrackedBy
  // apiVersion of the Job, where it is an object of the same cluster: it becomes the controller,
  // with blockOwnerDeletion. Empty: it is not. An owner is in the namespace of what it owns, so an
  // object that says another namespace than the task's has none.
  std::string job_api_version;
};

// `object_json` with the marks: the name where it has none, the labels, the finalizer, the owner.
// What it says itself under those very keys is replaced; all else stays as it is. kInvalid: no JSON
// object, or metadata that cannot carry them (the message names the field), be it because another
// controller owns the object already.
Result<std::string> WithTracking(std::string_view object_json, const TrackingMarks& marks);

// What of an object (JSON) says whose it is. Empty parts: it does not say. kInvalid: no object with
// metadata.
struct TrackedObject {
  std::string task_key;    // labels::kTaskKey
  std::string tracked_by;  // labels::kTrackedBy
  std::string ns, name, uid, resource_version;
  std::vector<std::string> finalizers;
  bool deleting = false;
};
Result<TrackedObject> ReadTracked(std::string_view object_json);

// The JSON merge patch (RFC 7386) that takes tracking off: the object's other finalizers stay. It
// names the uid and the version that it was made for, so that the server refuses it (409) if
// somebody changed the object meanwhile, and another's finalizer is never taken off by mistake.
//
// `ended`: nobody applies to the object any more, so the record of who applied what goes as well:
// the server keeps none of an object that has none, which is a third of its work for the patch, and
// it is two fifths of a small Pod. Source: Kubernetes documentation, "Server-Side Apply", "Clearing
// managedFields".
std::string LetGoPatch(const TrackedObject& object, bool ended);

}  // namespace detent
