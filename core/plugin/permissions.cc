#include "core/plugin/permissions.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <string_view>
#include <utility>

#include "core/base/spelling.h"
#include "core/plugin/abi_convert.h"
#include "detent/ext/permissions.h"

namespace detent {
namespace {

// Source: Kubernetes documentation, "Authorization", request verbs of resources.
constexpr const char* kRbacVerbs[] = {"get",    "list",  "watch",  "create",
                                      "update", "patch", "delete", "deletecollection"};
constexpr uint32_t kItemsMost = 256;
// A group of 253 letters, three names of 63, and what stands between them.
constexpr size_t kGvrMost = 445;

Error Wrong(const detent_executor& executor, const std::string& why) {
  return Error(Code::kInvalid, "declares wrong permissions for executor '" +
                                   Printable(Text(executor.kind)) +
                                   "' (" DETENT_EXT_PERMISSIONS "): " + why);
}

Result<KubeResource> ReadGvr(std::string_view text) {
  const std::string shown = Printable(text);
  const bool plain = text.size() <= kGvrMost && std::all_of(text.begin(), text.end(), [](char c) {
                       return c > ' ' && c < 0x7f;
                     });
  if (plain) return ParseKubeResource(text);
  return Error(Code::kInvalid, "'" + shown +
                                   "' names no resource of Kubernetes; write one as in \"v1/pods\" "
                                   "or \"apps/v1/deployments/scale\"");
}

Result<std::vector<std::string>> ReadVerbs(std::string_view text) {
  std::set<std::string_view> given;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view verb = text.substr(begin, end - begin);
    begin = end + 1;
    if (std::find(std::begin(kRbacVerbs), std::end(kRbacVerbs), verb) != std::end(kRbacVerbs)) {
      given.insert(verb);
      continue;
    }
    const std::vector<std::string> known(std::begin(kRbacVerbs), std::end(kRbacVerbs));
    std::string why = "'" + Printable(verb) + "' is no verb of RBAC" +
                      DidYouMean(Printable(verb), known) + "; name those it needs, of";
    if (verb == "*") why = "'*' would be every verb; name those it needs, of";
    if (verb.empty()) why = "a verb is empty; name those it needs, with commas between them, of";
    for (const std::string& word : known) why += (word == known.front() ? " " : ", ") + word;
    return Error(Code::kInvalid, why);
  }
  std::vector<std::string> verbs;
  std::copy_if(std::begin(kRbacVerbs), std::end(kRbacVerbs), std::back_inserter(verbs),
               [&](const char* verb) { return given.contains(verb); });
  return verbs;
}

}  // namespace

Result<std::vector<DeclaredPermission>> PermissionsOf(const detent_executor& executor) {
  std::vector<DeclaredPermission> permissions;
  if (!DETENT_HAS_FN(detent_executor, &executor, extension)) return permissions;
  const auto* table =
      static_cast<const detent_permissions*>(executor.extension(DETENT_EXT_PERMISSIONS));
  if (table == nullptr) return permissions;
  if (table->size < sizeof(detent_permissions) || table->size > 65536) {
    return Wrong(executor, "the table has an impossible size (" + std::to_string(table->size) +
                               " bytes); set it to sizeof(detent_permissions)");
  }
  if (table->count > kItemsMost || (table->count > 0 && table->items == nullptr)) {
    return Wrong(executor, "it counts " + std::to_string(table->count) + " items" +
                               (table->items == nullptr ? ", but items is NULL" : "") +
                               "; list between 1 and " + std::to_string(kItemsMost) +
                               ", or none and answer NULL for the extension");
  }
  for (uint32_t i = 0; i < table->count; ++i) {
    const detent_permission& item = table->items[i];
    const std::string at = "items[" + std::to_string(i) + "].";
    auto resource = ReadGvr(Text(item.gvr));
    if (!resource) return Wrong(executor, at + "gvr: " + resource.error().message());
    auto verbs = ReadVerbs(Text(item.verbs));
    if (!verbs) return Wrong(executor, at + "verbs: " + verbs.error().message());
    permissions.push_back({*std::move(resource), *std::move(verbs)});
  }
  return permissions;
}

}  // namespace detent
