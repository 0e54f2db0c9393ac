#include <future>
#include <memory>
#include <ostream>
#include <sstream>

#include "core/base/log.h"
#include "core/base/names.h"
#include "core/cli/command.h"
#include "core/cli/kube_transport.h"
#include "core/install/installer.h"
#include "core/kube/client.h"

namespace detent {
namespace {

constexpr const char* kHomeNamespace = "detent";

// Flags of all commands that are about a host, and would be passed over here.
Result<void> CheckFlags(const ParsedFlags& flags) {
  for (const char* flag : {"server", "token-file", "ca-file"}) {
    if (!flags.Has(flag)) continue;
    return Error(Code::kInvalid, "--" + std::string(flag) +
                                     ": is about a host; name the cluster by --kubeconfig and "
                                     "--context");
  }
  if (flags.IsOn("print") && flags.IsOn("dry-run")) {
    return Error(Code::kInvalid, "--print: asks no cluster; drop it, or --dry-run");
  }
  const std::string ns = flags.Text("namespace", kHomeNamespace);
  if (const auto checked = CheckDns1123Label(ns); !checked) {
    return Error(Code::kInvalid,
                 "--namespace: " + checked.error().message() + ", not '" + ns + "'");
  }
  return {};
}

InstallOptions OptionsOf(const ParsedFlags& flags) {
  InstallOptions options;
  options.ns = flags.Text("namespace", kHomeNamespace);
  options.version = CliVersion();
  options.dry_run = flags.IsOn("dry-run");
  options.furiko_group = flags.IsOn("with-furiko-group");
  options.take_over = flags.IsOn("force-conflicts");
  if (const auto timeout = flags.Duration("timeout")) options.timeout = *timeout;
  if (const auto timeout = flags.Duration("request-timeout")) options.request_timeout = *timeout;
  return options;
}

// A sentence for each thing that is missing.
int FailWithEach(CommandContext& context, const Error& error) {
  int code = kExitFailure;
  std::istringstream lines(error.message());
  for (std::string line; std::getline(lines, line);) {
    code = context.Fail(Error(error.code(), line));
  }
  return code;
}

// Before anything is asked of the cluster: a plugin that cannot be loaded leaves it as it was.
Result<std::vector<ExecutorPermissions>> ReadExecutors(CommandContext& context) {
  std::vector<ExecutorPermissions> none;
  if (!context.read_executors) return none;
  return context.read_executors({context.flags.Text("config"), context.flags.Texts("plugin")});
}

void Pause(KubeClient& client, std::chrono::milliseconds time) {
  const auto over = std::make_shared<std::promise<void>>();
  client.After(time, [over] { over->set_value(); });
  over->get_future().wait();
}

Result<void> InstallInto(CommandContext& context, const InstallOptions& options) {
  ClusterAccess access = TRY(FindCluster(context.flags, context.io));
  // What goes wrong is in the answers, once.
  Logger log(LogLevel::kError, [&](std::string_view line) { context.err() << line; });
  KubeClientOptions client_options = CliKubeOptions(options.request_timeout);
  client_options.random = &context.random;
  KubeClient client(std::move(access), client_options, context.clock, log);
  const InstallPort port{[&](KubeRequest request) { return client.Fetch(std::move(request)); },
                         [&](std::chrono::milliseconds time) { Pause(client, time); },
                         context.clock};
  const auto tell = [&](const std::string& line) { context.out() << line << std::endl; };
  return Installer(port, options, tell).Run();
}

Result<int> Install(CommandContext& context) {
  if (const auto checked = CheckFlags(context.flags); !checked) {
    return context.Usage(checked.error().message());
  }
  InstallOptions options = OptionsOf(context.flags);
  auto executors = ReadExecutors(context);
  if (!executors) {
    FailWithEach(context, executors.error());
    context.err() << "Nothing was applied: executors get the rights that their plugins declare. "
                     "Name plugins that can be loaded here by --config and --plugin.\n";
    return kExitFailure;
  }
  options.executors = *std::move(executors);
  if (context.flags.IsOn("print")) {
    context.out() << InstallYaml(ObjectsOf(options));
    return kExitOk;
  }
  const auto done = InstallInto(context, options);
  if (!done) return FailWithEach(context, done.error());
  if (options.dry_run) return kExitOk;
  context.out() << "Detent " << options.version << " is served, and serviceaccount " << options.ns
                << '/' << kServiceAccount << " may do what a host needs.\n";
  return kExitOk;
}

}  // namespace

Command InstallCommand() {
  return {.name = "install",
          .arguments = "",
          .summary = "prepare a Kubernetes cluster for hosts that run in it",
          .description =
              "Applies the namespace, the CustomResourceDefinitions, and who may do what; then\n"
              "waits until the cluster serves our kinds, and asks whether the host's\n"
              "ServiceAccount may do what it has to. It can be run again: what is there is\n"
              "brought to this version, and what a newer version has put there is refused.\n"
              "The host itself is deployed with config/kubernetes, or as you deploy things.\n"
              "Each executor gets a role, detent-executor-KIND, with the rights that its plugin\n"
              "declares. The plugins are those of --config, or else those that were installed\n"
              "with this binary, but for exec; and those of --plugin. Roles of other kinds are\n"
              "left as they are.\n"
              "The cluster is that of --kubeconfig or --context, else of $KUBECONFIG, else of\n"
              "~/.kube/config. --namespace is where the host will run; its default here is\n"
              "detent. With --with-furiko-group manifests of Furiko (execution.furiko.io) are\n"
              "taken as well, unless a Furiko is installed; later installations without it\n"
              "leave what is there of that as it is.",
          .examples =
              {"detent install --kubeconfig ~/.kube/config --context staging",
               "# What would change with a plugin of your own, checked by the API server.",
               "detent install --plugin ./workflow.so --dry-run",
               "# The same objects for those who apply by other means.",
               "detent install --print | kubectl apply --server-side --field-manager detent -f -"},
          .flags = {{"dry-run", 0, FlagType::kSwitch, "",
                     "Let the API server check everything and change nothing."},
                    {"print", 0, FlagType::kSwitch, "",
                     "Print the objects as YAML and ask no cluster."},
                    {"config", 0, FlagType::kText, "FILE",
                     "The hosts' configuration, for the plugins that it names."},
                    {"plugin", 0, FlagType::kTexts, "FILE",
                     "A plugin besides, whose kind is its file's name. May be repeated."},
                    {"with-furiko-group", 0, FlagType::kSwitch, "",
                     "Also serve Furiko's kinds, for manifests of Furiko; not where that runs."},
                    {"force-conflicts", 0, FlagType::kSwitch, "",
                     "Take over fields that something else has set differently."},
                    {"timeout", 0, FlagType::kDuration, "TIME",
                     "How long the cluster may take to follow; then exit with 3. Default: 60s."}},
          .offline = true,
          .run = Install};
}

}  // namespace detent
