#include <ostream>

#include "core/cli/command.h"

namespace detent {
namespace {

Result<int> Version(CommandContext& context) {
  context.out() << "client: " << CliVersion() << '\n';
  if (context.flags.IsOn("client")) return kExitOk;
  ApiClient* api = TRY(context.connect());
  const Json version = TRY(api->Version());
  context.out() << "host:   " << TextAt(version, "/gitVersion") << '\n';
  return kExitOk;
}

}  // namespace

Command VersionCommand() {
  return {.name = "version",
          .arguments = "",
          .summary = "show the versions of this program and of the host",
          .description = "The host's version has that of the Kubernetes API it follows in front.",
          .examples = {"detent version", "detent version --client"},
          .flags = {{"client", 0, FlagType::kSwitch, "", "Do not ask the host."}},
          .offline = true,
          .run = Version};
}

}  // namespace detent
