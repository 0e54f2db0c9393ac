#include "core/webhook/webhook.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

#include "core/api/codec.h"
#include "core/base/json.h"
#include "core/base/limits.h"
#include "core/http/router.h"
#include "core/http/server.h"
#include "core/http/status_error.h"
#include "core/install/access_question.h"
#include "core/install/objects.h"
#include "core/kube/resource.h"
#include "core/kube/watch.h"
#include "core/webhook/admission_review.h"
#include "core/webhook/kube_caller.h"

namespace detent {
namespace {

using std::chrono::milliseconds;

// The API server waits three seconds for a verdict (core/install/webhook_entry.cc). Meanwhile the
// JobConfig that a Job names is read, and then the spec is tried out.
constexpr milliseconds kLookPatience{1'500};
constexpr milliseconds kLivePatience{1'300};
constexpr milliseconds kKeepPatience{60'000};
// Between two rounds, however often the configuration changes.
constexpr milliseconds kBreath{1'000};
// An update brings the object twice.
constexpr size_t kReviewBytes = 2 * limits::kRequestBytes;

TlsPem PemFor(const ServingCertificate& serving) {
  return {serving.certificate, serving.key};
}

}  // namespace

class Webhook::Core final : public WatchSink {
 public:
  Core(WebhookOptions options, const WebhookPorts& ports)
      : options_(std::move(options)),
        ports_(ports),
        host_user_(ServiceAccountSubject(options_.ns, kServiceAccount).user),
        caller_(ports.client),
        keeper_(OptionsOfKeeper(options_), {[this](KubeRequest request) {
                                              return caller_.Ask(std::move(request), kKeepPatience);
                                            },
                                            ports.clock, ports.log}),
        watch_(ports.client, Scope(), WatchOptions{}, *this) {
    router_.Add("POST", kWebhookPath,
                [this](const Request& request, const Router::Captures&) { return Judge(request); });
  }

  Result<void> Start() {
    ServerOptions server;
    ListenAddress listener{options_.listen, std::nullopt};
    listener.pem = PemFor(TRY(keeper_.First()));
    // The API server shows no credentials, and hears about what it has sent itself.
    listener.open = true;
    server.listeners = {std::move(listener)};
    server.request_bytes_max = kReviewBytes;
    server_ = TRY(Server::Start(
        std::move(server), [this](const Request& request) { return router_.Dispatch(request); },
        ports_.clock, &ports_.log));
    ports_.log.Info("the webhook serves", {{"url", url()}});
    watch_.Start();
    thread_ = std::thread([this] { Keep(); });
    return {};
  }

  void Stop() {
    {
      const std::lock_guard lock(mutex_);
      if (stopping_) return;
      stopping_ = true;
    }
    changed_.notify_all();
    caller_.Close();
    if (thread_.joinable()) thread_.join();
    watch_.Stop();
    if (server_ != nullptr) server_->Stop();
  }

  const std::string& url() const { return server_->urls().front(); }

  Result<void> ready() const {
    const std::lock_guard lock(mutex_);
    if (stopping_) return Error(Code::kUnavailable, "the webhook has stopped");
    return trusted_;
  }

  void OnUpsert(const WatchedObjectPtr&) override { LookAgain(); }
  void OnDelete(const WatchedObjectPtr&) override { LookAgain(); }
  void OnSynced() override {}
  void OnFailed(const KubeReply& reply) override {
    ports_.log.Warning("changes of the webhook's configuration are seen late",
                       {{"configuration", kWebhookConfiguration}, {"error", reply.message}});
  }

 private:
  static KeeperOptions OptionsOfKeeper(const WebhookOptions& options) {
    KeeperOptions keeper;
    keeper.ns = options.ns;
    keeper.service = options.service;
    keeper.files = options.files;
    keeper.life = options.certificate_life;
    keeper.recheck = options.recheck;
    keeper.settle = options.settle;
    return keeper;
  }

  static WatchScope Scope() {
    WatchScope scope;
    scope.resource = {"admissionregistration.k8s.io", "v1", "validatingwebhookconfigurations", ""};
    scope.field_selector = std::string("metadata.name=") + kWebhookConfiguration;
    return scope;
  }

  Response Judge(const Request& request) {
    ReviewContext context;
    context.admission = {ports_.validator, ports_.clock.Now(), options_.default_timezone};
    context.host_user = host_user_;
    context.live = ports_.live;
    context.live_patience = kLivePatience;
    context.find_job_config = [this](const std::string& ns, const std::string& name) {
      return FindConfig(ns, name);
    };
    Result<std::string> answer = AnswerReview(request.body, context);
    if (answer) return JsonResponse(*std::move(answer));
    ports_.log.Warning("a review cannot be answered", {{"error", answer.error().message()}});
    return BadRequest(answer.error().message());
  }

  Result<Object> FindConfig(const std::string& ns, const std::string& name) {
    KubeRequest request;
    request.path = PathOf({kApiGroup, kApiVersion, PluralOf(Kind::kJobConfig), ""}, ns, name);
    request.timeout = kLookPatience;
    const KubeReply reply = caller_.Ask(std::move(request), kLookPatience);
    if (reply.outcome == KubeOutcome::kNotFound) return Error(Code::kNotFound, reply.message);
    if (reply.outcome != KubeOutcome::kOk) return Error(Code::kUnavailable, reply.message);
    const Json document = TRY(ParseJson(reply.body));
    return ObjectFromCluster(Kind::kJobConfig, document);
  }

  void LookAgain() {
    const std::lock_guard lock(mutex_);
    look_again_ = true;
    changed_.notify_all();
  }

  // The keeper's thread.
  void Keep() {
    std::unique_lock lock(mutex_);
    while (!stopping_) {
      look_again_ = false;
      lock.unlock();
      const milliseconds next = KeepOnce();
      lock.lock();
      const auto stops = [this] { return stopping_; };
      changed_.wait_for(lock, std::min(next, kBreath), stops);
      if (next <= kBreath) continue;
      changed_.wait_for(lock, next - kBreath, [this] { return stopping_ || look_again_; });
    }
  }

  milliseconds KeepOnce() {
    CertificateKeeper::Step step = keeper_.Round();
    if (step.show) {
      const Result<void> shown = server_->Renew(0, PemFor(*step.show));
      if (shown) ports_.log.Info("the webhook shows another certificate", {});
      if (!shown && step.trusted) step.trusted = shown;
    }
    const std::lock_guard lock(mutex_);
    const bool told = !step.trusted && !trusted_ && step.trusted.error() == trusted_.error();
    if (!step.trusted && !told && !stopping_) {
      ports_.log.Warning("the webhook is not in place",
                         {{"error", step.trusted.error().message()}});
    }
    trusted_ = std::move(step.trusted);
    return step.next;
  }

  const WebhookOptions options_;
  const WebhookPorts ports_;
  const std::string host_user_;
  KubeCaller caller_;
  CertificateKeeper keeper_;
  Router router_;
  std::unique_ptr<Server> server_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;    // Guarded by mutex_, as are the next two.
  bool look_again_ = false;  // The configuration has changed.
  Result<void> trusted_ = Error(Code::kUnavailable, "the API server has not answered yet");
  std::thread thread_;
  KubeWatch watch_;  // Last, since it calls back.
};

Webhook::Webhook(std::unique_ptr<Core> core) : core_(std::move(core)) {}

Webhook::~Webhook() {
  core_->Stop();
}

Result<std::unique_ptr<Webhook>> Webhook::Start(WebhookOptions options, const WebhookPorts& ports) {
  auto core = std::make_unique<Core>(std::move(options), ports);
  auto started = core->Start();
  if (!started) return std::move(started).error().While("start the webhook");
  return std::unique_ptr<Webhook>(new Webhook(std::move(core)));
}

const std::string& Webhook::url() const {
  return core_->url();
}

Result<void> Webhook::ready() const {
  return core_->ready();
}

void Webhook::Stop() {
  core_->Stop();
}

}  // namespace detent
