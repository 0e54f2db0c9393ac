// Wrong usage ends with 2 and says what to do; help is there for every command.

#include <gtest/gtest.h>

#include "core/cli/command.h"
#include "tests/cli/fake_server.h"

namespace detent {
namespace {

using testing::Outcome;
using testing::Session;

TEST(Usage, MistakesEndWithTwoAndAHint) {
  struct Row {
    std::vector<std::string> args;
    const char* error;  // The first line.
  };
  const Row rows[] = {
      {{"gett"}, "unknown command 'gett' (did you mean 'get'?)"},
      {{"get"}, "needs TYPE [NAME...] | TYPE/NAME..."},
      {{"get", "joobs"},
       "unknown type 'joobs'; there are: jobconfigs, jobs, tasks (did you mean 'jobs'?)"},
      {{"get", "jobs", "--outptu", "x"}, "unknown flag --outptu (did you mean --output?)"},
      {{"--sever", "x", "get"}, "unknown flag --sever (did you mean --server?)"},
      {{"get", "job/a", "-A"}, "--all-namespaces: cannot be combined with names"},
      {{"get", "jobs,tasks", "-w"}, "--watch: takes one type or one object"},
      {{"apply"}, "--filename: is required"},
      {{"delete"}, "needs TYPE/NAME, or --filename"},
      {{"delete", "jobs"},
       "needs names, --selector, or --all to delete every one in the namespace"},
      {{"run"}, "needs the name of a JobConfig, or --filename"},
      {{"run", "a", "b"}, "'b' is one argument too many"},
      {{"run", "a", "--set", "x"}, "--set: must be NAME=VALUE, not 'x'"},
      {{"run", "a", "--count", "0"}, "--count: must be 1 to 1000"},
      {{"kill", "jobs"}, "needs job/NAME or task/NAME"},
      {{"wait", "job/a"}, "--for: is required"},
      {{"wait", "job/a", "--for", "x"},
       "--for: must be delete, condition=NAME or jsonpath={.a.b}=VALUE, not 'x'"},
      {{"completion", "tcsh"}, "there is completion for bash, zsh and fish, not for 'tcsh'"},
      {{"plugin", "relaod"}, "unknown command 'plugin relaod' (did you mean 'reload'?)"},
      {{"install", "--server", "http://a"},
       "--server: is about a host; name the cluster by --kubeconfig and --context"},
      {{"install", "--print", "--dry-run"}, "--print: asks no cluster; drop it, or --dry-run"},
      {{"install", "-n", "No"},
       "--namespace: must be lower case letters, digits or '-', and begin and end with a letter or "
       "digit, not 'No'"},
      {{"get", "jobs", "--server", "localhost:7420"},
       "--server: must begin with http://, https:// or unix:, not 'localhost:7420'"},
  };
  for (const Row& row : rows) {
    Session session;
    const Outcome outcome = session.Run(row.args);
    EXPECT_EQ(outcome.code, 2) << row.error;
    EXPECT_EQ(outcome.err.substr(0, outcome.err.find('\n')), std::string("error: ") + row.error);
    EXPECT_NE(outcome.err.find("--help'"), std::string::npos);
    EXPECT_EQ(outcome.out, "");
  }
}

TEST(Usage, EveryCommandHasHelpWithExamples) {
  for (const Command& command : Commands()) {
    Session session;
    const Outcome outcome = session.Run({command.name, "--help"});
    EXPECT_EQ(outcome.code, 0) << command.name;
    EXPECT_NE(outcome.out.find("\nExamples:\n  "), std::string::npos) << command.name;
    const auto lines = command.examples.size();
    EXPECT_TRUE(lines >= 1 && lines <= 5) << command.name;
    EXPECT_EQ(Session().Run({"help", command.name}).out, outcome.out);
  }
}

TEST(Usage, TheOverviewListsOwnAndExternalCommands) {
  Session session;
  std::vector<std::string> given;
  session.external = {{"serve", "run the host", [&](const std::vector<std::string>& args) {
                         given = args;
                         return 7;
                       }}};
  const Outcome overview = session.Run({"--help"});
  EXPECT_EQ(overview.code, 0);
  for (const char* word : {"\n  apply ", "\n  serve         run the host", "--request-timeout"}) {
    EXPECT_NE(overview.out.find(word), std::string::npos) << word;
  }
  EXPECT_EQ(session.Run({}).code, 2);
  EXPECT_EQ(session.Run({"serve", "--config", "x"}).code, 7);
  EXPECT_EQ(given, (std::vector<std::string>{"--config", "x"}));
  EXPECT_EQ(session.Run({"help", "serve"}).code, 7);
  EXPECT_EQ(given, std::vector<std::string>{"--help"});
}

TEST(Usage, TheServerComesFromTheFlagThenTheEnvironment) {
  const auto connect = [](std::vector<std::string> flags, const char* environment) {
    Session session;
    if (environment != nullptr) session.environment["DETENT_SERVER"] = environment;
    session.Expect({"GET /version", 200, R"({"gitVersion":"v1"})"});
    flags.insert(flags.begin(), "version");
    EXPECT_EQ(session.Run(flags).code, 0);
    return session.connected().base_url + session.connected().unix_socket;
  };
  EXPECT_EQ(connect({}, nullptr), "http://127.0.0.1:7420");
  EXPECT_EQ(connect({}, "https://host/"), "https://host");
  EXPECT_EQ(connect({"--server", "http://a:1"}, "https://host"), "http://a:1");
  EXPECT_EQ(connect({"--server", "unix:/run/d.sock"}, nullptr), "http://localhost/run/d.sock");
}

TEST(Usage, AHostThatIsNotThereIsNamed) {
  Session session;
  session.Expect({"GET /apis", 0, "", {}, Code::kUnavailable});
  const Outcome outcome = session.Run({"get", "jobs"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(outcome.err,
            "error: `detent serve` is not running at http://127.0.0.1:7420 (Connection refused); "
            "start it, or give another address by --server or DETENT_SERVER\n");
}

TEST(Usage, CompletionKnowsEveryCommandAndFlag) {
  for (const char* shell : {"bash", "zsh", "fish"}) {
    const Outcome outcome = Session().Run({"completion", shell});
    EXPECT_EQ(outcome.code, 0);
    for (const Command& command : Commands()) {
      EXPECT_NE(outcome.out.find(command.name), std::string::npos);
      for (const Flag& flag : command.flags) {
        EXPECT_NE(outcome.out.find(flag.name), std::string::npos) << shell << " " << flag.name;
      }
    }
  }
}

}  // namespace
}  // namespace detent
