#include <algorithm>
#include <ostream>

#include "core/api/labels.h"
#include "core/base/yaml.h"
#include "core/cli/command.h"
#include "core/cli/object_args.h"
#include "core/cli/table_view.h"

namespace detent {
namespace {

constexpr size_t kTitleColumn = 14;
constexpr size_t kTasksShown = 20;

void PrintTitled(std::ostream& out, std::string title, const std::string& text) {
  if (text.empty()) return;
  title += ':';
  title.resize(std::max(title.size() + 1, kTitleColumn), ' ');
  out << title << text << '\n';
}

void PrintIndented(std::ostream& out, const std::string& text) {
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    out << "  " << text.substr(begin, end - begin) << '\n';
    begin = end + 1;
  }
}

void PrintMap(std::ostream& out, const std::string& title, const Json* map) {
  if (map == nullptr || !map->is_object()) return;
  bool first = true;
  for (const auto& [name, value] : map->as_object()) {
    // Only what apply keeps for itself; spec says the same below.
    if (name == labels::kLastApplied || !value.is_string()) continue;
    const std::string line = name + "=" + value.as_string();
    if (first) {
      PrintTitled(out, title, line);
    } else {
      out << std::string(kTitleColumn, ' ') << line << '\n';
    }
    first = false;
  }
}

std::string WithAge(const CommandContext& context, const std::string& time) {
  const auto parsed = ParseTime(time);
  if (!parsed) return time;
  const auto age = std::chrono::duration_cast<std::chrono::seconds>(context.clock.Now() - *parsed);
  return time + " (" + FormatAge(std::max(age, std::chrono::seconds(0))) + " ago)";
}

void PrintMetadata(CommandContext& context, const Json& object, Kind kind) {
  std::ostream& out = context.out();
  PrintTitled(out, "Name", TextAt(object, "/metadata/name"));
  PrintTitled(out, "Namespace", TextAt(object, "/metadata/namespace"));
  PrintTitled(out, "Kind", NameOf(kind));
  PrintMap(out, "Labels", object.At("/metadata/labels"));
  PrintMap(out, "Annotations", object.At("/metadata/annotations"));
  PrintTitled(out, "Created", WithAge(context, TextAt(object, "/metadata/creationTimestamp")));
  const std::string deleted = TextAt(object, "/metadata/deletionTimestamp");
  if (!deleted.empty()) PrintTitled(out, "Deleting", "since " + WithAge(context, deleted));
  if (const Json* owners = object.At("/metadata/ownerReferences"); owners && owners->is_array()) {
    for (const Json& owner : owners->as_array()) {
      PrintTitled(out, "Owner", TextAt(owner, "/kind") + "/" + TextAt(owner, "/name"));
    }
  }
}

void PrintSection(std::ostream& out, const char* title, const Json* value) {
  if (value == nullptr || value->is_null()) return;
  out << title << ":\n";
  PrintIndented(out, DumpYaml(*value));
}

// The tasks of a Job, the newest last.
Result<void> PrintTasks(CommandContext& context, const ObjectKey& job) {
  Selection selection;
  selection.kind = Kind::kTask;
  selection.ns = job.ns;
  selection.field_selector = "spec.jobName=" + job.name;
  Json table = TRY(context.api->ListTable(selection));
  Json* rows = table.Find("rows");
  if (rows == nullptr || !rows->is_array() || rows->as_array().empty()) return {};
  const size_t count = rows->as_array().size();
  context.out() << "Tasks:\n";
  if (count > kTasksShown) {
    auto& all = rows->as_array();
    all.erase(all.begin(), all.end() - static_cast<long>(kTasksShown));
    context.out() << "  (the last " << kTasksShown << " of " << count << ")\n";
  }
  TableView({}, context.out()).Print(table);
  return {};
}

Result<void> DescribeOne(CommandContext& context, const ObjectKey& key) {
  const Json object = TRY(context.api->Read(key));
  PrintMetadata(context, object, key.kind);
  PrintSection(context.out(), "Spec", object.Find("spec"));
  PrintSection(context.out(), "Status", object.Find("status"));
  const auto why = context.api->Why(key);
  if (why && !why->empty()) {
    context.out() << "Why:\n";
    for (const std::string& line : *why) context.out() << "  " << line << '\n';
  }
  return key.kind == Kind::kJob ? PrintTasks(context, key) : Result<void>();
}

Result<int> Describe(CommandContext& context) {
  Result<ObjectArgs> args = ParseObjects(context.words);
  if (!args) return context.Usage(args.error().message());
  for (const Kind kind : args->kinds) {
    const Json list =
        TRY(context.api->List({kind, context.ns(), context.flags.Text("selector"), ""}));
    const Json* items = list.Find("items");
    if (items == nullptr || !items->is_array()) continue;
    for (const Json& item : items->as_array()) args->objects.push_back(ObjectArgOf(item, kind));
  }
  int code = kExitOk;
  bool first = true;
  for (const ObjectArg& object : args->objects) {
    if (!first) context.out() << "\n\n";
    first = false;
    const auto described = DescribeOne(context, {object.kind, context.ns(), object.name});
    if (!described) code = context.Fail(described.error());
  }
  return code;
}

}  // namespace

Command DescribeCommand() {
  return {.name = "describe",
          .arguments = "TYPE [NAME...] | TYPE/NAME...",
          .summary = "show all there is to know about objects",
          .description =
              "Shows metadata, spec, status, the reasons that 'detent why' gives, and a\n"
              "Job's tasks, for a person to read.",
          .examples = {"detent describe job/hello", "detent describe jobconfigs -l team=data"},
          .flags = {LabelFlag()},
          .words_min = 1,
          .words_max = 1000,
          .run = Describe};
}

}  // namespace detent
