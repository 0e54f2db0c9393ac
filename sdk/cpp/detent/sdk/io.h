// FdWatch: a callback whenever a file descriptor is ready, on the strand, over the host's
// detent.io/1. The descriptor stays the caller's: end the FdWatch first, then close it. Strand
// only. The callback may destroy the FdWatch it belongs to.

#pragma once

#include <memory>
#include <utility>

#include "detent/sdk/host.h"
#include "detent/services/io.h"

namespace detent::sdk {

class FdWatch {
 public:
  FdWatch() = default;
  FdWatch(FdWatch&&) noexcept = default;
  FdWatch& operator=(FdWatch&& other) noexcept {
    Stop();
    held_ = std::move(other.held_);
    return *this;
  }
  ~FdWatch() { Stop(); }

  bool active() const { return held_ != nullptr; }

  // Calls f(events) while one of `events` (DETENT_IO_*) holds; level triggered.
  static Result<FdWatch> Start(const Host& host, int fd, uint32_t events, Callback<uint32_t> f) {
    const auto* api = host.Service<detent_io>(DETENT_SVC_IO);
    if (api == nullptr) return Status(DETENT_E_UNSUPPORTED, "NoIo", "the host watches no files");
    FdWatch watch;
    watch.held_ = std::make_unique<Held>(Held{host, api, std::move(f)});
    const detent_status code = api->watch_fd(host.instance(), fd, events, &FdWatch::Ready,
                                             watch.held_.get(), &watch.held_->watch);
    if (code == DETENT_OK) return watch;
    watch.held_.reset();  // there is nothing to unwatch
    return Status(code, "WatchRefused", "the host does not watch this descriptor");
  }

  // Other events for the same descriptor.
  void Modify(uint32_t events) {
    if (held_) held_->api->modify(held_->host.instance(), held_->watch, events);
  }

  // No callback comes after this.
  void Stop() {
    if (!held_) return;
    held_->api->unwatch(held_->host.instance(), held_->watch);
    if (held_->running) {
      held_->orphan = true;  // Ready frees it when the callback returns
      held_.release();
    }
    held_.reset();
  }

 private:
  struct Held {
    Host host;
    const detent_io* api = nullptr;
    Callback<uint32_t> f;
    detent_watch watch = 0;
    bool running = false, orphan = false;
  };

  static void Ready(void* ctx, int32_t, uint32_t events) noexcept {
    auto* held = static_cast<Held*>(ctx);
    held->running = true;
    border::Guarded(held->host.table(), held->host.instance(), [&] { held->f(events); });
    held->running = false;
    if (held->orphan) delete held;
  }

  std::unique_ptr<Held> held_;
};

}  // namespace detent::sdk
