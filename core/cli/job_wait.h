// Waits for Jobs and follows their output, and says how they ended. One thread, blocking.

#pragma once

#include <functional>
#include <optional>

#include "core/cli/command.h"
#include "core/cli/log_reader.h"

namespace detent {

// Calls `on_change` with the Job now and at each change, until it has ended; returns it as it was
// then. kNotFound: it is not there, or was deleted meanwhile. kDeadline: --timeout is over.
Result<Json> WaitForJob(CommandContext& context, const ObjectKey& job,
                        const std::function<void(const Json& job)>& on_change);

// Prints the output of a Job's tasks, or of one Task, as it comes, until that object has ended;
// returns it as it was then. Asks again and again rather than leaving a stream open, since a stream
// that is silent could not end with --timeout. Errors as WaitForJob.
Result<Json> FollowOutput(CommandContext& context, const ObjectKey& key, LogReader& reader);

// kExitOk or kExitJobFailed.
int ExitCodeOf(const Json& finished_job);

}  // namespace detent
