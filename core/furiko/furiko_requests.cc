#include "core/furiko/furiko_requests.h"

#include <utility>

#include "core/api/furiko.h"
#include "core/kube/resource.h"

namespace detent {
namespace {

constexpr const char* kByUs = "?fieldManager=detent";

KubeResource ResourceOn(FurikoSide side, Kind kind) {
  if (side == FurikoSide::kTheirs) return {kFurikoGroup, kFurikoVersion, PluralOf(kind), ""};
  return {kApiGroup, kApiVersion, PluralOf(kind), ""};
}

// A patch that tests the UID fails as a whole where that is another.
KubeRequest PatchOf(const KubeResource& resource, const FurikoTarget& target,
                    Json::Array operations) {
  operations.insert(
      operations.begin(),
      Json(Json::Object{{"op", "test"}, {"path", "/metadata/uid"}, {"value", target.uid}}));
  KubeRequest request;
  request.method = "PATCH";
  request.path = PathOf(resource, target.key.ns, target.key.name) + kByUs;
  request.content_type = "application/json-patch+json";
  request.body = DumpJson(Json(std::move(operations)));
  return request;
}

}  // namespace

KubeRequest CreateRequest(FurikoSide side, const ObjectKey& key, const Json& document) {
  KubeRequest request;
  request.method = "POST";
  request.path = PathOf(ResourceOn(side, key.kind), key.ns, "") + kByUs;
  request.body = DumpJson(document);
  return request;
}

KubeRequest PatchRequest(const FurikoTarget& target, Json::Array operations) {
  return PatchOf(ResourceOn(target.side, target.key.kind), target, std::move(operations));
}

KubeRequest StatusRequest(const FurikoTarget& target, Json status) {
  KubeResource resource = ResourceOn(target.side, target.key.kind);
  resource.subresource = "status";
  return PatchOf(resource, target, {SetOperation("/status", std::move(status))});
}

KubeRequest DeleteRequest(const FurikoTarget& target) {
  KubeRequest request;
  request.method = "DELETE";
  request.path = PathOf(ResourceOn(target.side, target.key.kind), target.key.ns, target.key.name);
  request.body = DumpJson(Json::Object{{"apiVersion", "v1"},
                                       {"kind", "DeleteOptions"},
                                       {"propagationPolicy", "Background"},
                                       {"preconditions", Json::Object{{"uid", target.uid}}}});
  return request;
}

Json SetOperation(const std::string& path, Json value) {
  return Json::Object{{"op", "add"}, {"path", path}, {"value", std::move(value)}};
}

Json RemoveOperation(const std::string& path) {
  return Json::Object{{"op", "remove"}, {"path", path}};
}

}  // namespace detent
