#include "core/cli/job_wait.h"

#include <algorithm>

#include "core/cli/list_watch.h"
#include "core/cli/patience.h"
#include "core/cli/progress.h"

namespace detent {
namespace {

constexpr auto kPoll = std::chrono::milliseconds(300);
constexpr auto kPollOfMany = std::chrono::milliseconds(2000);
// From so many tasks on, listing them is work for the server.
constexpr size_t kManyTasks = 200;

Error Gone(const ObjectKey& job) {
  return Error(Code::kNotFound, ToString(job) +
                                    " is not there any more; it was deleted before "
                                    "its end was seen");
}

}  // namespace

Result<Json> WaitForJob(CommandContext& context, const ObjectKey& job,
                        const std::function<void(const Json& job)>& on_change) {
  Json last;
  bool gone = false;
  const auto take = [&](const Json& document) {
    last = document;
    on_change(last);
    return !IsFinishedJob(last);
  };
  ListWatch plan;
  plan.selection.kind = job.kind;
  plan.selection.ns = job.ns;
  plan.selection.field_selector = "metadata.name=" + job.name;
  plan.on_list = [&](const Json& list) {
    const Json* first = list.At("/items/0");
    gone = first == nullptr;
    return !gone && take(*first);
  };
  plan.on_event = [&](const std::string& type, const Json& object) {
    gone = type == "DELETED";
    return !gone && take(object);
  };
  TRY(RunListWatch(context, plan));
  if (gone) return Gone(job);
  return last;
}

Result<Json> FollowJob(CommandContext& context, const ObjectKey& job, LogReader& reader) {
  const auto deadline = context.Deadline();
  Patience patience(context);
  while (true) {
    // Looked at before the output: what the tasks of an ended Job wrote is then all there.
    const Result<Json> now = context.api->Read(job);
    if (!now && now.error().code() == Code::kNotFound) return Gone(job);
    if (now) patience.Answered();
    const Result<size_t> read = now ? reader.ReadJob(job.ns, job.name) : now.error();
    if (!read) {
      TRY(patience.Wait(read.error()));
      continue;
    }
    if (IsFinishedJob(*now)) return *now;
    if (deadline && context.clock.Mono() >= *deadline) {
      return Error(Code::kDeadline, "the time given by --timeout is over");
    }
    context.api->Pause(*read < kManyTasks ? kPoll : kPollOfMany);
  }
}

int ExitCodeOf(const Json& finished_job) {
  return IsSucceededJob(finished_job) ? kExitOk : kExitJobFailed;
}

}  // namespace detent
