#include "core/install/furiko_signs.h"

#include <algorithm>

#include "core/api/furiko.h"
#include "core/api/labels.h"
#include "core/crd/furiko_crd.h"

namespace detent {
namespace {

const Json* ListAt(const Json& json, std::string_view pointer) {
  const Json* list = json.At(pointer);
  return list != nullptr && list->is_array() ? list : nullptr;
}

bool NamesFuriko(const Json& rule) {
  const Json* groups = ListAt(rule, "/apiGroups");
  if (groups == nullptr) return false;
  const Json::Array& names = groups->as_array();
  return std::find(names.begin(), names.end(), Json(kFurikoGroup)) != names.end();
}

bool AsksAboutFuriko(const Json& configuration) {
  const Json* webhooks = ListAt(configuration, "/webhooks");
  if (webhooks == nullptr) return false;
  for (const Json& webhook : webhooks->as_array()) {
    const Json* rules = ListAt(webhook, "/rules");
    if (rules == nullptr) continue;
    if (std::any_of(rules->as_array().begin(), rules->as_array().end(), NamesFuriko)) return true;
  }
  return false;
}

}  // namespace

const std::vector<FurikoPlace>& FurikoPlaces() {
  static const std::vector<FurikoPlace> places = {
      {{"admissionregistration.k8s.io", "v1", "validatingwebhookconfigurations", ""}, "", ""},
      {{"admissionregistration.k8s.io", "v1", "mutatingwebhookconfigurations", ""}, "", ""},
      {{"apps", "v1", "deployments", ""}, "furiko-system", "execution-controller"},
      {{"apps", "v1", "deployments", ""}, "furiko-system", "execution-webhook"},
  };
  return places;
}

std::vector<std::string> FurikoSignsOf(const std::string& name, const Json& stored) {
  const bool of_furiko = std::any_of(std::begin(kFurikoKinds), std::end(kFurikoKinds),
                                     [&](Kind kind) { return name == FurikoCrdNameOf(kind); });
  if (!of_furiko) return {};
  if (stored.At("/metadata/annotations" + PointerToken(labels::kVersion)) != nullptr) return {};
  return {"customresourcedefinition " + name + " is not one that Detent has put there"};
}

std::vector<std::string> FurikoSignsAt(const FurikoPlace& place, const Json& found) {
  if (!place.name.empty()) {
    return {"deployment " + place.ns + "/" + place.name + " is there"};
  }
  std::vector<std::string> signs;
  const Json* items = ListAt(found, "/items");
  if (items == nullptr) return signs;
  for (const Json& item : items->as_array()) {
    const Json* name = item.At("/metadata/name");
    if (name == nullptr || !name->is_string() || !AsksAboutFuriko(item)) continue;
    signs.push_back(place.resource.plural + " '" + name->as_string() + "' ask about its objects");
  }
  return signs;
}

std::string Joined(const std::vector<std::string>& words) {
  std::string text;
  for (size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? " and " : ", ";
    text += words[i];
  }
  return text;
}

}  // namespace detent
