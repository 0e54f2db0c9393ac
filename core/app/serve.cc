#include "core/app/serve.h"

#include <malloc.h>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "core/app/cluster.h"
#include "core/app/config.h"
#include "core/app/host.h"
#include "core/app/plugin_choice.h"
#include "core/base/spelling.h"
#include "core/store/sqlite_store.h"

namespace detent {
namespace {

constexpr int kUsage = 2;

constexpr const char* kServeHelp =
    R"(Runs the host until SIGTERM or SIGINT. Tasks that outlive it go on and are taken up again.

Usage:
  detent serve [--home standalone|kubernetes] [--config FILE] [--data DIR] [--listen ADDRESS]
               [--socket PATH] [--plugin PATH]... [--kubeconfig FILE] [--context NAME]
               [--namespace NAME]

Flags:
  --home HOME       where objects live: `standalone` in SQLite, `kubernetes` as custom resources of
                    a cluster that `detent install` was run for. There several hosts may run: one
                    leads, and another takes over. Default: kubernetes in a pod, else standalone
  --config FILE     what `detent config check` checks; flags win over it
  --data DIR        where objects and plugins' state are kept (default /var/lib/detent)
  --listen ADDRESS  host:port (default 127.0.0.1:7420; port 0 takes a free one)
  --socket PATH     also listen on a Unix socket
  --plugin PATH     a plugin whose kind is its file's name; may be given again. Without any plugin
                    in the configuration, those beside the binary (../lib/detent/plugins) are taken,
                    in a cluster without exec, whose processes would run in the host's own pod
  --kubeconfig FILE the cluster that executors work in (default: as kubectl finds it)
  --context NAME    one of its contexts (default: the current one)
  --namespace NAME  home kubernetes: the host's own, with its Lease (default: its pod's, or detent)

Examples:
  detent serve --data ./data
  detent serve --config /etc/detent/detent.yaml
  detent serve --data ./data --kubeconfig ~/.kube/config --context staging
  detent serve --home kubernetes --data ./data --kubeconfig ~/.kube/config --context staging

Exit codes: 0 done, 1 failed or leads no more, 2 wrong usage.
)";

constexpr const char* kConfigHelp =
    R"(Checks a configuration file and prints every mistake with its line.

Usage:
  detent config check FILE

Examples:
  detent config check /etc/detent/detent.yaml

Exit codes: 0 done, 1 failed, 2 wrong usage.
)";

constexpr const char* kBackupHelp =
    R"(Makes a consistent copy of a data directory's objects, while a host may be using it.

Usage:
  detent backup --data DIR FILE

The copy can be put into an empty data directory as detent.db.

Examples:
  detent backup --data /var/lib/detent /backup/detent-2026-11-21.db

Exit codes: 0 done, 1 failed, 2 wrong usage.
)";

int Fail(const std::string& message) {
  std::fprintf(stderr, "detent: %s\n", message.c_str());
  return 1;
}

struct Flags {
  std::map<std::string, std::vector<std::string>> values;
  std::vector<std::string> rest;

  std::string One(const std::string& name) const {
    const auto found = values.find(name);
    return found == values.end() ? "" : found->second.back();
  }
};

// "--name value" and "--name=value"; an unknown one is a usage error with the nearest that is
// known.
Result<Flags> ParseFlags(const std::vector<std::string>& args,
                         const std::vector<std::string>& known) {
  Flags flags;
  for (size_t i = 0; i < args.size(); ++i) {
    if (args[i].rfind("--", 0) != 0) {
      flags.rest.push_back(args[i]);
      continue;
    }
    const size_t equals = args[i].find('=');
    const std::string name = args[i].substr(0, equals);
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      return Error(Code::kInvalid, "unknown flag " + name + DidYouMean(name, known));
    }
    if (equals != std::string::npos) {
      flags.values[name].push_back(args[i].substr(equals + 1));
    } else if (i + 1 < args.size()) {
      flags.values[name].push_back(args[++i]);
    } else {
      return Error(Code::kInvalid, "flag " + name + " needs a value");
    }
  }
  return flags;
}

bool AsksForHelp(const std::vector<std::string>& args) {
  return std::any_of(args.begin(), args.end(),
                     [](const std::string& arg) { return arg == "--help" || arg == "-h"; });
}

int UsageError(const Error& error, const char* help) {
  std::fprintf(stderr, "detent: %s\n\n%s", error.message().c_str(), help);
  return kUsage;
}

Result<HostConfig> ConfigFrom(const Flags& flags) {
  HostConfig config;
  if (const std::string file = flags.One("--config"); !file.empty()) config = TRY(LoadConfig(file));
  if (const std::string data = flags.One("--data"); !data.empty()) config.data = data;
  if (const std::string listen = flags.One("--listen"); !listen.empty()) {
    config.listen.address = listen;
  }
  if (const std::string socket = flags.One("--socket"); !socket.empty()) {
    config.listen.socket = socket;
  }
  if (const std::string file = flags.One("--kubeconfig"); !file.empty()) {
    config.kubernetes.kubeconfig = std::filesystem::absolute(file).lexically_normal().string();
  }
  if (const std::string context = flags.One("--context"); !context.empty()) {
    config.kubernetes.context = context;
  }
  if (const auto plugins = flags.values.find("--plugin"); plugins != flags.values.end()) {
    for (const std::string& path : plugins->second) config.plugins.push_back(PluginFromPath(path));
  }
  if (const std::string ns = flags.One("--namespace"); !ns.empty()) config.kubernetes.ns = ns;
  if (const std::string home = flags.One("--home"); !home.empty()) {
    config.home = HomeFromName(home);
    if (!config.home) {
      return Error(Code::kInvalid, "--home must be standalone or kubernetes, not '" + home + "'");
    }
  }
  if (!config.home) {
    config.home = IsInCluster(EnvironmentOfProcess()) ? Home::kKubernetes : Home::kStandalone;
  }
  if (config.plugins.empty()) config.plugins = DefaultPlugins(*config.home);
  // Plugins are given absolute paths in it, whatever becomes of the working directory.
  config.data = std::filesystem::absolute(config.data).lexically_normal().string();
  return config;
}

// Before any thread is made. The signals that end the host, which all threads leave to RunServe.
sigset_t PrepareProcess() {
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGTERM);
  sigaddset(&ends, SIGINT);
  pthread_sigmask(SIG_BLOCK, &ends, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  // Texts wander from thread to thread here. With an arena for each thread, what one has freed
  // stays where others do not find it: a tenth of the memory of 10,000 pods.
  mallopt(M_ARENA_MAX, 2);
  return ends;
}

}  // namespace

int RunServe(const std::vector<std::string>& args) {
  if (AsksForHelp(args)) return std::fputs(kServeHelp, stdout) < 0 ? 1 : 0;
  const auto flags =
      ParseFlags(args, {"--home", "--config", "--data", "--listen", "--socket", "--plugin",
                        "--kubeconfig", "--context", "--namespace", "--help"});
  if (!flags) return UsageError(flags.error(), kServeHelp);
  if (!flags->rest.empty()) {
    return UsageError(Error(Code::kInvalid, "unknown argument " + flags->rest[0]), kServeHelp);
  }
  const auto config = ConfigFrom(*flags);
  if (!config) return Fail(config.error().message());

  const sigset_t ends = PrepareProcess();

  const SystemClock clock;
  // What such a host knows is out of date, and it may write no more: nothing is left to be done in
  // good order.
  const auto on_deposed = [] { std::_Exit(1); };
  auto host = config->home == Home::kKubernetes ? StartClusterHost(*config, clock, on_deposed)
                                                : StartStandaloneHost(*config, clock);
  if (!host) return Fail(host.error().message());
  for (const std::string& url : (*host)->urls()) std::printf("detent serves %s\n", url.c_str());
  std::fflush(stdout);
  int signal = 0;
  sigwait(&ends, &signal);
  return 0;
}

int RunConfig(const std::vector<std::string>& args) {
  if (AsksForHelp(args)) return std::fputs(kConfigHelp, stdout) < 0 ? 1 : 0;
  if (args.size() != 2 || args[0] != "check") {
    return UsageError(Error(Code::kInvalid, "expected: config check FILE"), kConfigHelp);
  }
  const auto config = LoadConfig(args[1]);
  if (!config) return Fail(config.error().message());
  std::printf("%s is valid: %zu plugin(s), data in %s\n", args[1].c_str(), config->plugins.size(),
              config->data.c_str());
  return 0;
}

int RunBackup(const std::vector<std::string>& args) {
  if (AsksForHelp(args)) return std::fputs(kBackupHelp, stdout) < 0 ? 1 : 0;
  const auto flags = ParseFlags(args, {"--data"});
  if (!flags) return UsageError(flags.error(), kBackupHelp);
  if (flags->rest.size() != 1) {
    return UsageError(Error(Code::kInvalid, "expected one file to write"), kBackupHelp);
  }
  const std::string data = flags->One("--data").empty() ? HostConfig{}.data : flags->One("--data");
  const auto done = SqliteStore::BackupDirectory(data, flags->rest[0]);
  if (!done) return Fail(done.error().message());
  std::printf("%s holds a copy of %s\n", flags->rest[0].c_str(), data.c_str());
  return 0;
}

}  // namespace detent
