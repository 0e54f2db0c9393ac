#include <ostream>

#include "core/cli/command.h"
#include "core/cli/list_watch.h"
#include "core/cli/object_args.h"
#include "core/cli/progress.h"
#include "core/cli/wait_goal.h"

namespace detent {
namespace {

// Waits for one object; the exit code.
Result<int> WaitForOne(CommandContext& context, const ObjectKey& key, const WaitGoal& goal) {
  const std::string shown = ShownName(key.kind, key.name);
  bool seen = false;
  bool lost = false;
  Json last;
  ListWatch plan;
  plan.selection = {key.kind, key.ns, "", "metadata.name=" + key.name};
  const auto look = [&](const Json& object) {
    seen = true;
    last = object;
    lost = goal.IsLost(object);
    return !lost && !goal.IsMet(object);
  };
  plan.on_list = [&](const Json& list) {
    const Json* first = list.At("/items/0");
    seen = false;
    return first != nullptr && look(*first);
  };
  plan.on_event = [&](const std::string& type, const Json& object) {
    if (type != "DELETED") return look(object);
    seen = false;
    return false;
  };
  const auto waited = RunListWatch(context, plan);
  if (!waited) return Error(waited.error()).While("wait for " + shown);
  if (!seen && !goal.is_delete()) {
    return Error(Code::kNotFound, ToString(key) + " is not there; 'detent get " +
                                      PluralOf(key.kind) + "' lists those that are");
  }
  if (lost) {
    context.err() << "error: what is waited for will not come: " << JobProgress(last) << '\n';
    return kExitJobFailed;
  }
  context.out() << shown << (goal.is_delete() ? " deleted\n" : " condition met\n");
  context.out().flush();
  return kExitOk;
}

Result<int> Wait(CommandContext& context) {
  Result<ObjectArgs> args = ParseObjects(context.words);
  if (!args) return context.Usage(args.error().message());
  if (!context.flags.Has("for")) return context.Usage("--for: is required");
  const Result<WaitGoal> goal = WaitGoal::Parse(context.flags.Text("for"));
  if (!goal) return context.Usage(goal.error().message());
  if (!args->kinds.empty() && !context.flags.Has("selector") && !context.flags.IsOn("all")) {
    return context.Usage("needs names, --selector, or --all");
  }
  for (const Kind kind : args->kinds) {
    const Json list =
        TRY(context.api->List({kind, context.ns(), context.flags.Text("selector"), ""}));
    const Json* items = list.Find("items");
    if (items == nullptr || !items->is_array()) continue;
    for (const Json& item : items->as_array()) args->objects.push_back(ObjectArgOf(item, kind));
  }
  if (args->objects.empty() && !goal->is_delete()) {
    return Error(Code::kNotFound, "there is nothing to wait for: no object matches");
  }
  int code = kExitOk;
  for (const ObjectArg& object : args->objects) {
    const Result<int> one = WaitForOne(context, {object.kind, context.ns(), object.name}, *goal);
    const int exit = one ? *one : context.Fail(one.error());
    if (code == kExitOk) code = exit;
  }
  return code;
}

}  // namespace

Command WaitCommand() {
  return {.name = "wait",
          .arguments = "TYPE/NAME... --for GOAL",
          .summary = "wait until objects are as they should be",
          .description =
              "Exits with 3 if the time is over first, and with 4 if a Job has ended so\n"
              "that the condition cannot come any more.",
          .examples = {"detent wait job/hello-x7k2p --for condition=Complete --timeout 5m",
                       "detent wait job/hello-x7k2p --for jsonpath='{.status.phase}'=Running",
                       "detent wait jobs -l team=data --for delete"},
          .flags = {{"for", 0, FlagType::kText, "GOAL",
                     "condition=Complete, condition=Failed, jsonpath={.path}=VALUE or delete."},
                    LabelFlag(),
                    {"all", 0, FlagType::kSwitch, "", "All objects of the type in the namespace."},
                    TimeoutFlag()},
          .words_min = 1,
          .words_max = 1000,
          .run = Wait};
}

}  // namespace detent
