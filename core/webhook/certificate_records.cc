#include "core/webhook/certificate_records.h"

#include <optional>
#include <utility>

#include "core/api/labels.h"
#include "core/base/json.h"
#include "core/install/webhook_entry.h"
#include "core/kube/base64.h"

namespace detent {
namespace {

// The first three are what others call them, too.
constexpr const char* kCertificateMember = "tls.crt";
constexpr const char* kKeyMember = "tls.key";
constexpr const char* kAuthorityMember = "ca.crt";
constexpr const char* kPreviousMember = "previous-ca.crt";

constexpr const char* kConfigurationVersion = "admissionregistration.k8s.io/v1";
constexpr const char* kConfigurationKind = "ValidatingWebhookConfiguration";

std::string TextIn(const Json& json, std::string_view pointer) {
  const Json* found = json.At(pointer);
  return found != nullptr && found->is_string() ? found->as_string() : "";
}

// Empty where it is absent, or is no base64.
std::string BytesIn(const Json& json, std::string_view pointer) {
  return DecodeBase64(TextIn(json, pointer)).value_or("");
}

Result<Json> ParseKind(const std::string& body, const char* kind) {
  Json document = TRY(ParseJson(body));
  if (TextIn(document, "/kind") == kind) return document;
  return Error(Code::kInvalid, std::string("the API server's answer is no ") + kind);
}

Json DataOf(const StoredCertificate& stored) {
  const ServingCertificate& serving = stored.serving;
  return Json::Object{{kCertificateMember, EncodeBase64(serving.certificate)},
                      {kKeyMember, EncodeBase64(serving.key)},
                      {kAuthorityMember, EncodeBase64(serving.authority)},
                      {kPreviousMember, EncodeBase64(stored.previous_authority)}};
}

}  // namespace

Result<StoredCertificate> ReadCertificateSecret(const std::string& body) {
  const Json secret = TRY(ParseKind(body, "Secret"));
  const auto data = [&](const char* name) { return BytesIn(secret, "/data" + PointerToken(name)); };
  StoredCertificate stored;
  stored.serving = {data(kAuthorityMember), data(kCertificateMember), data(kKeyMember)};
  stored.previous_authority = data(kPreviousMember);
  stored.resource_version = TextIn(secret, "/metadata/resourceVersion");
  return stored;
}

std::string NewCertificateSecret(const std::string& ns, const std::string& name,
                                 const StoredCertificate& stored) {
  const Json metadata(Json::Object{
      {"name", name}, {"namespace", ns}, {"labels", Json::Object{{labels::kAppName, "detent"}}}});
  return DumpJson(Json::Object{{"apiVersion", "v1"},
                               {"kind", "Secret"},
                               {"metadata", metadata},
                               {"type", "kubernetes.io/tls"},
                               {"data", DataOf(stored)}});
}

std::string CertificateSecretPatch(const StoredCertificate& stored) {
  const Json metadata(Json::Object{{"resourceVersion", stored.resource_version}});
  return DumpJson(Json::Object{{"metadata", metadata}, {"data", DataOf(stored)}});
}

std::string BundleOf(const StoredCertificate& stored) {
  return stored.serving.authority + stored.previous_authority;
}

Result<TrustedBundle> ReadTrustedBundle(const std::string& body) {
  const Json configuration = TRY(ParseKind(body, kConfigurationKind));
  const Json* entries = configuration.Find("webhooks");
  if (entries != nullptr && entries->is_array()) {
    for (const Json& entry : entries->as_array()) {
      if (TextIn(entry, "/name") != kWebhookEntry) continue;
      return TrustedBundle{BytesIn(entry, "/clientConfig/caBundle"),
                           TextIn(configuration, "/metadata/resourceVersion")};
    }
  }
  return Error(Code::kInvalid, std::string(kConfigurationKind) + " '" + kWebhookConfiguration +
                                   "' has no webhook '" + kWebhookEntry +
                                   "'; `detent install` of this version adds it");
}

std::string TrustedBundleApply(const TrustedBundle& bundle) {
  const Json metadata(
      Json::Object{{"name", kWebhookConfiguration}, {"resourceVersion", bundle.resource_version}});
  const Json client(Json::Object{{"caBundle", EncodeBase64(bundle.pem)}});
  const Json entry(Json::Object{{"name", kWebhookEntry}, {"clientConfig", client}});
  return DumpJson(Json::Object{{"apiVersion", kConfigurationVersion},
                               {"kind", kConfigurationKind},
                               {"metadata", metadata},
                               {"webhooks", Json::Array{entry}}});
}

}  // namespace detent
