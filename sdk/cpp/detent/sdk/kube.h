// Kubernetes over the host's detent.kube/1: fill a KubeRequest, send it, get a KubeAnswer; what the
// resource of a kind is called, KubeFindKind says. What the fields and codes mean is in
// detent/services/kube.h. Strand only.
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
#include "detent/sdk/kube_answer.h"
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

using KubeCallback = Callback<const KubeAnswer&>;
using KubeKindCallback = Callback<const Result<KubeKind>&>;

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
  // make(api, ctx, out) asks the host, with Answered as the callback.
  template <typename Make>
  static Result<KubeCall> Begin(const Host& host, KubeCallback done, Make&& make);
  friend Result<KubeCall> KubeFindKind(const Host& host, std::string_view api_version,
                                       std::string_view kind, bool fresh, KubeKindCallback done);

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
  bool ended = false;   // DETENT_KUBE_ENDED
};

// Ends the host's interest in an object (detent_kube.let_go). The host repeats it by itself, so
// there is nothing to wait for.
inline Status KubeLetGo(const Host& host, const KubeObject& object) {
  const auto* api = host.Service<detent_kube>(DETENT_SVC_KUBE);
  if (api == nullptr) return Status(DETENT_E_UNSUPPORTED, "NoCluster", "the host has no cluster");
  const uint32_t flags =
      (object.remove ? DETENT_KUBE_REMOVE : 0) | (object.ended ? DETENT_KUBE_ENDED : 0);
  const detent_kube_object raw{sizeof(raw),
                               flags,
                               Str(object.gvr),
                               Str(object.namespace_),
                               Str(object.name),
                               Str(object.uid)};
  const detent_status code = api->let_go(host.instance(), &raw, nullptr, nullptr);
  if (code != DETENT_OK) return Status(code, "LetGoRefused", "the host did not take it");
  return {};
}

template <typename Make>
Result<KubeCall> KubeCall::Begin(const Host& host, KubeCallback done, Make&& make) {
  const auto* api = host.Service<detent_kube>(DETENT_SVC_KUBE);
  if (api == nullptr) return Status(DETENT_E_UNSUPPORTED, "NoCluster", "the host has no cluster");
  KubeCall call;
  call.held_ = std::make_shared<Held>(Held{host, api, std::move(done)});
  auto owner = std::make_unique<std::shared_ptr<Held>>(call.held_);
  const detent_status code = make(*api, owner.get(), &call.held_->request);
  if (code != DETENT_OK) {
    call.held_->over = true;
    return Status(code, "RequestRefused", "the host did not take the request to Kubernetes");
  }
  owner.release();
  return call;
}

inline Result<KubeCall> KubeCall::Begin(const Host& host, const KubeRequest& request,
                                        Verb detent_kube::*verb, KubeCallback done) {
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
  return Begin(host, std::move(done), [&](const detent_kube& api, void* ctx, detent_op* out) {
    return (api.*verb)(host.instance(), &raw, &KubeCall::Answered, ctx, out);
  });
}

// What the cluster serves of a kind: "apps/v1", "Deployment". fresh: a request to its gvr was
// answered as if it did not exist. It cannot be cancelled, but its callback can be dropped, as that
// of a request. A host before 0.3: DETENT_E_UNSUPPORTED at once.
inline Result<KubeCall> KubeFindKind(const Host& host, std::string_view api_version,
                                     std::string_view kind, bool fresh, KubeKindCallback done) {
  auto answered = [host, done = std::move(done)](const KubeAnswer& answer) mutable {
    done(ReadKubeKind(host.table(), host.instance(), answer));
  };
  const auto ask = [&](const detent_kube& api, void* ctx, detent_op*) -> detent_status {
    if (!DETENT_HAS_FN(detent_kube, &api, find_kind)) return DETENT_E_UNSUPPORTED;
    const detent_str version = Str(api_version), name = Str(kind);
    const uint32_t anew = fresh ? 1 : 0;
    return api.find_kind(host.instance(), &version, &name, anew, &KubeCall::Answered, ctx);
  };
  return KubeCall::Begin(host, std::move(answered), ask);
}

}  // namespace detent::sdk
