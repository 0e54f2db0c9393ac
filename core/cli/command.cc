#include "core/cli/command.h"

#include <ostream>

namespace detent {

std::optional<MonoTime> CommandContext::Deadline() const {
  const auto timeout = flags.Duration("timeout");
  if (!timeout) return std::nullopt;
  return begun + *timeout;
}

int CommandContext::Usage(const std::string& mistake) {
  err() << "error: " << mistake << "\nSee 'detent " << command.name << " --help'.\n";
  return kExitUsage;
}

int CommandContext::Fail(const Error& error) {
  err() << "error: " << error.message() << '\n';
  return error.code() == Code::kDeadline ? kExitTimeout : kExitFailure;
}

const char* CliVersion() {
  return DETENT_VERSION;
}

const std::vector<Command>& Commands() {
  static const std::vector<Command> commands = {
      ApplyCommand(),    GetCommand(),    DescribeCommand(), DeleteCommand(),  RunCommand(),
      KillCommand(),     LogsCommand(),   WaitCommand(),     WhyCommand(),     NextCommand(),
      ValidateCommand(), PluginCommand(), InstallCommand(),  VersionCommand(), CompletionCommand(),
  };
  return commands;
}

const std::vector<Flag>& GlobalFlags() {
  static const std::vector<Flag> flags = {
      {"server", 0, FlagType::kText, "URL",
       "Address of the host, or unix:/path. Default: $DETENT_SERVER, else http://127.0.0.1:7420."},
      {"kubeconfig", 0, FlagType::kText, "FILE",
       "In place of a host, the cluster that this file describes."},
      {"context", 0, FlagType::kText, "NAME",
       "The cluster of this context, of --kubeconfig, $KUBECONFIG or ~/.kube/config."},
      {"namespace", 'n', FlagType::kText, "NAME",
       "Namespace of the objects. Default: default; of a cluster, its context's."},
      {"token-file", 0, FlagType::kText, "FILE", "File with the bearer token to send to a host."},
      {"ca-file", 0, FlagType::kText, "FILE",
       "Trust these certificates of a host, not the system's."},
      {"request-timeout", 0, FlagType::kDuration, "TIME",
       "How long a single request may take. Default: 30s."},
      {"help", 'h', FlagType::kSwitch, "", "Show what a command does."},
  };
  return flags;
}

Flag FileFlag() {
  return {"filename", 'f', FlagType::kTexts, "FILE",
          "File, directory, or - for standard input. May be repeated."};
}

Flag TimeoutFlag() {
  return {"timeout", 0, FlagType::kDuration, "TIME",
          "How long to wait, such as 90s or 5m; then exit with 3."};
}

Flag LabelFlag() {
  return {"selector", 'l', FlagType::kText, "LABELS", "Only objects with these labels: a=b,c!=d."};
}

Flag DryRunFlag() {
  return {"dry-run", 0, FlagType::kSwitch, "",
          "Let the server check everything and change nothing."};
}

}  // namespace detent
