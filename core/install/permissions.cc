#include "core/install/permissions.h"

#include "core/api/furiko.h"
#include "core/api/object.h"
#include "core/crd/furiko_crd.h"
#include "core/install/webhook_entry.h"

namespace detent {
namespace {

using Permissions = std::vector<Permission>;

Json Words(const std::vector<std::string>& words) {
  return Json::Array(words.begin(), words.end());
}

}  // namespace

const std::vector<Permission>& HostPermissions() {
  static const Permissions permissions = {
      {kApiGroup, {"jobconfigs"}, {"get", "list", "watch"}},
      {kApiGroup, {"jobs", "tasks"}, {"get", "list", "watch", "create", "patch", "delete"}},
      {kApiGroup, {"jobconfigs/status", "jobs/status", "tasks/status"}, {"patch"}},
      // Where owners are protected (OwnerReferencesPermissionEnforcement), whoever makes an object
      // that its owner's deletion waits for must be allowed this of the owner.
      {kApiGroup, {"jobconfigs/finalizers", "jobs/finalizers"}, {"update"}},
      // The host puts its certificate into the one that was installed for it, and makes none.
      {"admissionregistration.k8s.io",
       {"validatingwebhookconfigurations"},
       {"get", "list", "watch", "patch"},
       {kWebhookConfiguration}},
  };
  return permissions;
}

const std::vector<Permission>& HostHomePermissions() {
  static const Permissions permissions = {
      // A creation has no name yet that a rule could ask for.
      {"coordination.k8s.io", {"leases"}, {"create"}},
      {"coordination.k8s.io", {"leases"}, {"get", "patch"}, {"detent"}},
      // The certificate that the hosts show to the API server.
      {"", {"secrets"}, {"create"}},
      {"", {"secrets"}, {"get", "patch"}, {kWebhookService}},
  };
  return permissions;
}

const std::vector<Permission>& EditorPermissions() {
  static const Permissions permissions = {
      {kApiGroup,
       {"jobconfigs", "jobs"},
       {"create", "update", "patch", "delete", "deletecollection"}},
      {kApiGroup, {"jobconfigs/scale"}, {"update", "patch"}},
  };
  return permissions;
}

const std::vector<Permission>& ViewerPermissions() {
  static const Permissions permissions = {
      {kApiGroup, {"jobconfigs", "jobs", "tasks"}, {"get", "list", "watch"}},
      {kApiGroup, {"jobconfigs/scale"}, {"get"}},
  };
  return permissions;
}

const std::vector<Permission>& FurikoHostPermissions() {
  static const Permissions permissions = {
      {kFurikoGroup, {"jobconfigs"}, {"get", "list", "watch"}},
      {kFurikoGroup, {"jobs"}, {"get", "list", "watch", "create", "patch", "delete"}},
      {kFurikoGroup, {"jobconfigs/status", "jobs/status"}, {"patch"}},
      // As in HostPermissions: what is made for them, their deletion waits for.
      {kFurikoGroup, {"jobconfigs/finalizers", "jobs/finalizers"}, {"update"}},
      // Ours are made of them. All rights to Jobs the host has anyway.
      {kApiGroup, {"jobconfigs"}, {"create", "patch"}},
      // Whether the kinds that are served are ours to look after.
      {"apiextensions.k8s.io",
       {"customresourcedefinitions"},
       {"get"},
       {FurikoCrdNameOf(Kind::kJobConfig), FurikoCrdNameOf(Kind::kJob)}},
  };
  return permissions;
}

const std::vector<Permission>& FurikoEditorPermissions() {
  static const Permissions permissions = {
      {kFurikoGroup,
       {"jobconfigs", "jobs"},
       {"create", "update", "patch", "delete", "deletecollection"}}};
  return permissions;
}

const std::vector<Permission>& FurikoViewerPermissions() {
  static const Permissions permissions = {
      {kFurikoGroup, {"jobconfigs", "jobs"}, {"get", "list", "watch"}}};
  return permissions;
}

Json RulesJson(const std::vector<Permission>& permissions) {
  Json::Array rules;
  for (const Permission& permission : permissions) {
    Json rule(Json::Object{{"apiGroups", Json::Array{permission.group}},
                           {"resources", Words(permission.resources)}});
    if (!permission.names.empty()) rule.Set("resourceNames", Words(permission.names));
    rule.Set("verbs", Words(permission.verbs));
    rules.push_back(std::move(rule));
  }
  return rules;
}

}  // namespace detent
