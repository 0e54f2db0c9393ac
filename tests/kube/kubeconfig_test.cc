#include "core/kube/kubeconfig.h"

#include <gtest/gtest.h>

#include <filesystem>

namespace detent {
namespace {

// A table of files in place of a disk.
FileReader KubeFiles(std::map<std::string, std::string> files) {
  return [files = std::move(files)](const std::string& path) -> Result<std::string> {
    const auto found = files.find(path);
    if (found == files.end()) return Error(Code::kNotFound, "no file '" + path + "'");
    return found->second;
  };
}

TEST(KubeConfigFiles, FollowTheFlagThenTheVariableThenTheHome) {
  const struct {
    KubeEnvironment environment;
    std::vector<std::string> paths;
    bool required;
    const char* because;
  } rows[] = {
      {{"/flag", "/a:/b", "/home/u", "", "", ""}, {"/flag"}, true, "the flag alone"},
      {{"/x:y", "", "", "", "", ""}, {"/x:y"}, true, "a flag is one path"},
      {{"", "/a:/b", "/home/u", "", "", ""}, {"/a", "/b"}, false, "the variable is a list"},
      {{"", "/a:/b:/a::", "", "", "", ""}, {"/a", "/b"}, false, "repeated and empty ones go"},
      {{"", ":", "/home/u", "", "", ""}, {}, false, "a variable that is set replaces the home"},
      {{"", "", "/home/u", "", "", ""}, {"/home/u/.kube/config"}, false, "the home"},
      {{"", "", "", "10.0.0.1", "443", ""}, {}, false, "a pod without a home"},
  };
  for (const auto& row : rows) {
    const KubeConfigFiles files = ChooseKubeConfigFiles(row.environment);
    EXPECT_EQ(files.paths, row.paths) << row.because;
    EXPECT_EQ(files.required, row.required) << row.because;
  }
}

TEST(KubeConfig, MergesThreeFilesWithTheFirstWinning) {
  const FileReader files = KubeFiles({
      {"/1/c", "clusters: [{name: x, cluster: {server: 'https://1'}}]"},
      {"/2/c",
       "current-context: two\n"
       "clusters: [{name: x, cluster: {server: 'https://2', tls-server-name: n}}]\n"
       "users: [{name: u, user: {tokenFile: t}}]"},
      {"/3/c",
       "current-context: three\n"
       "clusters: [{name: y, cluster: {certificate-authority: ca}}]\n"
       "users: [{name: u, user: {password: p}}, {name: v}]\n"
       "contexts: [{name: two, context: {cluster: x}}]"},
  });
  auto config = LoadKubeConfig({{"/1/c", "/none", "/2/c", "/3/c"}, false}, files);
  ASSERT_TRUE(config) << config.error().message();
  EXPECT_EQ(config->current_context, "two") << "the first that is set";
  EXPECT_EQ(config->current_context_origin.file, "/2/c");
  EXPECT_EQ(config->clusters.at("x").server, "https://1");
  EXPECT_EQ(config->clusters.at("x").tls_server_name, "") << "entries are never mixed";
  EXPECT_EQ(config->users.at("u").token_file, "/2/t") << "relative to its own file";
  EXPECT_EQ(config->users.at("u").password, "");
  EXPECT_EQ(config->clusters.at("y").certificate_authority, "/3/ca");
  EXPECT_EQ(config->users.size(), 2u);
  EXPECT_EQ(config->contexts.at("two").cluster, "x");
  EXPECT_EQ(config->missing_files, std::vector<std::string>{"/none"});
}

TEST(KubeConfig, MissesOnlyAFileThatWasAskedFor) {
  auto skipped = LoadKubeConfig({{"/none"}, false}, KubeFiles({}));
  ASSERT_TRUE(skipped);
  EXPECT_TRUE(skipped->empty());
  auto asked = LoadKubeConfig({{"/none"}, true}, KubeFiles({}));
  ASSERT_FALSE(asked);
  EXPECT_EQ(asked.error().code(), Code::kNotFound);
  EXPECT_EQ(asked.error().message(), "kubeconfig: no file '/none'");
}

TEST(KubeConfig, ReportsTheMistakesOfAllFiles) {
  auto config =
      LoadKubeConfig({{"/a", "/b"}, false}, KubeFiles({{"/a", "kind: Pod"}, {"/b", "users: 1"}}));
  ASSERT_FALSE(config);
  EXPECT_EQ(config.error().code(), Code::kInvalid);
  EXPECT_EQ(config.error().message(),
            "/a:1:1: kind: must be 'Config' (is this a kubeconfig?)\n"
            "/b:1:1: users: must be a list, not integer");
}

TEST(KubeConfig, SaysThatADirectoryIsNoFile) {
  const std::string directory = std::filesystem::temp_directory_path();
  for (const bool required : {false, true}) {
    auto config = LoadKubeConfig({{directory}, required});
    ASSERT_FALSE(config);
    EXPECT_EQ(config.error().code(), Code::kInvalid);
    EXPECT_NE(config.error().message().find("Is a directory"), std::string::npos);
  }
}

TEST(KubeConfig, MakesPathsIndependentOfTheWorkingDirectory) {
  auto config =
      LoadKubeConfig({{"conf/kube"}, true},
                     KubeFiles({{"conf/kube", "users: [{name: a, user: {tokenFile: t}}]"}}));
  ASSERT_TRUE(config) << config.error().message();
  EXPECT_EQ(config->users.at("a").token_file, std::filesystem::current_path() / "conf" / "t");
}

}  // namespace
}  // namespace detent
