// The requests that one write of the store takes with a Kubernetes API server: metadata and spec,
// the status and the deletion each have one of their own. Pure; any thread.
//
// Every request but a creation names the version that it replaces (unless the writer does not
// care), so that whoever else wrote meanwhile, a leader before or after this one above all, makes
// it a conflict. Source: Kubernetes API concepts, "Patch and update", "Resource versions"; RFC
// 6902.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/kube/client.h"
#include "core/store/store.h"

namespace detent {

// Whether they say the same, in whatever order.
bool SameStatus(const Object& a, const Object& b);

enum class WriteStep : uint8_t { kCreate, kMain, kStatus, kDelete };

// In their order. `stored` is what there is, null for a creation. What only is to be added stands
// before the status, so that no status speaks of what is not there yet; finalizers come off behind
// it, since with the last of them the object may go. Empty: nothing is different.
std::vector<WriteStep> StepsOf(const Write& write, const Object* stored);

struct StepTarget {
  const Object& wanted;
  const Object* stored = nullptr;  // Not of kCreate.
  int64_t version = 0;             // That is replaced; 0: whatever there is.
  bool removes = false;            // The write is a deletion: no finalizer may hold it.
};

// `manager` names us among those who set fields.
KubeRequest RequestOf(WriteStep step, const StepTarget& target, const std::string& manager);

}  // namespace detent
