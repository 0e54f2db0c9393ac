// Watch: what happens to Kubernetes objects, over the host's detent.watch/1. First everything that
// is there, then SYNCED, then changes; what is told is a level (detent/services/watch.h). Strand
// only. The callback may destroy the Watch it belongs to.

#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "detent/sdk/host.h"
#include "detent/services/watch.h"

namespace detent::sdk {

struct WatchRequest {
  std::string gvr;         // "v1/pods"
  std::string namespace_;  // empty: all
  std::string label_selector, field_selector;
  bool tracked = false;  // only what this host tracks (DETENT_WATCH_TRACKED)
  std::string only;      // "spec.nodeName,status": the members of interest; empty: all
};

// Borrowed for the callback; copy what you keep, or take the object() Buffer.
class WatchEvent {
 public:
  WatchEvent(const detent_host* host, const detent_watch_event& raw) : host_(host), raw_(raw) {}

  const detent_watch_event& raw() const { return raw_; }
  uint32_t kind() const { return raw_.kind; }  // DETENT_WATCH_UPSERT ...
  detent_task task() const { return raw_.task; }
  std::string_view namespace_() const { return View(raw_.namespace_); }
  std::string_view name() const { return View(raw_.name); }
  std::string_view uid() const { return View(raw_.uid); }
  std::string_view resource_version() const { return View(raw_.resource_version); }
  std::string_view message() const { return View(raw_.message); }

  Buffer object() const { return Buffer::Retain(host_, raw_.object); }
  // The object's JSON without a reference of its own.
  std::string_view text() const {
    detent_bytes bytes{nullptr, 0};
    if (raw_.object == 0 || host_->buf_view(raw_.object, &bytes) != DETENT_OK) return {};
    return View(bytes);
  }

 private:
  const detent_host* host_;
  const detent_watch_event& raw_;
};

class Watch {
 public:
  Watch() = default;
  Watch(Watch&&) noexcept = default;
  Watch& operator=(Watch&& other) noexcept {
    Stop();
    held_ = std::move(other.held_);
    return *this;
  }
  ~Watch() { Stop(); }

  bool active() const { return held_ != nullptr; }

  // Calls f(event) until it is stopped, or the instance closes.
  static Result<Watch> Start(const Host& host, const WatchRequest& request,
                             Callback<const WatchEvent&> f) {
    const auto* api = host.Service<detent_watches>(DETENT_SVC_WATCH);
    if (api == nullptr) return Status(DETENT_E_UNSUPPORTED, "NoCluster", "the host has no cluster");
    const detent_watch_request raw{sizeof(raw),
                                   request.tracked ? DETENT_WATCH_TRACKED : 0,
                                   Str(request.gvr),
                                   Str(request.namespace_),
                                   Str(request.label_selector),
                                   Str(request.field_selector),
                                   Str(request.only)};
    Watch watch;
    watch.held_ = std::make_unique<Held>(Held{host, api, std::move(f)});
    const detent_status code =
        api->start(host.instance(), &raw, &Watch::Happened, watch.held_.get(), &watch.held_->watch);
    if (code == DETENT_OK) return watch;
    watch.held_.reset();  // there is nothing to stop
    return Status(code, "WatchRefused", "the host does not follow " + request.gvr);
  }

  // No callback comes after this.
  void Stop() {
    if (!held_) return;
    held_->api->stop(held_->host.instance(), held_->watch);
    if (held_->running) {
      held_->orphan = true;  // Happened frees it when the callback returns
      held_.release();
    }
    held_.reset();
  }

 private:
  struct Held {
    Host host;
    const detent_watches* api = nullptr;
    Callback<const WatchEvent&> f;
    detent_watch watch = 0;
    bool running = false, orphan = false;
  };

  static void Happened(void* ctx, const detent_watch_event* raw) noexcept {
    auto* held = static_cast<Held*>(ctx);
    const WatchEvent event(held->host.table(), *raw);
    held->running = true;
    border::Guarded(held->host.table(), held->host.instance(), [&] { held->f(event); });
    held->running = false;
    if (held->orphan) delete held;
  }

  std::unique_ptr<Held> held_;
};

}  // namespace detent::sdk
