// `detent install` as far as it asks no cluster: whose executors get which roles.

#include <gtest/gtest.h>

#include "tests/cli/fake_server.h"

namespace detent {
namespace {

using testing::Outcome;
using testing::Session;

TEST(InstallCommand, GivesRolesToTheExecutorsOfTheChosenPlugins) {
  Session session;
  PluginChoice asked;
  session.read_executors = [&](const PluginChoice& choice) {
    asked = choice;
    return std::vector<ExecutorPermissions>{
        {"workflow", {{"argoproj.io", {"workflows"}, {"get", "create"}}}}};
  };
  const Outcome outcome = session.Run(
      {"install", "--print", "--config", "d.yaml", "--plugin", "a.so", "--plugin", "b.so"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(asked.config, "d.yaml");
  EXPECT_EQ(asked.files, (std::vector<std::string>{"a.so", "b.so"}));
  const size_t role = outcome.out.find("  name: detent-executor-workflow\n");
  ASSERT_NE(role, std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("rules:\n- apiGroups:\n  - argoproj.io\n  resources:\n  - workflows\n"
                             "  verbs:\n  - get\n  - create\n",
                             role),
            std::string::npos)
      << outcome.out;
  EXPECT_EQ(outcome.out.find("detent-executor-pod"), std::string::npos);
}

TEST(InstallCommand, AppliesNothingWhereAPluginCannotBeLoaded) {
  Session session;
  session.read_executors = [](const PluginChoice&) -> Result<std::vector<ExecutorPermissions>> {
    return Error(Code::kInvalid, "plugin /a.so is bad.\nplugin /b.so is worse.");
  };
  // No such file: it would be said if the cluster were looked for.
  const Outcome outcome = session.Run({"install", "--kubeconfig", "/no/such/file"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(
      outcome.err,
      "error: plugin /a.so is bad.\nerror: plugin /b.so is worse.\n"
      "Nothing was applied: executors get the rights that their plugins declare. Name plugins "
      "that can be loaded here by --config and --plugin.\n");
}

}  // namespace
}  // namespace detent
