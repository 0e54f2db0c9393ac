// Where the webhook's certificate is kept in a cluster: the Secret that all hosts share, and the
// caBundle by which the API server trusts it. Their texts; pure, any thread.
//
// The bundle has the authority of now and the one before, so that hosts may change to a new
// certificate one after the other, and the API server believes each of them meanwhile.
//
// Source: Kubernetes API reference, v1 Secret and admissionregistration.k8s.io/v1
// ValidatingWebhookConfiguration; "Server-Side Apply".

#pragma once

#include <string>

#include "core/base/result.h"
#include "core/webhook/certificate.h"

namespace detent {

struct StoredCertificate {
  ServingCertificate serving;
  std::string previous_authority;  // PEM; empty: there was none.
  std::string resource_version;    // Of the Secret; empty: it is not stored yet.
};

// What stands in the Secret, whether or not it can be used. kInvalid: the body is no Secret.
Result<StoredCertificate> ReadCertificateSecret(const std::string& body);
// The Secret as a whole.
std::string NewCertificateSecret(const std::string& ns, const std::string& name,
                                 const StoredCertificate& stored);
// A JSON merge patch for it, which is refused where it has changed since it was read.
std::string CertificateSecretPatch(const StoredCertificate& stored);

// What the API server is to trust, as PEM.
std::string BundleOf(const StoredCertificate& stored);

struct TrustedBundle {
  std::string pem;               // As the API server has it now; empty: none.
  std::string resource_version;  // Of the ValidatingWebhookConfiguration.
};

// Of our entry in the ValidatingWebhookConfiguration. kInvalid: the body is none, or the entry is
// missing, and what to do about it.
Result<TrustedBundle> ReadTrustedBundle(const std::string& body);
// What is applied (server-side) to it, and owns the caBundle alone.
std::string TrustedBundleApply(const TrustedBundle& bundle);

}  // namespace detent
