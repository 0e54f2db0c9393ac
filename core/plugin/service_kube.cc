#include <algorithm>

#include "core/base/json.h"
#include "core/base/names.h"
#include "core/plugin/abi_convert.h"
#include "core/plugin/host_table.h"
#include "core/plugin/instance.h"
#include "core/plugin/service_kube_requests.h"
#include "detent/services/kube.h"

namespace detent {
namespace {

constexpr size_t kKubeBodyBytes = 3u << 20;
constexpr size_t kKubeNameBytes = 253;
constexpr size_t kKubeQueryBytes = 8192;
constexpr uint32_t kKubeFlags = DETENT_KUBE_DRY_RUN | DETENT_KUBE_IDEMPOTENT | DETENT_KUBE_METADATA;
constexpr uint32_t kObjectFlags = DETENT_KUBE_REMOVE | DETENT_KUBE_ENDED;
constexpr const char* kMetadataOnly =
    "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json";
constexpr const char* kMetadataListOnly =
    "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json";

struct Verb {
  uint32_t verb;
  const char* method;
  bool named;  // It is about one object, by its name.
  bool writes;
};
constexpr Verb kVerbs[] = {
    {DETENT_KUBE_GET, "GET", true, false},
    {DETENT_KUBE_LIST, "GET", false, false},
    {DETENT_KUBE_CREATE, "POST", false, true},
    {DETENT_KUBE_UPDATE, "PUT", true, true},
    {DETENT_KUBE_PATCH, "PATCH", true, true},
    {DETENT_KUBE_DELETE, "DELETE", true, true},
    {DETENT_KUBE_DELETE_COLLECTION, "DELETE", false, true},
};

// What may stand in a path as one step (Kubernetes API concepts, "Resource URIs").
bool IsObjectName(std::string_view name) {
  if (name.size() > kKubeNameBytes || name == "." || name == "..") return false;
  return name.find_first_of(std::string_view("/%\0", 3)) == name.npos && IsUtf8(name);
}

bool IsNamespaceOrNone(std::string_view ns) {
  return ns.empty() || CheckDns1123Label(ns).has_value();
}

// Percent-encoded already, so that it can be sent as it is.
bool IsQuery(std::string_view query) {
  if (query.starts_with('?') || query.starts_with('&')) return false;
  return std::all_of(query.begin(), query.end(), [](char c) {
    return c > ' ' && c < 0x7F && std::string_view("#\"<>").find(c) == std::string_view::npos;
  });
}

// An answer that never ends is not the answer to a request; that is what detent.watch/1 is for.
bool AsksToWatch(std::string_view query) {
  while (!query.empty()) {
    const std::string_view part = query.substr(0, query.find('&'));
    if (part == "watch" || part.starts_with("watch=")) return true;
    query.remove_prefix(std::min(part.size() + 1, query.size()));
  }
  return false;
}

bool IsMediaType(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c < 0x7F; });
}

detent_status TakePlace(const detent_kube_request& given, const Verb& verb, KubeOrder& out) {
  auto resource = ParseKubeResource(Text(given.gvr));
  if (!resource) return DETENT_E_INVALID;
  out.resource = *std::move(resource);
  out.ns = Text(given.namespace_);
  out.name = Text(given.name);
  if (!IsNamespaceOrNone(out.ns) || !IsObjectName(out.name)) return DETENT_E_INVALID;
  // A subresource is created under an object that exists: an eviction, a binding.
  const bool named = verb.named || !out.resource.subresource.empty();
  return named == !out.name.empty() ? DETENT_OK : DETENT_E_INVALID;
}

detent_status TakeQuery(const detent_kube_request& given, KubeOrder& out) {
  const std::string_view query = Text(given.query);
  if (query.size() > kKubeQueryBytes) return DETENT_E_TOO_LARGE;
  if (!IsQuery(query)) return DETENT_E_INVALID;
  if (AsksToWatch(query)) return DETENT_E_UNSUPPORTED;
  out.query = query;
  if ((given.flags & DETENT_KUBE_DRY_RUN) != 0) {
    out.query += out.query.empty() ? "dryRun=All" : "&dryRun=All";
    out.request.dry_run = true;
  }
  return DETENT_OK;
}

detent_status TakeBody(const detent_kube_request& given, KubeOrder& out) {
  if (given.body.len > kKubeBodyBytes) return DETENT_E_TOO_LARGE;
  out.request.body = Text(given.body);
  const std::string_view content_type = Text(given.content_type);
  if (!IsMediaType(content_type)) return DETENT_E_INVALID;
  if (!content_type.empty()) out.request.content_type = content_type;
  // There are four kinds of patch, and none of them is the usual one.
  const bool says_kind = !content_type.empty() || given.verb != DETENT_KUBE_PATCH;
  return says_kind ? DETENT_OK : DETENT_E_INVALID;
}

detent_status ToOrder(const detent_kube_request& given, KubeOrder& out) {
  if (given.size == 0) return DETENT_E_INVALID;
  const auto verb = std::find_if(std::begin(kVerbs), std::end(kVerbs),
                                 [&](const Verb& known) { return known.verb == given.verb; });
  if (verb == std::end(kVerbs) || (given.flags & ~kKubeFlags) != 0) return DETENT_E_UNSUPPORTED;
  if (const detent_status wrong = TakePlace(given, *verb, out)) return wrong;
  if (const detent_status wrong = TakeQuery(given, out)) return wrong;
  if (const detent_status wrong = TakeBody(given, out)) return wrong;
  out.request.method = verb->method;
  out.request.idempotent = (given.flags & DETENT_KUBE_IDEMPOTENT) != 0;
  if ((given.flags & DETENT_KUBE_METADATA) != 0) {
    out.request.accept = given.verb == DETENT_KUBE_LIST ? kMetadataListOnly : kMetadataOnly;
  }
  if (given.timeout_ms > 0) out.request.timeout = std::chrono::milliseconds(given.timeout_ms);
  out.writes = verb->writes;
  out.task = given.task;
  out.marked =
      given.verb == DETENT_KUBE_CREATE && given.task != 0 && out.resource.subresource.empty();
  return DETENT_OK;
}

// Runs `work` for an instance that has a cluster.
template <typename Work>
detent_status WithCluster(detent_instance handle, Work&& work) noexcept {
  Instance* instance = Instance::Of(handle);
  if (instance == nullptr) return DETENT_E_STALE;
  if (instance->kube_requests() == nullptr) return DETENT_E_UNSUPPORTED;
  try {
    return work(*instance);
  } catch (...) {  // The only exception that can come is a lack of memory.
    return DETENT_E_NO_MEMORY;
  }
}

detent_status BeginRequest(detent_instance inst, const detent_kube_request* given, detent_cb cb,
                           void* ctx, detent_op* out) {
  return WithCluster(inst, [&](Instance& instance) {
    KubeOrder order;
    if (cb == nullptr) return DETENT_E_INVALID;
    if (const detent_status wrong = ToOrder(Known(given), order)) return wrong;
    if (order.task != 0 && !instance.desk().Has(order.task)) return DETENT_E_STALE;
    return instance.kube_requests()->Begin(std::move(order), cb, ctx, out);
  });
}

detent_status Ensure(detent_instance inst, const detent_kube_request* given, detent_cb cb,
                     void* ctx, detent_op* out) {
  return WithCluster(inst, [&](Instance& instance) {
    KubeOrder order;
    if (cb == nullptr) return DETENT_E_INVALID;
    if (const detent_status wrong = ToOrder(Known(given), order)) return wrong;
    if (!order.marked) return DETENT_E_INVALID;
    // What is only checked cannot be there afterwards.
    if ((Known(given).flags & DETENT_KUBE_DRY_RUN) != 0) return DETENT_E_UNSUPPORTED;
    if (!instance.desk().Has(order.task)) return DETENT_E_STALE;
    order.or_adopt = true;
    return instance.kube_requests()->Begin(std::move(order), cb, ctx, out);
  });
}

detent_status LetGoOf(detent_instance inst, const detent_kube_object* given, detent_cb cb,
                      void* ctx) {
  return WithCluster(inst, [&](Instance& instance) {
    const detent_kube_object object = Known(given);
    if (object.size == 0) return DETENT_E_INVALID;
    if ((object.flags & ~kObjectFlags) != 0) return DETENT_E_UNSUPPORTED;
    auto resource = ParseKubeResource(Text(object.gvr));
    if (!resource || !resource->subresource.empty()) return DETENT_E_INVALID;
    KubeDoor::LetGoOrder order;
    order.resource = *std::move(resource);
    order.ns = Text(object.namespace_);
    order.name = Text(object.name);
    order.uid = Text(object.uid);
    order.remove = (object.flags & DETENT_KUBE_REMOVE) != 0;
    order.ended = (object.flags & DETENT_KUBE_ENDED) != 0;
    if (!IsNamespaceOrNone(order.ns) || order.name.empty()) return DETENT_E_INVALID;
    if (!IsObjectName(order.name) || !IsUtf8(order.uid)) return DETENT_E_INVALID;
    return instance.kube_requests()->LetGo(std::move(order), cb, ctx);
  });
}

detent_status CancelRequest(detent_instance inst, detent_op request) {
  return WithCluster(inst,
                     [&](Instance& instance) { return instance.kube_requests()->Cancel(request); });
}

detent_status FindKindOf(detent_instance inst, const detent_str* api_version,
                         const detent_str* kind, uint32_t fresh, detent_cb cb, void* ctx) {
  return WithCluster(inst, [&](Instance& instance) {
    if (api_version == nullptr || kind == nullptr || cb == nullptr) return DETENT_E_INVALID;
    if (fresh > 1) return DETENT_E_INVALID;
    const KindOrder order{std::string(Text(*api_version)), std::string(Text(*kind)), fresh == 1};
    return instance.kube_requests()->FindKind(order, cb, ctx);
  });
}

constexpr detent_kube kKubeTable = {
    sizeof(detent_kube), 0, &BeginRequest, &Ensure, &LetGoOf, &CancelRequest, &FindKindOf};

}  // namespace

const void* KubeService() {
  return &kKubeTable;
}

}  // namespace detent
