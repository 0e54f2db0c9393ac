#include "core/cli/job_wait.h"

#include <algorithm>

#include "core/cli/list_watch.h"
#include "core/cli/progress.h"

namespace detent {
namespace {

Error Gone(const ObjectKey& key) {
  return Error(Code::kNotFound, ToString(key) +
                                    " is not there any more; it was deleted before "
                                    "its end was seen");
}

bool HasEnded(Kind kind, const Json& object) {
  if (kind == Kind::kTask) return TextAt(object, "/status/state") == "Terminated";
  return IsFinishedJob(object);
}

// How many tasks were read.
Result<size_t> ReadOutput(LogReader& reader, const ObjectKey& key, bool ended) {
  if (key.kind == Kind::kJob) return reader.ReadJob(key.ns, key.name);
  TRY(reader.ReadTask(key, ended));
  return 1;
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

Result<Json> FollowOutput(CommandContext& context, const ObjectKey& key, LogReader& reader) {
  const auto deadline = context.Deadline();
  bool seen = false;
  while (true) {
    // Looked at before the output: what an ended task wrote is then all there.
    const Result<Json> now = context.api->Read(key);
    if (!now && seen && now.error().code() == Code::kNotFound) return Gone(key);
    seen = seen || now;
    const bool ended = now && HasEnded(key.kind, *now);
    const Result<size_t> read = now ? ReadOutput(reader, key, ended) : now.error();
    if (!read) {
      TRY(context.patience.Wait(context, read.error()));
      continue;
    }
    context.patience.Back();
    if (ended) return *now;
    if (deadline && context.clock.Mono() >= *deadline) {
      return Error(Code::kDeadline, "the time given by --timeout is over");
    }
    context.api->Pause(context.api->LogPause(*read));
  }
}

int ExitCodeOf(const Json& finished_job) {
  return IsSucceededJob(finished_job) ? kExitOk : kExitJobFailed;
}

}  // namespace detent
