#include "core/app/host_works.h"

#include <gtest/gtest.h>

namespace detent {
namespace {

TEST(Host, HandsThePluginHostAllThatTheConfigurationSaysOfAPlugin) {
  const auto config = ParseConfig(R"(plugins:
  - path: /opt/a.so
    kind: a
    sha256: 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
    limits: {tasks: 7}
    config: {user: nobody}
  - path: /opt/b.so
    kind: b
)",
                                  "detent.yaml");
  ASSERT_TRUE(config) << config.error().message();
  const std::vector<PluginConfig> plugins = PluginsOf(*config);
  ASSERT_EQ(plugins.size(), 2u);
  EXPECT_EQ(plugins[0].path, "/opt/a.so");
  EXPECT_EQ(plugins[0].kind, "a");
  EXPECT_EQ(plugins[0].sha256.substr(0, 8), "01234567");
  EXPECT_EQ(plugins[0].isolation, "in_process");
  EXPECT_EQ(plugins[0].config.Find("user")->as_string(), "nobody");
  EXPECT_EQ(plugins[0].limits.tasks, 7u);
  EXPECT_EQ(plugins[1].limits.tasks, 20'000u) << "the default of the configuration";
}

}  // namespace
}  // namespace detent
