#include <ostream>

#include "core/base/yaml.h"
#include "core/cli/command.h"
#include "core/cli/list_watch.h"
#include "core/cli/object_args.h"
#include "core/cli/table_view.h"

namespace detent {
namespace {

// A cluster's account of who has set which field: long, and of no use to a reader.
void RemoveBookkeeping(Json& document) {
  if (Json* metadata = document.Find("metadata")) metadata->Remove("managedFields");
  Json* items = document.Find("items");
  if (items == nullptr || !items->is_array()) return;
  for (Json& item : items->as_array()) RemoveBookkeeping(item);
}

class Getter {
 public:
  Getter(CommandContext& context, ObjectArgs args)
      : context_(context),
        api_(*context.api),
        args_(std::move(args)),
        format_(context.flags.Text("output")),
        ns_(context.flags.IsOn("all-namespaces") ? "" : context.ns()) {}

  Result<int> Run() {
    if (context_.flags.IsOn("watch")) return Watch();
    return format_.empty() || format_ == "wide" ? Tables() : Documents();
  }

 private:
  Selection Of(Kind kind) const {
    return {kind, ns_, context_.flags.Text("selector"), context_.flags.Text("field-selector")};
  }

  ObjectKey KeyOf(const ObjectArg& object) const {
    return {object.kind, context_.ns(), object.name};
  }

  TableView ViewOf(Kind kind, bool prefixed) {
    TableStyle style;
    style.wide = format_ == "wide";
    style.namespaces = ns_.empty();
    style.headers = !context_.flags.IsOn("no-headers");
    if (prefixed) style.prefix = ShownName(kind, "");
    return TableView(style, context_.out());
  }

  Result<int> Tables() {
    if (!args_.objects.empty()) return ObjectTables();
    size_t rows = 0;
    for (const Kind kind : args_.kinds) {
      const Json table = TRY(api_.ListTable(Of(kind)));
      if (rows > 0 && table.At("/rows/0") != nullptr) context_.out() << '\n';
      rows += ViewOf(kind, args_.kinds.size() > 1).Print(table);
    }
    if (rows == 0) NoteNothing();
    return kExitOk;
  }

  // Those of one kind stand below each other.
  Result<int> ObjectTables() {
    int code = kExitOk;
    bool mixed = false;
    for (const ObjectArg& object : args_.objects) mixed |= object.kind != args_.objects[0].kind;
    std::optional<TableView> view;
    for (size_t i = 0; i < args_.objects.size(); ++i) {
      const ObjectArg& object = args_.objects[i];
      const Result<Json> table = api_.ReadTable(KeyOf(object));
      if (!table) {
        code = context_.Fail(table.error());
        if (table.error().code() != Code::kNotFound) return code;
        continue;
      }
      const bool next = i > 0 && object.kind != args_.objects[i - 1].kind;
      if (next && view) context_.out() << '\n';
      if (next || !view) view.emplace(ViewOf(object.kind, mixed));
      view->Print(*table);
    }
    return code;
  }

  void NoteNothing() {
    std::string what;
    for (const Kind kind : args_.kinds)
      what += (what.empty() ? "" : ", ") + std::string(PluralOf(kind));
    context_.err() << "There are no " << what
                   << (ns_.empty() ? " in any namespace" : " in namespace " + ns_)
                   << (context_.flags.Has("selector") || context_.flags.Has("field-selector")
                           ? " that match.\n"
                           : ".\n");
  }

  Result<int> Documents() {
    int code = kExitOk;
    Json items{Json::Array()};
    for (const Kind kind : args_.kinds) {
      Json list = TRY(api_.List(Of(kind)));
      Json* found = list.Find("items");
      if (found == nullptr || !found->is_array()) continue;
      for (Json& item : found->as_array()) items.Append(std::move(item));
    }
    for (const ObjectArg& object : args_.objects) {
      Result<Json> found = api_.Read(KeyOf(object));
      if (found) {
        items.Append(std::move(*found));
      } else {
        code = context_.Fail(found.error());
      }
    }
    if (format_ == "name") {
      for (const Json& item : items.as_array()) PrintName(item);
      return code;
    }
    if (args_.objects.size() == 1) {
      if (!items.as_array().empty()) PrintDocument(items.as_array()[0]);
      return code;
    }
    Json list;
    list.Set("apiVersion", "v1").Set("kind", "List").Set("items", std::move(items));
    PrintDocument(list);
    return code;
  }

  void PrintName(const Json& item) {
    const Kind absent = args_.kinds.empty() ? args_.objects[0].kind : args_.kinds[0];
    const ObjectArg object = ObjectArgOf(item, absent);
    context_.out() << ShownName(object.kind, object.name) << '\n';
  }

  void PrintDocument(Json document) {
    RemoveBookkeeping(document);
    if (format_ == "json") {
      context_.out() << DumpJsonPretty(document) << '\n';
      return;
    }
    const std::string text = DumpYaml(document);
    context_.out() << text << (text.ends_with("\n") ? "" : "\n");
  }

  Result<int> Watch() {
    if (args_.kinds.size() + args_.objects.size() != 1) {
      return context_.Usage("--watch: takes one type or one object");
    }
    const bool one = !args_.objects.empty();
    const Kind kind = one ? args_.objects[0].kind : args_.kinds[0];
    ListWatch plan;
    plan.selection = Of(kind);
    if (one) plan.selection.field_selector = "metadata.name=" + args_.objects[0].name;
    plan.table = format_.empty() || format_ == "wide";
    TableView view = ViewOf(kind, false);
    const auto show = [&](const Json& object) {
      if (plan.table) {
        view.Print(object);
      } else if (format_ == "name") {
        PrintName(object);
      } else {
        context_.out() << (format_ == "yaml" ? "---\n" : "");
        PrintDocument(object);
      }
    };
    plan.on_list = [&](const Json& list) {
      if (plan.table) {
        show(list);
      } else if (const Json* items = list.Find("items"); items != nullptr && items->is_array()) {
        for (const Json& item : items->as_array()) show(item);
      }
      context_.out().flush();
      return true;
    };
    plan.on_event = [&](const std::string&, const Json& object) {
      show(object);
      context_.out().flush();
      return true;
    };
    TRY(RunListWatch(context_, plan));
    return kExitOk;
  }

  CommandContext& context_;
  ApiClient& api_;
  const ObjectArgs args_;
  const std::string format_;
  const std::string ns_;
};

Result<int> Get(CommandContext& context) {
  Result<ObjectArgs> args = ParseObjects(context.words);
  if (!args) return context.Usage(args.error().message());
  const bool named = !args->objects.empty();
  if (named && context.flags.IsOn("all-namespaces")) {
    return context.Usage("--all-namespaces: cannot be combined with names");
  }
  if (named && (context.flags.Has("selector") || context.flags.Has("field-selector"))) {
    return context.Usage("--selector: cannot be combined with names");
  }
  return Getter(context, std::move(*args)).Run();
}

}  // namespace

Command GetCommand() {
  return {.name = "get",
          .arguments = "TYPE [NAME...] | TYPE/NAME...",
          .summary = "list objects, or show some",
          .description =
              "Types are jobconfigs (jc), jobs (jb) and tasks (tk), in any form of the\n"
              "word; several as jobs,tasks; or all.",
          .examples = {"detent get jobs -A -o wide", "detent get job/hello -o yaml",
                       "detent get jobs --kubeconfig ~/.kube/config --context staging",
                       "# What fails, as it happens.",
                       "detent get jobs -w --field-selector status.phase=Failed"},
          .flags = {{"all-namespaces", 'A', FlagType::kSwitch, "", "Of all namespaces."},
                    LabelFlag(),
                    {"field-selector", 0, FlagType::kText, "FIELDS",
                     "Only objects with these fields: status.phase=Running."},
                    {"output",
                     'o',
                     FlagType::kText,
                     "FORMAT",
                     "wide, name, json or yaml.",
                     {"wide", "name", "json", "yaml"}},
                    {"watch", 'w', FlagType::kSwitch, "", "Go on with each change."},
                    {"no-headers", 0, FlagType::kSwitch, "", "Leave out the line of titles."},
                    TimeoutFlag()},
          .words_min = 1,
          .words_max = 1000,
          .run = Get};
}

}  // namespace detent
