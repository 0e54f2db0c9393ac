// The command line client: everything that `detent` does but running the host.
//
// One call per process, on one thread. All that it touches of the outside is passed in: streams,
// environment, time, randomness, and how to reach a server, so that tests run it whole.

#pragma once

#include <cstdlib>
#include <functional>
#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/base/random.h"
#include "core/base/result.h"
#include "core/install/permissions.h"

namespace detent {

class ClientTransport;
struct ClusterAccess;
struct HttpClientOptions;

// What a shell sees. An interrupt (Ctrl-C) ends the process with 130.
inline constexpr int kExitOk = 0;
inline constexpr int kExitFailure = 1;
inline constexpr int kExitUsage = 2;
inline constexpr int kExitTimeout = 3;
inline constexpr int kExitJobFailed = 4;

// The streams are borrowed.
struct CliIo {
  std::istream* in = nullptr;
  std::ostream* out = nullptr;
  std::ostream* err = nullptr;
  bool out_is_terminal = false;  // Progress is then one line, drawn again and again.
  int width = 80;                // Of the terminal, in characters.
  std::function<const char*(const char*)> environment = [](const char* name) {
    return std::getenv(name);
  };
};

// A command that is carried out elsewhere ("serve"), listed in the overview beside our own.
struct ExternalCommand {
  std::string name;
  std::string summary;  // One phrase without a full stop.
  // Called with the arguments behind the name, --help among them; returns the exit code.
  std::function<int(const std::vector<std::string>& args)> run;
};

using TransportMaker =
    std::function<std::unique_ptr<ClientTransport>(const HttpClientOptions& options)>;
using ClusterTransportMaker =
    std::function<std::unique_ptr<ClientTransport>(const ClusterAccess& access)>;

// Whose executors a cluster is prepared for.
struct PluginChoice {
  std::string config;              // A host's configuration file; empty: none is given.
  std::vector<std::string> files;  // Plugins besides, each named after its kind.
};
// What these executors need of a cluster; plugins are the host's to load.
using ExecutorReader =
    std::function<Result<std::vector<ExecutorPermissions>>(const PluginChoice& choice)>;

// What comes from the host's side of the binary, and what tests replace.
struct CliOptions {
  ExecutorReader read_executors;          // Null: there are no executors.
  TransportMaker connect;                 // Null: over HTTP.
  ClusterTransportMaker connect_cluster;  // Null: by KubeClient.
  bool catch_interrupt = true;            // Handle SIGINT while a command runs.
};

// The process's streams, and what is known of its terminal.
CliIo StandardIo();

// `args` without the program's name. Returns the exit code.
int RunCli(const std::vector<std::string>& args, const std::vector<ExternalCommand>& external,
           CliIo& io, const Clock& clock, Random& random, const CliOptions& options = {});

}  // namespace detent
