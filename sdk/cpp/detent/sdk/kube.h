// Kubernetes over the host's detent.kube/1: fill a KubeRequest, send it, get a KubeAnswer. What the
// fields and codes mean is in detent/services/kube.h. Strand only.
//
// A KubeCall owns a request under way. Cancel asks the host to stop waiting, and the callback still
// comes. Destroying a KubeCall cancels it too, and drops the callback; whatever the server was told
// before may have had its effect.

#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "detent/sdk/host.h"
#include "detent/services/kube.h"

namespace detent::sdk {

struct KubeRequest {
  uint32_t verb = DETENT_KUBE_GET;
  std::string gvr;  // "v1/pods", "v1/pods/log"
  std::string namespace_;
  std::string name;
  std::string query;         // raw, without "?"
  std::string content_type;  // empty: application/json
  std::string body;
  detent_task task = 0;
  uint32_t flags = 0;       // DETENT_KUBE_*
  uint32_t timeout_ms = 0;  // 0: the host's 30 s
};

// Borrowed for the callback; copy what you keep, or take the body() Buffer.
class KubeAnswer {
 public:
  KubeAnswer(const detent_host* host, const detent_result& raw) : host_(host), raw_(raw) {}

  const detent_result& raw() const { return raw_; }
  detent_status code() const { return raw_.code; }
  bool ok() const { return raw_.code == DETENT_OK; }
  uint32_t http_status() const { return raw_.http_status; }  // 0: the server did not answer
  uint32_t retry_after_ms() const { return raw_.retry_after_ms; }
  std::string_view reason() const { return View(raw_.reason); }
  std::string_view message() const { return View(raw_.message); }
  // Of Ensure: the object was there already, and is this task's.
  bool adopted() const { return raw_.value == 1; }

  Buffer body() const { return Buffer::Retain(host_, raw_.body); }
  // The body without a reference of its own.
  std::string_view text() const {
    detent_bytes bytes{nullptr, 0};
    if (raw_.body == 0 || host_->buf_view(raw_.body, &bytes) != DETENT_OK) return {};
    return View(bytes);
  }

 private:
  const detent_host* host_;
  const detent_result& raw_;
};

using KubeCallback = Callback<const KubeAnswer&>;

class KubeCall {
 public:
  KubeCall() = default;
  KubeCall(KubeCall&&) noexcept = default;
  KubeCall& operator=(KubeCall&& other) noexcept {
    Abandon();
    held_ = std::move(other.held_);
    return *this;
  }
  ~KubeCall() { Abandon(); }

  // Whether the callback is still to come.
  bool active() const { return held_ != nullptr && !held_->over; }

  // Asks for an early end; the callback still comes.
  void Cancel() {
    if (active()) held_->api->cancel(held_->host.instance(), held_->request);
  }

  // Sends. Not OK: refused at once, and the callback does not come. The server's own refusals come
  // through the callback.
  static Result<KubeCall> Send(const Host& host, const KubeRequest& request, KubeCallback done) {
    return Begin(host, request, &detent_kube::request, std::move(done));
  }
  // Create or adopt; request is a CREATE with its task set.
  static Result<KubeCall> Ensure(const Host& host, const KubeRequest& request, KubeCallback done) {
    return Begin(host, request, &detent_kube::ensure, std::move(done));
  }

 private:
  using Verb = decltype(detent_kube::request);
  struct Held {
    Host host;
    const detent_kube* api = nullptr;
    KubeCallback done;
    detent_op request = 0;
    bool over = false;
  };

  static Result<KubeCall> Begin(const Host& host, const KubeRequest& request,
                                Verb detent_kube::*verb, KubeCallback done);

  void Abandon() {
    if (!held_) return;
    held_->done = nullptr;
    Cancel();
    held_.reset();
  }

  static void Answered(void* ctx, const detent_result* raw) noexcept {
    const std::unique_ptr<std::shared_ptr<Held>> owner(static_cast<std::shared_ptr<Held>*>(ctx));
    Held& held = **owner;
    held.over = true;
    KubeCallback done = std::move(held.done);
    const KubeAnswer answer(held.host.table(), *raw);
    border::Guarded(held.host.table(), held.host.instance(), [&] { done(answer); });
  }

  std::shared_ptr<Held> held_;
};

// One object, for KubeLetGo.
struct KubeObject {
  std::string gvr, namespace_, name;
  std::string uid;      // empty: whatever has the name
  bool remove = false;  // delete it as well, with no grace
};

// Ends the host's interest in an object (detent_kube.let_go). The host repeats it by itself, so
// there is nothing to wait for.
inline Status KubeLetGo(const Host& host, const KubeObject& object) {
  const auto* api = host.Service<detent_kube>(DETENT_SVC_KUBE);
  if (api == nullptr) return Status(DETENT_E_UNSUPPORTED, "NoCluster", "the host has no cluster");
  const detent_kube_object raw{sizeof(raw),
                               object.remove ? DETENT_KUBE_REMOVE : 0,
                               Str(object.gvr),
                               Str(object.namespace_),
                               Str(object.name),
                               Str(object.uid)};
  const detent_status code = api->let_go(host.instance(), &raw, nullptr, nullptr);
  if (code != DETENT_OK) return Status(code, "LetGoRefused", "the host did not take it");
  return {};
}

inline Result<KubeCall> KubeCall::Begin(const Host& host, const KubeRequest& request,
                                        Verb detent_kube::*verb, KubeCallback done) {
  const auto* api = host.Service<detent_kube>(DETENT_SVC_KUBE);
  if (api == nullptr) return Status(DETENT_E_UNSUPPORTED, "NoCluster", "the host has no cluster");
  detent_kube_request raw{};
  raw.size = sizeof(raw);
  raw.verb = request.verb;
  raw.gvr = Str(request.gvr);
  raw.namespace_ = Str(request.namespace_);
  raw.name = Str(request.name);
  raw.query = Str(request.query);
  raw.content_type = Str(request.content_type);
  raw.body = Bytes(request.body);
  raw.task = request.task;
  raw.flags = request.flags;
  raw.timeout_ms = request.timeout_ms;
  KubeCall call;
  call.held_ = std::make_shared<Held>(Held{host, api, std::move(done)});
  auto owner = std::make_unique<std::shared_ptr<Held>>(call.held_);
  const detent_status code = (api->*verb)(host.instance(), &raw, &KubeCall::Answered, owner.get(),
                                          &call.held_->request);
  if (code != DETENT_OK) {
    call.held_->over = true;
    return Status(code, "RequestRefused", "the host did not take the request to Kubernetes");
  }
  owner.release();
  return call;
}

}  // namespace detent::sdk
