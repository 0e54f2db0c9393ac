// Makes the Task object of an attempt: its derived name and UID, its labels, its filled-in spec.
// Pure.

#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "core/api/job.h"
#include "core/api/object.h"
#include "core/base/clock.h"
#include "core/base/result.h"
#include "core/expr/substitute.h"
#include "core/plugin/executor.h"

namespace detent {

struct AttemptRef {
  int64_t index = 0;
  int64_t attempt = 1;
};

struct NewTask {
  std::shared_ptr<Object> object;
  SpecText executor_spec;  // Of the object's spec, what the executor is given.
};

// Borrowed for the call.
struct TaskFactory {
  const ObjectMeta& job;
  const JobSpec& spec;
  const SpecTemplate& spec_template;

  // kInvalid where the template cannot be filled in; the message names the pointer.
  Result<NewTask> Make(AttemptRef ref, TaskState state, WallTime now) const;
  // What the executor is given, alone; the same each time.
  Result<SpecText> Render(AttemptRef ref) const;
};

}  // namespace detent
