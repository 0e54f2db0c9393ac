// Keeps three things in step: the certificate that this host shows, the Secret that all hosts
// share, and the caBundle by which the API server believes them.
//
// A new certificate goes into the Secret and its authority into the caBundle first, beside the old
// one; a host shows it only when the API server has had time to see that. Each host does so for
// itself, and whoever writes a Secret or a caBundle that another has changed meanwhile reads again.
//
// Never waits but in `fetch`; one thread. The ports are borrowed.

#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/base/result.h"
#include "core/kube/client.h"
#include "core/webhook/certificate_records.h"

namespace detent {

// PEM files that somebody else keeps. They are read again, and may be replaced at any time.
struct CertificateFiles {
  std::string certificate;
  std::string key;
  std::string authority;  // Goes into the caBundle. Empty: others keep that, too.
};

struct KeeperOptions {
  std::string ns;       // The host's, where the Secret and the Service are.
  std::string service;  // Both's name.
  std::optional<CertificateFiles> files;
  std::chrono::seconds life = kCertificateLife;
  std::chrono::milliseconds recheck{180'000};
  std::chrono::milliseconds settle{30'000};  // From a caBundle in place to a certificate of it.
};

struct KeeperPorts {
  std::function<KubeReply(KubeRequest)> fetch;
  const Clock& clock;
  Logger& log;
};

class CertificateKeeper {
 public:
  CertificateKeeper(KeeperOptions options, KeeperPorts ports);

  // What to show at first: what the files hold, or a new one, which becomes the shared one unless
  // there is one. Once, before Step. kInvalid, kNotFound: a file, by its name.
  Result<ServingCertificate> First();

  struct Step {
    std::optional<ServingCertificate> show;  // From now on, instead of the last.
    Result<void> trusted;  // Whether the API server believes what is shown; else why not.
    std::chrono::milliseconds next{0};  // Call again after so long at the latest.
  };
  // One round: reads all, and corrects what is not as it should be.
  Step Round();

 private:
  Result<KubeReply> Ask(KubeRequest request, const std::string& doing) const;
  Result<ServingCertificate> ReadFiles() const;
  Result<StoredCertificate> ReadShared();
  Result<std::optional<StoredCertificate>> LoadSecret() const;
  Result<bool> StoreSecret(const StoredCertificate& stored, bool create) const;
  std::optional<std::string> WhyRenew(const StoredCertificate& stored) const;
  Result<StoredCertificate> Successor(const StoredCertificate& stored) const;
  Result<TrustedBundle> LoadBundle() const;
  Result<void> Trust(const Result<TrustedBundle>& found, const std::string& pem);
  bool MayShow(const ServingCertificate& wanted) const;
  std::chrono::milliseconds WaitAfter(const Step& step, const ServingCertificate& wanted) const;

  const KeeperOptions options_;
  const KeeperPorts ports_;
  const std::vector<std::string> names_;
  ServingCertificate shown_;
  bool shared_ = false;            // `shown_` is, or was, that of the Secret.
  std::string trusted_pem_;        // The caBundle that is in place...
  std::optional<MonoTime> since_;  // ...and since when we know.
  int failures_ = 0;               // In a row.
};

}  // namespace detent
