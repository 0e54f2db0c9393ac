// What a command is: its words in the help text, its flags, and the function that carries it out.
//
// The table of commands is constant data. A context lives for one run, on one thread.

#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/base/random.h"
#include "core/base/result.h"
#include "core/cli/api_client.h"
#include "core/cli/cli.h"
#include "core/cli/flags.h"
#include "core/cli/patience.h"

namespace detent {

struct Command;

struct CommandContext {
  const Command& command;
  const ParsedFlags& flags;
  const std::vector<std::string>& words;  // Behind the command's name.
  CliIo& io;
  const Clock& clock;
  Random& random;
  MonoTime begun = clock.Mono();
  ApiClient* api = nullptr;  // Null for a command that is `offline`.
  // Makes the client for a command that may do without one.
  std::function<Result<ApiClient*>()> connect = {};
  std::vector<std::string> host_commands = {};  // Carried out elsewhere: "serve".
  ExecutorReader read_executors = {};           // May be null, as in CliOptions.
  Patience patience = {};
  // Where neither -n nor an object says so. Of a cluster, once connected, its context's.
  std::string default_ns = "default";

  std::ostream& out() { return *io.out; }
  std::ostream& err() { return *io.err; }
  // -n, or the default.
  std::string ns() const { return flags.Text("namespace", default_ns); }
  // When --timeout is over; nullopt: never.
  std::optional<MonoTime> Deadline() const;
  // Prints a mistake in the words or flags with a hint at the command's help; kExitUsage.
  int Usage(const std::string& mistake);
  // Prints "error: ..."; the exit code for it.
  int Fail(const Error& error);
};

struct Command {
  std::string name;
  std::string arguments;              // "TYPE[/NAME]", for the usage line.
  std::string summary;                // One phrase without a full stop, for the overview.
  std::string description;            // Sentences, in lines of at most 80 characters.
  std::vector<std::string> examples;  // Lines: "# what" or a command.
  std::vector<Flag> flags = {};
  size_t words_min = 0;
  size_t words_max = 0;
  bool offline = false;  // Needs no server, or connects when it wants to.
  // The exit code; an error is printed as "error: ...", and ends with 3 if it is kDeadline.
  std::function<Result<int>(CommandContext&)> run = {};
};

// Detent's version.
const char* CliVersion();

// In the order of the overview.
const std::vector<Command>& Commands();
const std::vector<Flag>& GlobalFlags();
// The flags of many commands, with one wording: -f, --timeout, -l, --dry-run.
Flag FileFlag();
Flag TimeoutFlag();
Flag LabelFlag();
Flag DryRunFlag();

// One per file cmd_<name>.cc.
Command ApplyCommand();
Command CompletionCommand();
Command DeleteCommand();
Command DescribeCommand();
Command GetCommand();
Command InstallCommand();
Command KillCommand();
Command LogsCommand();
Command NextCommand();
Command PluginCommand();
Command RunCommand();
Command ValidateCommand();
Command VersionCommand();
Command WaitCommand();
Command WhyCommand();

}  // namespace detent
