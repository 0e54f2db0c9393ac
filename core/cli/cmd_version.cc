#include <algorithm>
#include <ostream>

#include "core/cli/command.h"

namespace detent {
namespace {

constexpr size_t kTitleWidth = 8;  // Of "client: ".

Result<int> Version(CommandContext& context) {
  context.out() << "client: " << CliVersion() << '\n';
  if (context.flags.IsOn("client")) return kExitOk;
  ApiClient* api = TRY(context.connect());
  const Json version = TRY(api->Version());
  std::string title = std::string(api->Holder()) + ": ";
  title.resize(std::max(title.size(), kTitleWidth), ' ');
  context.out() << title << TextAt(version, "/gitVersion") << '\n';
  return kExitOk;
}

}  // namespace

Command VersionCommand() {
  return {
      .name = "version",
      .arguments = "",
      .summary = "show the versions of this program and of the server",
      .description =
          "A host's version has that of the Kubernetes API it follows in front. Of a\n"
          "cluster it is that of its API server.",
      .examples = {"detent version", "detent version --client", "detent version --context staging"},
      .flags = {{"client", 0, FlagType::kSwitch, "", "Do not ask the server."}},
      .offline = true,
      .run = Version};
}

}  // namespace detent
