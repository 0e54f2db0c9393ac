// Which plugins `detent install` reads, and that their words become rules of RBAC.

#include "core/app/plugin_choice.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

namespace detent {
namespace {

const std::string kPod = DETENT_POD_PLUGIN;
const std::string kHttp = DETENT_HTTP_PLUGIN;

class PluginChoices : public testing::Test {
 protected:
  PluginChoices() {
    std::string directory = std::filesystem::temp_directory_path() / "detent-choice-XXXXXX";
    directory_ = mkdtemp(directory.data());
  }
  ~PluginChoices() override { std::filesystem::remove_all(directory_); }

  std::string ConfigWith(const std::string& plugins) {
    const std::string path = directory_ / "detent.yaml";
    std::ofstream(path) << "plugins: [" << plugins << "]\n";
    return path;
  }

  // The chosen kinds, each with "-without" if it needs nothing; or the error.
  static std::string Read(const PluginChoice& choice) {
    const auto executors = PermissionsOfChoice(choice);
    if (!executors) return executors.error().message();
    std::string text;
    for (const ExecutorPermissions& executor : *executors) {
      text += (text.empty() ? "" : " ") + executor.kind;
      if (executor.permissions.empty()) text += "-without";
    }
    return text;
  }

  std::filesystem::path directory_;
};

TEST_F(PluginChoices, AreThoseOfTheConfigurationAlone) {
  EXPECT_EQ(Read({ConfigWith("{path: " + kPod + ", kind: pod}"), {}}), "pod");
  EXPECT_EQ(Read({ConfigWith("{path: " + kHttp + ", kind: http}"), {}}), "http-without");
}

TEST_F(PluginChoices, AreThoseBesideTheBinaryWhereNoneAreConfigured) {
  EXPECT_EQ(Read({}), "http-without pod");
  EXPECT_EQ(Read({ConfigWith(""), {}}), "http-without pod") << "as `detent serve` takes it";
}

TEST_F(PluginChoices, HaveThePluginsBesidesThatWereNamed) {
  const std::string config = ConfigWith("{path: " + kHttp + ", kind: http}");
  EXPECT_EQ(Read({config, {kPod}}), "http-without pod");
  const std::string own = directory_ / "pod.so";
  std::filesystem::copy_file(kPod, own);
  EXPECT_EQ(Read({"", {own}}), "http-without pod") << "nobody named the other one";
  EXPECT_EQ(Read({ConfigWith("{path: " + kPod + ", kind: pod}"), {own}}),
            "two plugins are given for the kind 'pod', " + kPod + " and " + own + "; drop one");
  EXPECT_EQ(Read({"", {own, own}}),
            "two plugins are given for the kind 'pod', " + own + " and " + own + "; drop one");
}

TEST_F(PluginChoices, AreAllToldOfThatCannotBeLoaded) {
  const std::string none = directory_ / "none.so", text = directory_ / "text.so";
  std::ofstream(text) << "hello\n";
  const std::string told = Read({"", {none, text}});
  EXPECT_NE(told.find("plugin " + none +
                      " cannot be opened (No such file or directory); check the "
                      "path in the configuration.\nplugin " +
                      text + " is no ELF file"),
            std::string::npos)
      << told;
  EXPECT_NE(Read({directory_ / "none.yaml", {}}).find("cannot read the configuration"),
            std::string::npos);
}

TEST_F(PluginChoices, BecomeRulesWithoutVersions) {
  const auto executors = LoadExecutorPermissions({PluginFromPath(kPod)});
  ASSERT_TRUE(executors) << executors.error().message();
  EXPECT_EQ(DumpJson(RulesJson(executors->at(0).permissions)),
            R"([{"apiGroups":[""],"resources":["pods"],"verbs":["get","list","watch","create",)"
            R"("patch","delete"]},{"apiGroups":[""],"resources":["pods/log"],"verbs":["get"]}])");
}

}  // namespace
}  // namespace detent
