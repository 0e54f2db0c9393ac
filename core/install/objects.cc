#include "core/install/objects.h"

#include <algorithm>
#include <cctype>

#include "core/api/labels.h"
#include "core/api/object.h"
#include "core/base/yaml.h"
#include "core/crd/crd.h"
#include "core/crd/furiko_crd.h"
#include "core/install/permissions.h"
#include "core/install/webhook_entry.h"

namespace detent {
namespace {

constexpr const char* kRbac = "rbac.authorization.k8s.io";

class Collection {
 public:
  explicit Collection(const std::string& ns) : ns_(ns) {}

  // `resource` as ParseKubeResource reads it; `home`: in our namespace.
  struct Target {
    KubeResource resource;
    const char* kind;
    bool home = false;
  };

  void Add(const Target& target, const std::string& name, Json::Object members) {
    InstallObject object{target.resource, target.home ? ns_ : "", name, Json(Json::Object{})};
    const std::string& group = target.resource.group;
    object.document.Set("apiVersion", (group.empty() ? "" : group + "/") + target.resource.version);
    object.document.Set("kind", target.kind);
    Json metadata(Json::Object{{"name", name}});
    if (target.home) metadata.Set("namespace", ns_);
    metadata.Set("labels", Json::Object{{labels::kAppName, "detent"}});
    object.document.Set("metadata", std::move(metadata));
    for (auto& [member, value] : members) object.document.Set(member, std::move(value));
    objects_.push_back(std::move(object));
  }

  // A kind that we look after.
  void AddCrd(const std::string& name, Json document) {
    objects_.push_back({{"apiextensions.k8s.io", "v1", "customresourcedefinitions", ""},
                        "",
                        name,
                        std::move(document)});
  }

  // A role of that name for the host, and its binding.
  void AddRole(const std::string& name, const std::vector<Permission>& permissions, bool home) {
    const char* role = home ? "Role" : "ClusterRole";
    Add({{kRbac, "v1", home ? "roles" : "clusterroles", ""}, role, home}, name,
        {{"rules", RulesJson(permissions)}});
    Json host(
        Json::Object{{"kind", "ServiceAccount"}, {"name", kServiceAccount}, {"namespace", ns_}});
    Add({{kRbac, "v1", home ? "rolebindings" : "clusterrolebindings", ""},
         home ? "RoleBinding" : "ClusterRoleBinding",
         home},
        name,
        {{"roleRef", Json::Object{{"apiGroup", kRbac}, {"kind", role}, {"name", name}}},
         {"subjects", Json::Array{std::move(host)}}});
  }

  // A role for people, which the cluster adds to its own role `into` and to those above it.
  void AddAggregated(const std::string& prefix, const std::string& into,
                     const std::vector<Permission>& permissions) {
    Add({{kRbac, "v1", "clusterroles", ""}, "ClusterRole"}, prefix + into,
        {{"rules", RulesJson(permissions)}});
    Json& marks = *objects_.back().document.Find("metadata")->Find("labels");
    marks.Set(std::string(kRbac) + "/aggregate-to-" + into, "true");
  }

  std::vector<InstallObject> Take() { return std::move(objects_); }

 private:
  const std::string ns_;
  std::vector<InstallObject> objects_;
};

}  // namespace

std::string ToString(const InstallObject& object) {
  const Json* kind = object.document.Find("kind");
  std::string text = kind != nullptr && kind->is_string() ? kind->as_string() : "";
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (!object.resource.group.empty()) text += "." + object.resource.group;
  return text + "/" + object.name;
}

std::vector<InstallObject> InstallObjects(const std::string& ns, const std::string& version,
                                          const std::vector<ExecutorPermissions>& executors) {
  const std::string name = kServiceAccount;
  Collection all(ns);
  all.Add({{"", "v1", "namespaces", ""}, "Namespace"}, ns, {});
  for (const Kind kind : kKinds) all.AddCrd(CrdNameOf(kind), CrdOf(kind, version));
  // Only the host's Pod asks for a token of it.
  all.Add({{"", "v1", "serviceaccounts", ""}, "ServiceAccount", true}, name,
          {{"automountServiceAccountToken", false}});
  all.AddRole(name, HostPermissions(), false);
  all.AddRole(name, HostHomePermissions(), true);
  for (const ExecutorPermissions& executor : executors) {
    if (executor.permissions.empty()) continue;
    all.AddRole("detent-executor-" + executor.kind, executor.permissions, false);
  }
  all.AddAggregated("detent-", "edit", EditorPermissions());
  all.AddAggregated("detent-", "view", ViewerPermissions());
  all.Add({{"admissionregistration.k8s.io", "v1", "validatingwebhookconfigurations", ""},
           "ValidatingWebhookConfiguration"},
          kWebhookConfiguration, {{"webhooks", Json::Array{WebhookEntry(ns)}}});
  return all.Take();
}

std::vector<InstallObject> FurikoObjects(const std::string& ns, const std::string& version) {
  Collection all(ns);
  for (const Kind kind : kFurikoKinds) {
    all.AddCrd(FurikoCrdNameOf(kind), FurikoCrdOf(kind, version));
  }
  all.AddRole("detent-furiko", FurikoHostPermissions(), false);
  all.AddAggregated("detent-furiko-", "edit", FurikoEditorPermissions());
  all.AddAggregated("detent-furiko-", "view", FurikoViewerPermissions());
  return all.Take();
}

std::string InstallYaml(const std::vector<InstallObject>& objects) {
  std::string text;
  for (const InstallObject& object : objects) {
    if (!text.empty()) text += "---\n";
    text += DumpYaml(object.document);
  }
  return text;
}

}  // namespace detent
