#include "core/cli/cli.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>

#include "core/base/spelling.h"
#include "core/cli/cluster_client.h"
#include "core/cli/command.h"
#include "core/cli/interrupt.h"
#include "core/cli/kube_transport.h"

namespace detent {
namespace {

constexpr size_t kSummaryColumn = 14;
constexpr const char* kExitCodes =
    "\nExit codes: 0 done, 1 failed, 2 wrong usage, 3 time is over, 4 the job failed.\n";
constexpr const char* kDefaultServer = "http://127.0.0.1:7420";
constexpr std::chrono::milliseconds kRequestTimeout{30'000};
constexpr const char* kServers =
    "\nAsked is the host of --server, else that of $DETENT_SERVER, else the cluster that\n"
    "--kubeconfig or --context names, else the host at http://127.0.0.1:7420.\n";

class Cli {
 public:
  Cli(const std::vector<ExternalCommand>& external, CliIo& io, const CliOptions& options)
      : external_(external), io_(io), options_(options) {}

  int Run(const std::vector<std::string>& args, const Clock& clock, Random& random);

 private:
  int RunCommand(const Command& command, const ParsedFlags& global,
                 const std::vector<std::string>& args, const Clock& clock, Random& random);
  int Execute(CommandContext& context);
  Result<ApiClient*> Connect(CommandContext& context);
  Result<void> ConnectHost(const ParsedFlags& flags, const std::string& server);
  Result<void> ConnectCluster(CommandContext& context);
  int Help(const std::vector<std::string>& words);
  int Unknown(const std::string& word);
  int Wrong(const std::string& mistake, const std::string& command);
  void PrintOverview(std::ostream& out) const;
  void PrintHelp(const Command& command) const;
  const Command* FindCommand(const std::string& name) const;
  const ExternalCommand* FindExternal(const std::string& name) const;

  const std::vector<ExternalCommand>& external_;
  CliIo& io_;
  const CliOptions& options_;
  std::unique_ptr<ApiClient> api_;
};

bool AsksForHelp(const std::vector<std::string>& args) {
  for (const std::string& arg : args) {
    if (arg == "--") return false;
    if (arg == "--help" || arg == "-h") return true;
  }
  return false;
}

int Cli::Run(const std::vector<std::string>& args, const Clock& clock, Random& random) {
  const auto global = ReadFlags(GlobalFlags(), args, true);
  if (!global) return Wrong(global.error().message(), "");
  if (global->consumed == args.size()) {
    if (global->flags.IsOn("help")) {
      PrintOverview(*io_.out);
      return kExitOk;
    }
    PrintOverview(*io_.err);
    return kExitUsage;
  }
  const std::string name = args[global->consumed];
  const std::vector<std::string> rest(args.begin() + static_cast<long>(global->consumed) + 1,
                                      args.end());
  if (name == "help") return Help(rest);
  if (const ExternalCommand* command = FindExternal(name)) {
    return command->run(global->flags.IsOn("help") ? std::vector<std::string>{"--help"} : rest);
  }
  const Command* command = FindCommand(name);
  if (command == nullptr) return Unknown(name);
  if (global->flags.IsOn("help") || AsksForHelp(rest)) {
    PrintHelp(*command);
    return kExitOk;
  }
  return RunCommand(*command, global->flags, rest, clock, random);
}

int Cli::RunCommand(const Command& command, const ParsedFlags& global,
                    const std::vector<std::string>& args, const Clock& clock, Random& random) {
  std::vector<Flag> known = command.flags;
  known.insert(known.end(), GlobalFlags().begin(), GlobalFlags().end());
  auto reading = ReadFlags(known, args);
  if (!reading) return Wrong(reading.error().message(), command.name);
  for (const Flag& flag : GlobalFlags()) {
    if (global.Has(flag.name) && !reading->flags.Has(flag.name)) {
      reading->flags.Add(flag.name, global.Text(flag.name));
    }
  }
  const std::vector<std::string>& words = reading->words;
  if (words.size() > command.words_max) {
    return Wrong("'" + words[command.words_max] + "' is one argument too many", command.name);
  }
  if (words.size() < command.words_min) {
    return Wrong("needs " + command.arguments, command.name);
  }
  CommandContext context{command, reading->flags, words, io_, clock, random};
  context.connect = [this, &context] { return Connect(context); };
  context.read_executors = options_.read_executors;
  for (const ExternalCommand& external : external_) context.host_commands.push_back(external.name);
  return Execute(context);
}

int Cli::Execute(CommandContext& context) {
  if (!context.command.offline) {
    const Result<ApiClient*> api = context.connect();
    if (!api) return Wrong(api.error().message(), context.command.name);
    context.api = *api;
  }
  const InterruptGuard guard(options_.catch_interrupt);
  const Result<int> code = context.command.run(context);
  io_.out->flush();
  return code ? *code : context.Fail(code.error());
}

// A host, unless a flag names a cluster and nothing names a host.
Result<ApiClient*> Cli::Connect(CommandContext& context) {
  const ParsedFlags& flags = context.flags;
  const bool cluster = flags.Has("kubeconfig") || flags.Has("context");
  if (cluster && flags.Has("server")) {
    return Error(Code::kInvalid,
                 "--server: is a host's address, and --kubeconfig and --context name a cluster; "
                 "drop one");
  }
  const char* from_environment = io_.environment("DETENT_SERVER");
  const std::string server =
      flags.Text("server", from_environment != nullptr ? from_environment : "");
  if (cluster && server.empty()) {
    TRY(ConnectCluster(context));
  } else {
    if (cluster) {
      *io_.err << "note: DETENT_SERVER is set, so " << server
               << " is asked, and not the cluster; unset it to ask that\n";
    }
    TRY(ConnectHost(flags, server.empty() ? kDefaultServer : server));
  }
  api_->set_on_warning(
      [this](const std::string& text) { *io_.err << "warning: " << text << '\n'; });
  return api_.get();
}

Result<void> Cli::ConnectHost(const ParsedFlags& flags, const std::string& server) {
  HttpClientOptions http;
  TRY(SetServer(server, http));
  if (flags.Has("token-file")) http.bearer_token = TRY(ReadTokenFile(flags.Text("token-file")));
  http.ca_file = flags.Text("ca-file");
  if (!http.ca_file.empty() && access(http.ca_file.c_str(), R_OK) != 0) {
    return Error(Code::kInvalid, "--ca-file: cannot read '" + http.ca_file + "'");
  }
  if (const auto timeout = flags.Duration("request-timeout")) http.timeout = *timeout;
  api_ = std::make_unique<ApiClient>(
      options_.connect ? options_.connect(http) : MakeHttpTransport(http), server);
  return {};
}

Result<void> Cli::ConnectCluster(CommandContext& context) {
  for (const char* flag : {"token-file", "ca-file"}) {
    if (!context.flags.Has(flag)) continue;
    return Error(Code::kInvalid, "--" + std::string(flag) +
                                     ": is about a host; of a cluster the kubeconfig says it");
  }
  ClusterAccess access = TRY(FindCluster(context.flags, io_));
  const std::string server = access.server;
  context.default_ns = access.namespace_name;
  const auto timeout = context.flags.Duration("request-timeout").value_or(kRequestTimeout);
  api_ = std::make_unique<ClusterClient>(
      options_.connect_cluster ? options_.connect_cluster(access)
                               : MakeKubeTransport(std::move(access), timeout, context.clock),
      server, context.clock);
  return {};
}

int Cli::Help(const std::vector<std::string>& words) {
  if (words.empty() || words[0].starts_with("-")) {
    PrintOverview(*io_.out);
    return kExitOk;
  }
  if (const ExternalCommand* command = FindExternal(words[0])) return command->run({"--help"});
  const Command* command = FindCommand(words[0]);
  if (command == nullptr) return Unknown(words[0]);
  PrintHelp(*command);
  return kExitOk;
}

int Cli::Unknown(const std::string& word) {
  std::vector<std::string> names = {"help"};
  for (const Command& command : Commands()) names.push_back(command.name);
  for (const ExternalCommand& command : external_) names.push_back(command.name);
  return Wrong("unknown command '" + word + "'" + DidYouMean(word, names), "");
}

int Cli::Wrong(const std::string& mistake, const std::string& command) {
  *io_.err << "error: " << mistake << "\nSee 'detent " << (command.empty() ? "" : command + " ")
           << "--help'.\n";
  return kExitUsage;
}

void Cli::PrintOverview(std::ostream& out) const {
  const auto print = [&out](std::string name, const std::string& summary) {
    name.resize(std::max(name.size() + 1, kSummaryColumn), ' ');
    out << "  " << name << summary << '\n';
  };
  out << "Usage: detent COMMAND [ARGUMENTS] [FLAGS]\n\nCommands:\n";
  for (const Command& command : Commands()) print(command.name, command.summary);
  print("help", "show this, or the help of a command");
  if (!external_.empty()) out << "\nThe host:\n";
  for (const ExternalCommand& command : external_) print(command.name, command.summary);
  out << "\nFlags of all commands:\n"
      << DescribeFlags(GlobalFlags()) << kServers << kExitCodes
      << "'detent COMMAND --help' says more about a command.\n";
}

void Cli::PrintHelp(const Command& command) const {
  std::ostream& out = *io_.out;
  out << "Usage: detent " << command.name << (command.arguments.empty() ? "" : " ")
      << command.arguments << " [FLAGS]\n\n"
      << command.description << "\n\nExamples:\n";
  for (const std::string& line : command.examples) out << "  " << line << '\n';
  if (!command.flags.empty()) out << "\nFlags:\n" << DescribeFlags(command.flags);
  out << "\nFlags of all commands:\n" << DescribeFlags(GlobalFlags()) << kServers << kExitCodes;
}

const Command* Cli::FindCommand(const std::string& name) const {
  for (const Command& command : Commands()) {
    if (command.name == name) return &command;
  }
  return nullptr;
}

const ExternalCommand* Cli::FindExternal(const std::string& name) const {
  for (const ExternalCommand& command : external_) {
    if (command.name == name) return &command;
  }
  return nullptr;
}

}  // namespace

CliIo StandardIo() {
  CliIo io;
  io.in = &std::cin;
  io.out = &std::cout;
  io.err = &std::cerr;
  io.out_is_terminal = isatty(STDOUT_FILENO) == 1;
  winsize size = {};
  if (io.out_is_terminal && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    io.width = size.ws_col;
  }
  return io;
}

int RunCli(const std::vector<std::string>& args, const std::vector<ExternalCommand>& external,
           CliIo& io, const Clock& clock, Random& random, const CliOptions& options) {
  const int code = Cli(external, io, options).Run(args, clock, random);
  io.out->flush();
  return code;
}

}  // namespace detent
