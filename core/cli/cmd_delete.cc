#include <ostream>

#include "core/cli/command.h"
#include "core/cli/input_files.h"
#include "core/cli/list_watch.h"
#include "core/cli/object_args.h"

namespace detent {
namespace {

std::string PropagationOf(const std::string& cascade) {
  if (cascade == "foreground") return "Foreground";
  if (cascade == "orphan") return "Orphan";
  return cascade == "background" ? "Background" : "";
}

Result<std::vector<ObjectKey>> FindObjects(CommandContext& context, const ObjectArgs& args) {
  std::vector<ObjectKey> keys;
  for (const ObjectArg& object : args.objects) {
    keys.push_back({object.kind, context.ns(), object.name});
  }
  for (const Kind kind : args.kinds) {
    const Json list =
        TRY(context.api->List({kind, context.ns(), context.flags.Text("selector"), ""}));
    const Json* items = list.Find("items");
    if (items == nullptr || !items->is_array()) continue;
    for (const Json& item : items->as_array()) {
      keys.push_back({kind, context.ns(), TextAt(item, "/metadata/name")});
    }
  }
  const auto manifests = TRY(ReadInputManifests(context.flags.Texts("filename"), *context.io.in));
  for (const Manifest& manifest : manifests) {
    std::string ns = TextAt(manifest.document, "/metadata/namespace");
    if (ns.empty()) ns = context.ns();
    keys.push_back({manifest.kind, std::move(ns), TextAt(manifest.document, "/metadata/name")});
    if (keys.back().name.empty()) {
      return Error(Code::kInvalid, manifest.file + ": metadata.name: is required to delete it");
    }
  }
  return keys;
}

// Until the object of that UID is gone: another may have its name by then.
Result<void> WaitUntilGone(CommandContext& context, const ObjectKey& key, const std::string& uid) {
  ListWatch plan;
  plan.selection = {key.kind, key.ns, "", "metadata.name=" + key.name};
  const auto is_there = [&](const Json& object) { return TextAt(object, "/metadata/uid") == uid; };
  plan.on_list = [&](const Json& list) {
    const Json* first = list.At("/items/0");
    return first != nullptr && is_there(*first);
  };
  plan.on_event = [&](const std::string& type, const Json& object) {
    return type != "DELETED" && is_there(object);
  };
  return RunListWatch(context, plan);
}

Result<int> Delete(CommandContext& context) {
  const bool files = context.flags.Has("filename");
  if (context.words.empty() != files) {
    return context.Usage(files ? "--filename: cannot be combined with names"
                               : "needs TYPE/NAME, or --filename");
  }
  ObjectArgs args;
  if (!files) {
    Result<ObjectArgs> parsed = ParseObjects(context.words);
    if (!parsed) return context.Usage(parsed.error().message());
    args = std::move(*parsed);
  }
  if (!args.kinds.empty() && !context.flags.Has("selector") && !context.flags.IsOn("all")) {
    return context.Usage("needs names, --selector, or --all to delete every one in the namespace");
  }
  const std::vector<ObjectKey> keys = TRY(FindObjects(context, args));
  const bool dry_run = context.flags.IsOn("dry-run");
  std::vector<std::pair<ObjectKey, std::string>> going;
  int code = kExitOk;
  for (const ObjectKey& key : keys) {
    const Result<Json> deleted =
        context.api->Delete(key, {PropagationOf(context.flags.Text("cascade")), dry_run});
    if (!deleted) {
      const bool gone = deleted.error().code() == Code::kNotFound;
      if (gone && context.flags.IsOn("ignore-not-found")) continue;
      code = context.Fail(deleted.error());
      continue;
    }
    const std::string uid = TextAt(*deleted, "/metadata/uid");
    if (!uid.empty()) going.emplace_back(key, uid);
    context.out() << ShownName(key.kind, key.name)
                  << (dry_run ? " deleted (dry run)\n" : " deleted\n");
  }
  if (keys.empty()) context.err() << "There is nothing to delete.\n";
  if (!context.flags.IsOn("wait") || dry_run) return code;
  context.out().flush();
  for (const auto& [key, uid] : going) TRY(WaitUntilGone(context, key, uid));
  return code;
}

}  // namespace

Command DeleteCommand() {
  return {
      .name = "delete",
      .arguments = "TYPE/NAME... | TYPE -l LABELS | -f FILE",
      .summary = "delete objects, and what belongs to them",
      .description = "A Job's running tasks are killed first; --wait waits until all is gone.",
      .examples = {"detent delete job/hello-x7k2p --wait --timeout 1m",
                   "detent delete jobs -l team=data", "# The JobConfig goes, and its Jobs stay.",
                   "detent delete jobconfig/nightly --cascade=orphan"},
      .flags = {FileFlag(),
                LabelFlag(),
                {"all", 0, FlagType::kSwitch, "", "All objects of the type in the namespace."},
                {"cascade",
                 0,
                 FlagType::kText,
                 "HOW",
                 "What belongs to it: background (goes afterwards), foreground (goes "
                 "first), orphan (stays).",
                 {"background", "foreground", "orphan"}},
                {"ignore-not-found", 0, FlagType::kSwitch, "", "What is gone is no error."},
                {"wait", 0, FlagType::kSwitch, "", "Wait until the objects are gone."},
                TimeoutFlag(),
                DryRunFlag()},
      .words_max = 1000,
      .run = Delete};
}

}  // namespace detent
