// detent: the host and its command line in one binary.

#include <string>
#include <vector>

#include "core/app/plugin_choice.h"
#include "core/app/serve.h"
#include "core/base/clock.h"
#include "core/base/random.h"
#include "core/cli/cli.h"

int main(int argc, char** argv) {
  const std::vector<std::string> args(argv + 1, argv + argc);
  const std::vector<detent::ExternalCommand> host_commands = {
      {"serve", "run the host", detent::RunServe},
      {"config", "check a configuration file", detent::RunConfig},
      {"backup", "copy a data directory's objects while it is in use", detent::RunBackup},
  };
  const detent::SystemClock clock;
  detent::SystemRandom random;
  detent::CliIo io = detent::StandardIo();
  detent::CliOptions options;
  options.read_executors = detent::PermissionsOfChoice;
  return detent::RunCli(args, host_commands, io, clock, random, options);
}
