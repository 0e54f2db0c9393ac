#include "core/api/labels.h"
#include "core/plugin/abi_convert.h"
#include "core/plugin/host_table.h"
#include "core/plugin/instance.h"
#include "core/plugin/service_watch_feeds.h"
#include "detent/services/watch.h"

namespace detent {
namespace {

detent_status ToWatchOrder(const detent_watch_request& given, const std::string& host_id,
                           WatchFeeds::Order& order) {
  WatchScope& out = order.scope;
  if (given.size == 0) return DETENT_E_INVALID;
  if ((given.flags & ~DETENT_WATCH_TRACKED) != 0) return DETENT_E_UNSUPPORTED;
  auto resource = ParseKubeResource(Text(given.gvr));
  if (!resource) return DETENT_E_INVALID;
  out.resource = *std::move(resource);
  out.ns = Text(given.namespace_);
  out.label_selector = Text(given.label_selector);
  out.field_selector = Text(given.field_selector);
  out.only = Text(given.only);
  if (!CheckWatchScope(out)) return DETENT_E_INVALID;
  order.tracked = (given.flags & DETENT_WATCH_TRACKED) != 0;
  if (order.tracked) {
    if (!out.label_selector.empty()) out.label_selector += ',';
    out.label_selector += std::string(labels::kTrackedBy) + "=" + host_id;
  }
  return DETENT_OK;
}

detent_status StartWatch(detent_instance inst, const detent_watch_request* given,
                         detent_watch_cb cb, void* ctx, detent_watch* out) {
  Instance* instance = Instance::Of(inst);
  if (instance == nullptr) return DETENT_E_STALE;
  if (cb == nullptr || out == nullptr) return DETENT_E_INVALID;
  WatchFeeds* feeds = instance->watch_feeds();
  if (feeds == nullptr) return DETENT_E_UNSUPPORTED;
  try {
    WatchFeeds::Order order;
    order.cb = cb;
    order.ctx = ctx;
    const detent_status wrong = ToWatchOrder(Known(given), feeds->door().options().host_id, order);
    return wrong != DETENT_OK ? wrong : feeds->Start(std::move(order), out);
  } catch (...) {  // Memory or threads have run out.
    return DETENT_E_NO_MEMORY;
  }
}

detent_status StopWatch(detent_instance inst, detent_watch watch) {
  Instance* instance = Instance::Of(inst);
  if (instance == nullptr || instance->watch_feeds() == nullptr) return DETENT_E_STALE;
  return instance->watch_feeds()->Stop(watch);
}

constexpr detent_watches kWatchTable = {sizeof(detent_watches), 0, &StartWatch, &StopWatch};

}  // namespace

const void* WatchService() {
  return &kWatchTable;
}

}  // namespace detent
