// The certificate that the webhook shows: made here, with an authority of its own that signs it and
// nothing else. The authority's key is forgotten at once, so that nobody who reads what is stored
// can sign anything; a new certificate comes with a new authority.
//
// Pure but for the randomness of keys, which is OpenSSL's. Any thread. certificate.cc is the door
// to OpenSSL for the webhook. The values hold a private key: do not print or log them.
//
// Source: RFC 5280; what Go, in which API servers are written, asks of a certificate.

#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/base/result.h"

namespace detent {

inline constexpr std::chrono::seconds kCertificateLife = std::chrono::hours(365 * 24);

struct ServingCertificate {
  std::string authority;    // PEM: what clients trust.
  std::string certificate;  // PEM, signed by the authority.
  std::string key;          // PEM.

  bool operator==(const ServingCertificate&) const = default;
};

// For a server of these DNS names, valid for `life` from `now` on (and a little before it, for
// clocks that are behind). Requires: names; life of a few seconds at least.
// kInternal: OpenSSL failed, and its reason.
Result<ServingCertificate> MakeCertificate(const std::vector<std::string>& names, WallTime now,
                                           std::chrono::seconds life = kCertificateLife);

struct CertificateTimes {
  WallTime begins{};
  WallTime ends{};

  // After two thirds of its life.
  WallTime renewed() const { return begins + (ends - begins) * 2 / 3; }
};

// Of the first certificate of a PEM text. kInvalid: there is none.
Result<CertificateTimes> TimesOf(const std::string& certificate);

// Whether a server of these names can use it: its parts belong together. An empty authority is not
// looked at. kInvalid says what is wrong. The times are the caller's to look at.
Result<CertificateTimes> CheckCertificate(const ServingCertificate& serving,
                                          const std::vector<std::string>& names);

}  // namespace detent
