#include "core/plugin/host_table.h"
#include "core/plugin/instance.h"
#include "detent/services/io.h"

namespace detent {
namespace {

detent_status WatchFd(detent_instance inst, int32_t fd, uint32_t events, detent_fd_cb cb, void* ctx,
                      detent_watch* out) {
  Instance* instance = Instance::Of(inst);
  return instance == nullptr ? DETENT_E_STALE : instance->WatchFd(fd, events, {cb, ctx}, out);
}

detent_status Modify(detent_instance inst, detent_watch watch, uint32_t events) {
  Instance* instance = Instance::Of(inst);
  return instance == nullptr ? DETENT_E_STALE : instance->ModifyFd(watch, events);
}

detent_status Unwatch(detent_instance inst, detent_watch watch) {
  Instance* instance = Instance::Of(inst);
  return instance == nullptr ? DETENT_E_STALE : instance->UnwatchFd(watch);
}

constexpr detent_io kIoTable = {sizeof(detent_io), 0, &WatchFd, &Modify, &Unwatch};

}  // namespace

const void* IoService() {
  return &kIoTable;
}

}  // namespace detent
