#include <ostream>

#include "core/cli/command.h"
#include "core/cli/job_wait.h"
#include "core/cli/list_watch.h"
#include "core/cli/object_args.h"
#include "core/cli/progress.h"

namespace detent {
namespace {

constexpr const char* kKillAt = "/spec/killTimestamp";

bool HasEnded(Kind kind, const Json& object) {
  return kind == Kind::kJob ? IsFinishedJob(object)
                            : TextAt(object, "/status/state") == "Terminated";
}

Result<void> WaitForTask(CommandContext& context, const ObjectKey& task) {
  ListWatch plan;
  plan.selection = {Kind::kTask, task.ns, "", "metadata.name=" + task.name};
  plan.on_list = [](const Json& list) {
    const Json* first = list.At("/items/0");
    return first != nullptr && !HasEnded(Kind::kTask, *first);
  };
  plan.on_event = [](const std::string& type, const Json& object) {
    return type != "DELETED" && !HasEnded(Kind::kTask, object);
  };
  return RunListWatch(context, plan);
}

Result<void> KillOne(CommandContext& context, const ObjectKey& key, WallTime at) {
  const std::string shown = ShownName(key.kind, key.name);
  const Json object = TRY(context.api->Read(key));
  if (HasEnded(key.kind, object)) {
    context.out() << shown << " has ended already\n";
    return {};
  }
  const auto before = ParseTime(TextAt(object, kKillAt));
  if (before && *before <= context.clock.Now()) {
    context.out() << shown << " is being killed already\n";
  } else {
    Json spec;
    spec.Set("killTimestamp", FormatTime(at));
    Json patch;
    patch.Set("spec", std::move(spec));
    TRY(context.api->Patch(key, patch, false));
    context.out() << shown << " will be killed at " << FormatTime(at) << '\n';
  }
  context.out().flush();
  if (!context.flags.IsOn("wait")) return {};
  if (key.kind == Kind::kTask) return WaitForTask(context, key);
  Progress progress(context.io, false);
  TRY(WaitForJob(context, key, [&](const Json& now) { progress.Show(JobProgress(now)); }));
  return {};
}

// RFC 3339, or a duration from now.
std::optional<WallTime> ParseMoment(const std::string& text, WallTime now) {
  if (text.empty()) return now;
  if (const auto time = ParseTime(text)) return time;
  const auto delay = ParseDuration(text);
  if (!delay) return std::nullopt;
  return now + *delay;
}

Result<int> Kill(CommandContext& context) {
  const Result<ObjectArgs> args = ParseObjects(context.words);
  if (!args) return context.Usage(args.error().message());
  if (args->objects.empty()) return context.Usage("needs job/NAME or task/NAME");
  for (const ObjectArg& object : args->objects) {
    if (object.kind != Kind::kJobConfig) continue;
    return context.Usage("jobconfig/" + object.name +
                         " does not run; kill its Jobs, or set spec.schedule.disabled");
  }
  const auto at = ParseMoment(context.flags.Text("at"), context.clock.Now());
  if (!at) {
    return context.Usage(
        "--at: must be a time such as 2026-11-21T10:00:00Z or a duration such as "
        "10m, not '" +
        context.flags.Text("at") + "'");
  }
  int code = kExitOk;
  for (const ObjectArg& object : args->objects) {
    const auto killed = KillOne(context, {object.kind, context.ns(), object.name}, *at);
    if (!killed) code = context.Fail(killed.error());
  }
  return code;
}

}  // namespace

Command KillCommand() {
  return {.name = "kill",
          .arguments = "job/NAME | task/NAME",
          .summary = "end a Job or a task that runs",
          .description =
              "Sets spec.killTimestamp. The object stays, with how it ended; 'detent\n"
              "delete' takes it away as well.",
          .examples = {"detent kill job/hello-x7k2p --wait", "# Not now, but in ten minutes.",
                       "detent kill job/long --at 10m"},
          .flags = {{"at", 0, FlagType::kText, "TIME",
                     "When: RFC 3339, or a duration from now. Default: now."},
                    {"wait", 0, FlagType::kSwitch, "", "Wait until it has ended."},
                    TimeoutFlag()},
          .words_min = 1,
          .words_max = 1000,
          .run = Kill};
}

}  // namespace detent
