// What executors declare that they need of a cluster: read as it is meant, or refused with the
// item.

#include "core/plugin/permissions.h"

#include <gtest/gtest.h>

#include <cstring>

#include "core/plugin/loader.h"
#include "detent/ext/permissions.h"
#include "detent/types.h"
#include "tests/plugin/host_fixture.h"

namespace detent {
namespace {

using testing::PluginPath;

const detent_permissions* declared = nullptr;  // Of the executor below.

const void* DeclaredExtension(const char* id) {
  return std::strcmp(id, DETENT_EXT_PERMISSIONS) == 0 ? declared : nullptr;
}

detent_executor ExecutorWith(const detent_permissions* table) {
  declared = table;
  detent_executor executor{};
  executor.size = sizeof executor;
  executor.kind = DETENT_STR_INIT("mine");
  executor.extension = DeclaredExtension;
  return executor;
}

detent_str Literal(const std::string& text) {
  return {text.data(), text.size()};
}

// Of a declaration whose second item this is: "" if it is right.
std::string ObjectionTo(const std::string& gvr, const std::string& verbs) {
  const detent_permission items[] = {{DETENT_STR_INIT("v1/pods"), DETENT_STR_INIT("get")},
                                     {Literal(gvr), Literal(verbs)}};
  const detent_permissions table{sizeof table, 2, items};
  const auto read = PermissionsOf(ExecutorWith(&table));
  return read ? "" : read.error().message();
}

TEST(Permissions, ComeWithTheLoadedPluginInOneOrder) {
  PluginConfig config;
  config.path = PluginPath("needs_jobs");
  config.kind = "good";
  const auto loaded = LoadPlugin(config);
  ASSERT_TRUE(loaded) << loaded.error().message();
  const std::vector<DeclaredPermission> want = {
      {{"", "v1", "pods", "log"}, {"get"}},
      {{"batch", "v1", "jobs", ""}, {"get", "list", "create"}}};
  EXPECT_EQ(loaded->permissions, want);
}

TEST(Permissions, AreNoneWhereNoneAreDeclared) {
  PluginConfig config;
  config.path = PluginPath("good");
  config.kind = "good";
  const auto loaded = LoadPlugin(config);
  ASSERT_TRUE(loaded) << loaded.error().message();
  EXPECT_TRUE(loaded->permissions.empty());
  detent_executor without_extensions = ExecutorWith(nullptr);
  EXPECT_TRUE(PermissionsOf(without_extensions)->empty());
  without_extensions.extension = nullptr;
  EXPECT_TRUE(PermissionsOf(without_extensions)->empty());
  const detent_permissions empty{sizeof empty, 0, nullptr};
  EXPECT_TRUE(PermissionsOf(ExecutorWith(&empty))->empty());
}

TEST(Permissions, EachMistakeNamesTheItemAndWhatToDo) {
  struct Row {
    const char* gvr;
    const char* verbs;
    const char* words;
    const char* because;
  };
  const Row rows[] = {
      {"apps/v1/deployments/scale", "get,list,watch,create,update,patch,delete,deletecollection",
       "", "all that there is"},
      {"pods", "get",
       "items[1].gvr: 'pods' names no resource of Kubernetes: it has too few parts; "
       "write VERSION/PLURAL or GROUP/VERSION/PLURAL",
       "the version is missing"},
      {"", "get", "items[1].gvr: '' names no resource of Kubernetes", "nothing is meant"},
      {"v1/*", "get", "items[1].gvr: 'v1/*' names no resource of Kubernetes: the plural must",
       "every resource at once"},
      {"*/v1/pods", "get", "items[1].gvr: '*/v1/pods' names no resource", "every group at once"},
      {"v1/pods\n", "get", "items[1].gvr: 'v1/pods?' names no resource of Kubernetes; write one as",
       "it would break the message's line"},
      {"v1/pods", "",
       "items[1].verbs: a verb is empty; name those it needs, with commas between "
       "them, of get, list, watch, create, update, patch, delete, deletecollection",
       "it would do nothing"},
      {"v1/pods", "get,", "items[1].verbs: a verb is empty", "one may have been forgotten"},
      {"v1/pods", "get,*", "items[1].verbs: '*' would be every verb; name those it needs, of get,",
       "nobody may do everything"},
      {"v1/pods", "get,wach",
       "items[1].verbs: 'wach' is no verb of RBAC (did you mean 'watch'?); "
       "name those it needs, of get,",
       "a slip"},
      {"v1/pods", "get, list", "items[1].verbs: ' list' is no verb of RBAC", "no spaces"},
      {"v1/pods", "impersonate", "items[1].verbs: 'impersonate' is no verb of RBAC",
       "no verb of requests for objects"},
  };
  for (const Row& row : rows) {
    const std::string objection = ObjectionTo(row.gvr, row.verbs);
    if (*row.words == 0) {
      EXPECT_EQ(objection, "") << row.because;
      continue;
    }
    const std::string begin =
        "declares wrong permissions for executor 'mine' (detent.permissions/1): ";
    EXPECT_TRUE(objection.starts_with(begin + row.words)) << row.because << ": " << objection;
  }
}

TEST(Permissions, ANameThatIsTooLongIsCutInTheMessage) {
  const std::string objection = ObjectionTo("v1/" + std::string(100'000, 'a'), "get");
  EXPECT_NE(objection.find("names no resource of Kubernetes"), std::string::npos);
  EXPECT_LT(objection.size(), 400u);
}

TEST(Permissions, ATableOfAnImpossibleSizeOrCountIsRefused) {
  const detent_permission item{DETENT_STR_INIT("v1/pods"), DETENT_STR_INIT("get")};
  const auto objection = [](const detent_permissions& table) {
    const auto read = PermissionsOf(ExecutorWith(&table));
    return read ? "" : read.error().message();
  };
  EXPECT_NE(objection({3, 1, &item}).find("impossible size (3 bytes); set it to sizeof("),
            std::string::npos);
  EXPECT_NE(objection({sizeof(detent_permissions), 4'000'000'000, &item})
                .find("it counts 4000000000 items; list between 1 and 256"),
            std::string::npos);
  EXPECT_NE(objection({sizeof(detent_permissions), 2, nullptr})
                .find("it counts 2 items, but items is NULL"),
            std::string::npos);
}

TEST(Permissions, AWrongDeclarationRefusesThePlugin) {
  const auto refusal = [](const std::string& name) {
    PluginConfig config;
    config.path = PluginPath(name);
    config.kind = "good";
    const auto loaded = LoadPlugin(config);
    return loaded ? "loaded" : loaded.error().message();
  };
  EXPECT_EQ(refusal("needs_everything"),
            "plugin " + PluginPath("needs_everything") +
                " declares wrong permissions for executor 'good' (detent.permissions/1): "
                "items[1].verbs: '*' would be every verb; name those it needs, of get, list, "
                "watch, create, update, patch, delete, deletecollection.");
  EXPECT_NE(refusal("needs_garbage").find("ends the process that loads it (signal "),
            std::string::npos)
      << refusal("needs_garbage");
}

}  // namespace
}  // namespace detent
