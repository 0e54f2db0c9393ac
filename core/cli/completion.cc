// Scripts that complete words for shells, made from the tables of commands and flags. Names of
// objects are asked of the server, by `detent get -o name`, when the user presses the key.

#include <ostream>

#include "core/cli/command.h"

namespace detent {
namespace {

using Words = std::vector<std::string>;

std::string FlagWords(const std::vector<Flag>& flags) {
  std::string words;
  for (const Flag& flag : flags) words += (words.empty() ? "--" : " --") + flag.name;
  return words;
}

// `host`: the commands that are the host itself, not its client.
std::string CommandWords(const Words& host) {
  std::string words;
  for (const std::string& name : host) words += name + " ";
  for (const Command& command : Commands()) words += command.name + " ";
  return words + "help";
}

// What the first argument may be: words, or a shell command that prints them.
struct Arguments {
  std::string words;
  std::string kinds;  // Of `detent get`; empty: none.
  bool bare = false;  // Names without their type.
};

Arguments ArgumentsOf(const std::string& command, const Words& host) {
  if (command == "get" || command == "describe" || command == "delete" || command == "wait") {
    return {"jobconfigs jobs tasks", "all", false};
  }
  if (command == "kill" || command == "logs") return {"", "jobs,tasks", false};
  if (command == "why") return {"", "all", false};
  if (command == "run" || command == "next") return {"", "jobconfigs", true};
  if (command == "plugin") return {"list reload", "", false};
  if (command == "completion") return {"bash zsh fish", "", false};
  if (command == "help") return {CommandWords(host), "", false};
  return {};
}

// `flags`: what the line says of the server and the namespace, as the shell passes it on.
std::string Lister(const Arguments& arguments, const std::string& flags) {
  std::string text = "detent " + flags + "get " + arguments.kinds + " -o name 2>/dev/null";
  // job.execution.detent.dev/x is shown as job/x.
  return text + (arguments.bare ? " | sed 's,.*/,,'" : " | sed 's,[.][^/]*/,/,'");
}

std::string Joined(const Words& words, const char* between) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : between) + word;
  return text;
}

// "--output|-o": a pattern of bash's case.
std::string Pattern(const Flag& flag) {
  return "--" + flag.name + (flag.letter == 0 ? "" : std::string("|-") + flag.letter);
}

// The flags of all commands that take a value, as a pattern.
std::string GlobalPattern() {
  Words patterns;
  for (const Flag& flag : GlobalFlags()) {
    if (flag.type != FlagType::kSwitch) patterns.push_back(Pattern(flag));
  }
  return Joined(patterns, "|");
}

void PrintBashCommand(std::ostream& out, const Command& command, const Words& host) {
  const Arguments arguments = ArgumentsOf(command.name, host);
  out << "    " << command.name << ")\n";
  for (const Flag& flag : command.flags) {
    if (flag.choices.empty()) continue;
    out << "      case $before in " << Pattern(flag) << ")\n        COMPREPLY=($(compgen -W '"
        << Joined(flag.choices, " ") << "' -- \"$word\")); return ;;\n      esac\n";
  }
  out << "      if [[ $word == -* ]]; then words='" << FlagWords(command.flags)
      << (command.flags.empty() ? "" : " ") << FlagWords(GlobalFlags()) << "'\n"
      << "      else words=\"" << arguments.words
      << (arguments.kinds.empty() ? "" : " $(" + Lister(arguments, "\"${flags[@]}\" ") + ")")
      << "\"; fi ;;\n";
}

// Bash's; zsh runs it through bashcompinit.
void PrintBash(std::ostream& out, const Words& host) {
  out << "_detent() {\n"
         "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}\n"
         "  local command= words= i\n"
         "  local -a flags=()\n"
         "  for ((i = 1; i < COMP_CWORD; i++)); do\n"
         "    case ${COMP_WORDS[i]} in\n"
         "      "
      << GlobalPattern()
      << ")\n"
         "        flags+=(\"${COMP_WORDS[i]}\" \"${COMP_WORDS[i+1]}\"); ((i++)) ;;\n"
         "      -*) ;;\n"
         "      *) [[ -n $command ]] || command=${COMP_WORDS[i]} ;;\n"
         "    esac\n"
         "  done\n"
         "  case $before in\n"
         "    -f|--filename|--token-file|--ca-file|--kubeconfig)\n"
         "      COMPREPLY=($(compgen -f -- \"$word\")); return ;;\n"
         "    "
      << GlobalPattern()
      << ") return ;;\n"
         "  esac\n"
         "  case $command in\n"
         "    '') words='"
      << CommandWords(host) << " " << FlagWords(GlobalFlags()) << "' ;;\n";
  for (const Command& command : Commands()) PrintBashCommand(out, command, host);
  out << "    help) words='" << CommandWords(host)
      << "' ;;\n"
         "    config) words='check' ;;\n"
         "  esac\n"
         "  COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
         "}\n"
         "complete -o default -F _detent detent\n";
}

// In single quotes, as fish reads them.
std::string Quoted(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + "'";
}

void PrintFishFlags(std::ostream& out, const std::vector<Flag>& flags, const std::string& when) {
  for (const Flag& flag : flags) {
    out << "complete -c detent" << when << " -l " << flag.name;
    if (flag.letter != 0) out << " -s " << flag.letter;
    const bool file = flag.value_name == "FILE";
    if (flag.type != FlagType::kSwitch) out << (file ? " -rF" : " -x");
    if (!flag.choices.empty()) {
      std::string words;
      for (const std::string& choice : flag.choices) words += (words.empty() ? "" : " ") + choice;
      out << " -a " << Quoted(words);
    }
    out << " -d " << Quoted(flag.help) << '\n';
  }
}

void PrintFish(std::ostream& out, const Words& host) {
  out << "complete -c detent -f\n";
  for (const Command& command : Commands()) {
    out << "complete -c detent -n __fish_use_subcommand -a " << command.name << " -d "
        << Quoted(command.summary) << '\n';
  }
  for (const std::string& name : host) {
    out << "complete -c detent -n __fish_use_subcommand -a " << name << '\n';
  }
  for (const Command& command : Commands()) {
    const std::string when = " -n '__fish_seen_subcommand_from " + command.name + "'";
    const Arguments arguments = ArgumentsOf(command.name, host);
    std::string words = arguments.words;
    if (!arguments.kinds.empty()) words += " (" + Lister(arguments, "") + ")";
    if (!words.empty()) out << "complete -c detent" << when << " -a " << Quoted(words) << '\n';
    PrintFishFlags(out, command.flags, when);
  }
  PrintFishFlags(out, GlobalFlags(), "");
}

Result<int> Completion(CommandContext& context) {
  const std::string& shell = context.words[0];
  if (shell == "fish") {
    PrintFish(context.out(), context.host_commands);
    return kExitOk;
  }
  if (shell != "bash" && shell != "zsh") {
    return context.Usage("there is completion for bash, zsh and fish, not for '" + shell + "'");
  }
  if (shell == "zsh") context.out() << "autoload -U +X bashcompinit && bashcompinit\n";
  PrintBash(context.out(), context.host_commands);
  return kExitOk;
}

}  // namespace

Command CompletionCommand() {
  return {.name = "completion",
          .arguments = "bash | zsh | fish",
          .summary = "print a script that completes words in a shell",
          .description = "Load it in the shell's start file.",
          .examples = {"source <(detent completion bash)", "detent completion fish | source"},
          .words_min = 1,
          .words_max = 1,
          .offline = true,
          .run = Completion};
}

}  // namespace detent
