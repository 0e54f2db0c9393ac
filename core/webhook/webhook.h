// The webhook that a host serves in a cluster, so that `kubectl apply` of a JobConfig or a Job is
// judged by the code that `detent validate` uses.
//
// It serves POST /validate over HTTPS on a port of its own, with a certificate that it makes and
// shares with the other hosts, or that it is given; and it keeps the caBundle of the
// ValidatingWebhookConfiguration "detent" right. It needs no leadership: every host serves it, from
// its start to its end.
//
// How a host uses it (with the cluster as its home): make it when the plugins are loaded, and stop
// it before they and the client go.
//
//   WebhookOptions options;
//   options.ns = ...;  // The host's own, POD_NAMESPACE.
//   auto webhook = TRY(Webhook::Start(options, {client, &plugin_host, clock, log}));
//
// Its ready() is no condition of the host's own readiness: without a webhook objects are stored
// unasked, and the host judges them later.
//
// Its threads: those of its server, and one that keeps the certificate. Start, Stop and the
// destructor belong to one thread; the rest to any.

#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "core/api/admission.h"
#include "core/api/live_review.h"
#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/base/result.h"
#include "core/install/webhook_entry.h"
#include "core/kube/client.h"
#include "core/webhook/certificate_keeper.h"

namespace detent {

struct WebhookOptions {
  std::string listen = "0.0.0.0:7443";    // Port 0 takes a free one.
  std::string ns = "detent";              // The host's, with Service and Secret.
  std::string service = kWebhookService;  // And the Secret's name.
  std::optional<CertificateFiles> files;  // Absent: it makes its own certificate.
  std::string default_timezone = "UTC";   // As the host's configuration has it.
  // The certificate is made anew after two thirds of this.
  std::chrono::seconds certificate_life = kCertificateLife;
  // All is looked at again after so long, and whenever the ValidatingWebhookConfiguration changes.
  std::chrono::milliseconds recheck{180'000};
  // From a new authority in the caBundle to a certificate by it: all API servers have seen it then.
  std::chrono::milliseconds settle{30'000};
};

// Borrowed; they must outlive the webhook.
struct WebhookPorts {
  // One that may write whether or not this host leads: without KubeClientOptions::may_write.
  KubeClient& client;
  const SpecValidator* validator;  // Null: kinds and their specs are not checked.
  const Clock& clock;
  Logger& log;
  const LiveValidator* live = nullptr;  // Null: no spec is tried out before it is stored.
};

class Webhook {
 public:
  // Serves when it returns; the certificate that all hosts share follows as soon as the API server
  // answers. kInvalid: a bad address, a file that is no certificate or no key; kNotFound: a file is
  // missing; kUnavailable: the address is taken.
  static Result<std::unique_ptr<Webhook>> Start(WebhookOptions options, const WebhookPorts& ports);
  ~Webhook();  // Stops.
  Webhook(const Webhook&) = delete;
  Webhook& operator=(const Webhook&) = delete;

  // "https://0.0.0.0:7443", with the real port.
  const std::string& url() const;

  // Whether it serves and the API server has been told to trust it. The error says what is missing.
  Result<void> ready() const;

  // Takes no more requests, lets those under way end (two seconds at most), asks the API server
  // nothing any more.
  void Stop();

 private:
  class Core;
  explicit Webhook(std::unique_ptr<Core> core);
  std::unique_ptr<Core> core_;
};

}  // namespace detent
