#include "core/webhook/certificate_keeper.h"

#include <algorithm>
#include <utility>

#include "core/install/webhook_entry.h"
#include "core/kube/local_file.h"
#include "core/kube/resource.h"

namespace detent {
namespace {

using std::chrono::milliseconds;

// Of its own, so that an installation, which is applied as "detent", leaves the caBundle alone.
constexpr const char* kFieldManager = "detent-webhook";
constexpr int kConflictsMost = 5;
constexpr milliseconds kFirstRetry{1'000};
constexpr int kDoublingsMost = 6;

std::string SecretPath(const KeeperOptions& options, bool collection) {
  return PathOf({"", "v1", "secrets", ""}, options.ns, collection ? "" : options.service);
}

std::string ConfigurationPath() {
  return PathOf({"admissionregistration.k8s.io", "v1", "validatingwebhookconfigurations", ""}, "",
                kWebhookConfiguration);
}

// The API server asks for the first.
std::vector<std::string> NamesOfService(const KeeperOptions& options) {
  const std::string name = options.service + "." + options.ns;
  return {name + ".svc", name};
}

Result<std::string> ReadPem(const std::string& path) {
  auto text = ReadLocalFile(path);
  if (!text) return std::move(text).error().While("read the webhook's certificate");
  return text;
}

}  // namespace

CertificateKeeper::CertificateKeeper(KeeperOptions options, KeeperPorts ports)
    : options_(std::move(options)), ports_(std::move(ports)), names_(NamesOfService(options_)) {}

Result<ServingCertificate> CertificateKeeper::First() {
  shown_ = options_.files ? TRY(ReadFiles())
                          : TRY(MakeCertificate(names_, ports_.clock.Now(), options_.life));
  return shown_;
}

CertificateKeeper::Step CertificateKeeper::Round() {
  Step step;
  // Read before the Secret: who changes the one after the other, as we do, is noticed.
  const Result<TrustedBundle> found = LoadBundle();
  StoredCertificate wanted;
  wanted.serving = shown_;
  step.trusted = [&]() -> Result<void> {
    if (options_.files) {
      wanted.serving = TRY(ReadFiles());
      const CertificateTimes times = TRY(TimesOf(wanted.serving.certificate));
      if (times.ends <= ports_.clock.Now()) {
        return Error(Code::kInvalid, "the certificate in " + options_.files->certificate +
                                         " ended at " + FormatTime(times.ends) +
                                         "; replace it, and it is read again");
      }
      if (options_.files->authority.empty()) return {};
      return Trust(found, wanted.serving.authority);
    }
    wanted = TRY(ReadShared());
    return Trust(found, BundleOf(wanted));
  }();
  if (wanted.serving != shown_ && MayShow(wanted.serving)) {
    shown_ = wanted.serving;
    step.show = shown_;
  }
  if (!options_.files && wanted.serving == shown_ && !wanted.resource_version.empty()) {
    shared_ = true;
  }
  failures_ = step.trusted ? 0 : failures_ + 1;
  step.next = WaitAfter(step, wanted.serving);
  return step;
}

// A certificate whose authority is not trusted yet is of no use, unless what is shown has ended.
bool CertificateKeeper::MayShow(const ServingCertificate& wanted) const {
  if (options_.files || !shared_) return true;
  const Result<CertificateTimes> times = TimesOf(shown_.certificate);
  if (!times || times->ends <= ports_.clock.Now()) return true;
  return since_ && trusted_pem_.find(wanted.authority) != trusted_pem_.npos &&
         ports_.clock.Mono() - *since_ >= options_.settle;
}

milliseconds CertificateKeeper::WaitAfter(const Step& step,
                                          const ServingCertificate& wanted) const {
  milliseconds wait = options_.recheck;
  if (!step.trusted) {
    return std::min(wait, kFirstRetry * (1 << std::min(failures_ - 1, kDoublingsMost)));
  }
  if (wanted != shown_) wait = std::min(wait, options_.settle);
  if (const auto times = TimesOf(wanted.certificate); times && !options_.files) {
    const auto left = std::chrono::ceil<milliseconds>(times->renewed() - ports_.clock.Now());
    wait = std::min(wait, std::max(left, milliseconds(0)));
  }
  return wait;
}

Result<KubeReply> CertificateKeeper::Ask(KubeRequest request, const std::string& doing) const {
  KubeReply reply = ports_.fetch(std::move(request));
  if (reply.outcome == KubeOutcome::kOk) return reply;
  return Error(CodeOf(reply), reply.message).While(doing);
}

Result<ServingCertificate> CertificateKeeper::ReadFiles() const {
  ServingCertificate serving;
  serving.certificate = TRY(ReadPem(options_.files->certificate));
  serving.key = TRY(ReadPem(options_.files->key));
  // Not its authority: there may be others between the two. They are replaced one after the other,
  // so that for a moment they may not fit.
  if (auto fits = CheckCertificate(serving, {}); !fits) {
    return std::move(fits).error().While(options_.files->certificate + " with key " +
                                         options_.files->key);
  }
  if (!options_.files->authority.empty()) {
    serving.authority = TRY(ReadPem(options_.files->authority));
  }
  return serving;
}

// nullopt: there is none.
Result<std::optional<StoredCertificate>> CertificateKeeper::LoadSecret() const {
  KubeRequest request;
  request.path = SecretPath(options_, false);
  const auto reply = Ask(std::move(request), "read Secret " + options_.ns + "/" + options_.service);
  if (reply) return std::optional(TRY(ReadCertificateSecret(reply->body)));
  if (reply.error().code() == Code::kNotFound) return std::optional<StoredCertificate>();
  return reply.error();
}

// False: another host was first.
Result<bool> CertificateKeeper::StoreSecret(const StoredCertificate& stored, bool create) const {
  KubeRequest request;
  request.path = SecretPath(options_, create);
  request.method = create ? "POST" : "PATCH";
  request.body = create ? NewCertificateSecret(options_.ns, options_.service, stored)
                        : CertificateSecretPatch(stored);
  if (!create) request.content_type = "application/merge-patch+json";
  const auto reply =
      Ask(std::move(request), "write Secret " + options_.ns + "/" + options_.service);
  if (reply) return true;
  if (reply.error().code() == Code::kConflict) return false;
  return reply.error();
}

// nullopt: the one in hand still serves.
std::optional<std::string> CertificateKeeper::WhyRenew(const StoredCertificate& stored) const {
  const Result<CertificateTimes> times = CheckCertificate(stored.serving, names_);
  if (!times) return times.error().message();
  if (ports_.clock.Now() < times->renewed()) return std::nullopt;
  return "two thirds of its life, which ends at " + FormatTime(times->ends) + ", are over";
}

Result<StoredCertificate> CertificateKeeper::Successor(const StoredCertificate& stored) const {
  StoredCertificate next;
  next.serving = TRY(MakeCertificate(names_, ports_.clock.Now(), options_.life));
  next.resource_version = stored.resource_version;
  // The API server refuses a caBundle with anything in it that is no certificate.
  if (TimesOf(stored.serving.authority)) next.previous_authority = stored.serving.authority;
  return next;
}

// The certificate that all hosts share, made or renewed by us if nobody else has.
Result<StoredCertificate> CertificateKeeper::ReadShared() {
  for (int conflicts = 0; conflicts < kConflictsMost; ++conflicts) {
    std::optional<StoredCertificate> found = TRY(LoadSecret());
    StoredCertificate next;
    std::string why = "there was none";
    if (found) {
      if (!TimesOf(found->previous_authority)) found->previous_authority.clear();
      const std::optional<std::string> renew = WhyRenew(*found);
      if (!renew) return *std::move(found);
      why = *renew;
      next = TRY(Successor(*found));
    } else {
      next.serving = shown_;
      // Whoever deletes the Secret wants another certificate.
      if (shared_ || WhyRenew(next)) next = TRY(Successor(next));
    }
    if (!TRY(StoreSecret(next, !found))) continue;
    ports_.log.Info("the webhook has a new certificate",
                    {{"secret", options_.ns + "/" + options_.service}, {"why", why}});
    // Read once more, for the version it has now.
  }
  return Error(Code::kConflict, "Secret " + options_.ns + "/" + options_.service +
                                    " changes again and again while it is written");
}

Result<TrustedBundle> CertificateKeeper::LoadBundle() const {
  KubeRequest request;
  request.path = ConfigurationPath();
  const auto reply = Ask(std::move(request), "read ValidatingWebhookConfiguration '" +
                                                 std::string(kWebhookConfiguration) + "'");
  if (reply) return ReadTrustedBundle(reply->body);
  if (reply.error().code() != Code::kNotFound) return reply.error();
  return Error(Code::kNotFound, reply.error().message() + "; `detent install` makes it");
}

Result<void> CertificateKeeper::Trust(const Result<TrustedBundle>& found, const std::string& pem) {
  if (!found) return found.error();
  if (found->pem == pem) {
    if (trusted_pem_ != pem || !since_) since_ = ports_.clock.Mono();
    trusted_pem_ = pem;
    return {};
  }
  since_.reset();
  KubeRequest request;
  request.method = "PATCH";
  request.path =
      ConfigurationPath() + "?" + QueryPart("fieldManager", kFieldManager) + "&force=true";
  request.content_type = "application/apply-patch+yaml";  // JSON is YAML.
  request.body = TrustedBundleApply({pem, found->resource_version});
  TRY(Ask(std::move(request), "write the caBundle of ValidatingWebhookConfiguration '" +
                                  std::string(kWebhookConfiguration) + "'"));
  ports_.log.Info(found->pem.empty() ? "the API server was told to trust the webhook"
                                     : "the API server was told whom to trust as the webhook",
                  {{"configuration", kWebhookConfiguration}});
  trusted_pem_ = pem;
  since_ = ports_.clock.Mono();
  return {};
}

}  // namespace detent
