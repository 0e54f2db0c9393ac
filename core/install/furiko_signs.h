// How a Furiko that is installed in a cluster shows: its definitions, which are not ours; webhooks
// for its group, whatever their names; and its Deployments, where its manifests put them. What only
// might be of it is no sign. Pure; any thread.

#pragma once

#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/kube/resource.h"

namespace detent {

// Where one has to look besides our own objects.
struct FurikoPlace {
  KubeResource resource;
  std::string ns;
  std::string name;  // Empty: the whole list.
};
const std::vector<FurikoPlace>& FurikoPlaces();

// Each sign as the words for it: "validatingwebhookconfigurations 'x' ask about its objects".
// Of an object that is stored in the place of one of ours with that name.
std::vector<std::string> FurikoSignsOf(const std::string& name, const Json& stored);
// Of what is stored in such a place: an object or a list.
std::vector<std::string> FurikoSignsAt(const FurikoPlace& place, const Json& found);

// "a, b and c".
std::string Joined(const std::vector<std::string>& words);

}  // namespace detent
