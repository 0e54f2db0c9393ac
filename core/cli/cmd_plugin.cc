#include <ostream>

#include "core/base/spelling.h"
#include "core/cli/command.h"
#include "core/cli/table_view.h"

namespace detent {
namespace {

Result<int> ListPlugins(CommandContext& context) {
  const Json plugins = TRY(context.api->Plugins());
  if (context.flags.Text("output") == "json") {
    context.out() << DumpJsonPretty(plugins) << '\n';
    return kExitOk;
  }
  Rows rows = {{"KIND", "STATE", "VERSION", "ACTIVE", "PATH", "MESSAGE"}};
  const Json* items = plugins.Find("items");
  if (items != nullptr && items->is_array()) {
    for (const Json& item : items->as_array()) {
      rows.push_back({TextAt(item, "/kind"), TextAt(item, "/state"), TextAt(item, "/version"),
                      std::to_string(NumberAt(item, "/activeTasks")), TextAt(item, "/path"),
                      TextAt(item, "/message")});
    }
  }
  std::vector<size_t> widths;
  PrintRows(context.out(), rows, widths);
  return kExitOk;
}

Result<int> Plugin(CommandContext& context) {
  const std::string& verb = context.words[0];
  if (verb == "list") {
    if (context.words.size() > 1) return context.Usage("list: takes no argument");
    return ListPlugins(context);
  }
  if (verb != "reload") {
    return context.Usage("unknown command 'plugin " + verb + "'" +
                         DidYouMean(verb, {"list", "reload"}));
  }
  if (context.words.size() != 2) return context.Usage("reload: needs the KIND of one plugin");
  TRY(context.api->ReloadPlugin(context.words[1]));
  context.out() << "plugin " << context.words[1] << " reloaded\n";
  return kExitOk;
}

}  // namespace

Command PluginCommand() {
  return {.name = "plugin",
          .arguments = "list | reload KIND",
          .summary = "list the host's plugins, or try one again",
          .description =
              "'reload' loads a plugin that failed again from its file; tasks held because\n"
              "of it go on then. A cluster does not know its host's plugins.",
          .examples = {"detent plugin list", "detent plugin reload http"},
          .flags = {{"output", 'o', FlagType::kText, "FORMAT", "json.", {"json"}}},
          .words_min = 1,
          .words_max = 2,
          .run = Plugin};
}

}  // namespace detent
