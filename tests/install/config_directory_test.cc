// config/kubernetes is what `detent install` applies, and what deploys the host beside it. What
// executors may do there is read from the plugins as they are built.
// UPDATE_GOLDEN=1 rewrites the files of the first sort.

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "core/app/plugin_choice.h"
#include "core/base/yaml.h"
#include "core/install/objects.h"

namespace detent {
namespace {

const std::string kDirectory = DETENT_CONFIG_DIRECTORY;

constexpr const char* kHead =
    "# Made by core/install and core/crd; tests/install holds it to them, and UPDATE_GOLDEN=1 "
    "rewrites it.\n";

std::string ReadFile(const std::string& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string FileOf(const InstallObject& object) {
  const std::string& plural = object.resource.plural;
  if (plural == "namespaces") return "namespace.yaml";
  if (plural == "validatingwebhookconfigurations") return "webhook.yaml";
  if (plural != "customresourcedefinitions") return "rbac.yaml";
  return "crds/" + object.name.substr(0, object.name.find('.')) + ".yaml";
}

std::map<std::string, std::string> MadeFiles() {
  const auto executors = LoadExecutorPermissions(
      {PluginFromPath(DETENT_POD_PLUGIN), PluginFromPath(DETENT_HTTP_PLUGIN)});
  EXPECT_TRUE(executors) << executors.error().message();
  if (!executors) return {};
  std::map<std::string, std::vector<InstallObject>> objects;
  for (InstallObject& object : InstallObjects("detent", DETENT_VERSION, *executors)) {
    objects[FileOf(object)].push_back(std::move(object));
  }
  std::map<std::string, std::string> files;
  for (const auto& [file, content] : objects) files[file] = kHead + InstallYaml(content);
  return files;
}

Json OnlyDocument(const std::string& file) {
  const auto documents = ParseYaml(ReadFile(kDirectory + "/" + file));
  EXPECT_TRUE(documents) << file;
  if (!documents) return {};
  EXPECT_EQ(documents->size(), 1u) << file;
  return documents->front().value;
}

TEST(ConfigDirectory, HasWhatAnInstallationApplies) {
  for (const auto& [file, text] : MadeFiles()) {
    const std::string path = kDirectory + "/" + file;
    if (std::getenv("UPDATE_GOLDEN") != nullptr) std::ofstream(path) << text;
    EXPECT_EQ(ReadFile(path), text) << file << " is old: UPDATE_GOLDEN=1 rewrites it";
  }
}

TEST(ConfigDirectory, NamesEachOfItsFilesAndThisVersion) {
  const Json kustomization = OnlyDocument("kustomization.yaml");
  std::set<std::string> named = {"kustomization.yaml", "detent.yaml", "README.md"};
  for (const Json& file : kustomization.Find("resources")->as_array()) {
    named.insert(file.as_string());
  }
  std::set<std::string> present;
  for (const auto& file : std::filesystem::recursive_directory_iterator(kDirectory)) {
    if (!file.is_regular_file()) continue;
    present.insert(std::filesystem::relative(file.path(), kDirectory).string());
  }
  EXPECT_EQ(named, present);
  EXPECT_EQ(*kustomization.At("/images/0/newTag"), Json(DETENT_VERSION));
}

TEST(ConfigDirectory, DeploysTheHostAsTheAccountThatIsInstalled) {
  const Json deployment = OnlyDocument("deployment.yaml");
  const Json* pod = deployment.At("/spec/template/spec");
  ASSERT_NE(pod, nullptr);
  EXPECT_EQ(*pod->Find("serviceAccountName"), Json(kServiceAccount));
  EXPECT_EQ(*deployment.At("/spec/replicas"), Json(2));
  const std::string host = "/containers/0";
  EXPECT_EQ(DumpJson(*pod->At(host + "/args")),
            R"(["serve","--home","kubernetes","--config","/etc/detent/config/detent.yaml"])");
  for (const char* probe : {"startupProbe", "livenessProbe", "readinessProbe"}) {
    EXPECT_NE(pod->At(host + "/" + probe + "/httpGet/path"), nullptr) << probe;
  }
  EXPECT_EQ(*pod->At("/securityContext/runAsNonRoot"), Json(true));
  EXPECT_EQ(*pod->At(host + "/securityContext/readOnlyRootFilesystem"), Json(true));
  EXPECT_EQ(*pod->At(host + "/securityContext/allowPrivilegeEscalation"), Json(false));
  const Json labels = *deployment.At("/spec/template/metadata/labels");
  EXPECT_EQ(*OnlyDocument("service.yaml").At("/spec/selector"), labels);
  EXPECT_EQ(*OnlyDocument("webhook_service.yaml").At("/spec/selector"), labels);
  EXPECT_EQ(*OnlyDocument("disruption_budget.yaml").At("/spec/selector/matchLabels"), labels);
}

// From the API server to the host: entry, Service, container.
TEST(ConfigDirectory, LeadsTheApiServerToTheWebhook) {
  const Json configuration = OnlyDocument("webhook.yaml");
  const Json& entry = configuration.Find("webhooks")->as_array().front();
  const Json* client = entry.At("/clientConfig/service");
  ASSERT_NE(client, nullptr);
  const Json service = OnlyDocument("webhook_service.yaml");
  EXPECT_EQ(*client->Find("name"), *service.At("/metadata/name"));
  EXPECT_EQ(*client->Find("namespace"), *service.At("/metadata/namespace"));
  EXPECT_EQ(*client->Find("port"), *service.At("/spec/ports/0/port"));
  const Json deployment = OnlyDocument("deployment.yaml");
  const Json* ports = deployment.At("/spec/template/spec/containers/0/ports");
  ASSERT_NE(ports, nullptr);
  bool found = false;
  for (const Json& port : ports->as_array()) {
    if (*port.Find("name") != *service.At("/spec/ports/0/targetPort")) continue;
    found = *port.Find("containerPort") == Json(7443);
  }
  EXPECT_TRUE(found) << "the container has the port that the Service sends to";
  EXPECT_EQ(entry.At("/clientConfig/caBundle"), nullptr) << "the host's to write";
  EXPECT_EQ(*entry.Find("failurePolicy"), Json("Ignore"));
}

}  // namespace
}  // namespace detent
