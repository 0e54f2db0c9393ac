// From what a supervisor recorded to what the host is told: result, reason, times, figures. Pure;
// any thread.

#pragma once

#include "detent/sdk/task.h"
#include "plugins/exec/spec.h"
#include "plugins/exec/task_directory.h"

namespace detent::exec {

// The TERMINATED status of a task that has a result.
sdk::TaskStatus DescribeEnding(const Ending& ending, const ExecSpec& spec);

// The TERMINATED status of a task whose supervisor is gone without one. started: as far as known.
sdk::TaskStatus DescribeLoss(const Started* started, const ExecSpec& spec);

// "pid 4711": the task's name for people.
std::string ObjectRef(int64_t main_pid);

}  // namespace detent::exec
