#include "core/webhook/certificate.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <memory>

namespace detent {
namespace {

using std::chrono::seconds;

template <auto Free>
struct Freed {
  template <typename T>
  void operator()(T* value) const {
    Free(value);
  }
};
using Bio = std::unique_ptr<BIO, Freed<BIO_free>>;
using Key = std::unique_ptr<EVP_PKEY, Freed<EVP_PKEY_free>>;
using Certificate = std::unique_ptr<X509, Freed<X509_free>>;
using Extension = std::unique_ptr<X509_EXTENSION, Freed<X509_EXTENSION_free>>;

constexpr const char* kAuthorityName = "detent-webhook authority";
constexpr const char* kServerName = "detent-webhook";
constexpr seconds kBackdate = std::chrono::minutes(5);

// Why the last call failed; empties the queue of this thread, which others look into, too.
Error OpenSslError(Code code, const std::string& what) {
  const unsigned long number = ERR_peek_last_error();
  ERR_clear_error();
  char reason[256] = "no reason given";
  if (number != 0) ERR_error_string_n(number, reason, sizeof(reason));
  return Error(code, what + ": " + reason);
}

template <typename Write>
std::string PemText(Write&& write) {
  const Bio bio(BIO_new(BIO_s_mem()));
  if (bio == nullptr || write(bio.get()) != 1) return "";
  char* text = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &text);
  return std::string(text, static_cast<size_t>(size));
}

Bio Reading(const std::string& text) {
  return Bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

// The caller has no password for what is encrypted, and there is no terminal to ask for it.
int NoPassword(char*, int, int, void*) {
  return 0;
}

Result<Certificate> ReadCertificate(const std::string& pem, const std::string& what) {
  Certificate certificate(PEM_read_bio_X509(Reading(pem).get(), nullptr, &NoPassword, nullptr));
  if (certificate == nullptr) return OpenSslError(Code::kInvalid, what + " is no PEM certificate");
  return certificate;
}

bool Extend(X509* certificate, X509* issuer, int nid, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  const Extension extension(X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str()));
  return extension != nullptr && X509_add_ext(certificate, extension.get(), -1) == 1;
}

bool SetSerial(X509* certificate) {
  uint64_t serial = 0;
  unsigned char bytes[sizeof(serial)];
  if (RAND_bytes(bytes, sizeof(bytes)) != 1) return false;
  std::memcpy(&serial, bytes, sizeof(serial));
  return ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), serial >> 1 | 1) == 1;
}

struct Draft {
  const char* name;
  WallTime begins, ends;
};

// All but its extensions and signature. `issuer` is null for what signs itself.
Certificate Begin(const Draft& draft, EVP_PKEY* key, X509* issuer) {
  Certificate certificate(X509_new());
  X509* const raw = certificate.get();
  if (raw == nullptr) return nullptr;
  X509_NAME* const subject = X509_get_subject_name(raw);
  const auto* name = reinterpret_cast<const unsigned char*>(draft.name);
  const bool made =
      X509_set_version(raw, X509_VERSION_3) == 1 && SetSerial(raw) &&
      ASN1_TIME_set(X509_getm_notBefore(raw), UnixSeconds(draft.begins)) != nullptr &&
      ASN1_TIME_set(X509_getm_notAfter(raw), UnixSeconds(draft.ends)) != nullptr &&
      X509_set_pubkey(raw, key) == 1 &&
      X509_NAME_add_entry_by_NID(subject, NID_commonName, MBSTRING_ASC, name, -1, -1, 0) == 1 &&
      X509_set_issuer_name(raw, issuer == nullptr ? subject : X509_get_subject_name(issuer)) == 1;
  return made ? std::move(certificate) : nullptr;
}

bool Sign(X509* certificate, EVP_PKEY* key) {
  return X509_sign(certificate, key, EVP_sha256()) > 0;
}

Certificate MakeAuthority(const Draft& draft, EVP_PKEY* key) {
  Certificate authority = Begin(draft, key, nullptr);
  X509* const raw = authority.get();
  const bool made = raw != nullptr &&
                    Extend(raw, raw, NID_basic_constraints, "critical,CA:TRUE,pathlen:0") &&
                    Extend(raw, raw, NID_key_usage, "critical,keyCertSign") &&
                    Extend(raw, raw, NID_subject_key_identifier, "hash") && Sign(raw, key);
  return made ? std::move(authority) : nullptr;
}

struct Signer {
  X509* certificate;
  EVP_PKEY* key;
};

Certificate MakeServer(const Draft& draft, EVP_PKEY* key, const std::string& names,
                       const Signer& signer) {
  Certificate server = Begin(draft, key, signer.certificate);
  X509* const raw = server.get();
  X509* const issuer = signer.certificate;
  const bool made =
      raw != nullptr && Extend(raw, issuer, NID_basic_constraints, "critical,CA:FALSE") &&
      Extend(raw, issuer, NID_key_usage, "critical,digitalSignature") &&
      Extend(raw, issuer, NID_ext_key_usage, "serverAuth") &&
      Extend(raw, issuer, NID_subject_alt_name, names) &&
      // Two authorities of one name are told apart by it.
      Extend(raw, issuer, NID_authority_key_identifier, "keyid") && Sign(raw, signer.key);
  return made ? std::move(server) : nullptr;
}

std::string PemOf(X509* certificate) {
  return PemText([&](BIO* bio) { return PEM_write_bio_X509(bio, certificate); });
}

std::string PemOf(EVP_PKEY* key) {
  return PemText([&](BIO* bio) {
    return PEM_write_bio_PrivateKey(bio, key, nullptr, nullptr, 0, nullptr, nullptr);
  });
}

Result<WallTime> TimeOf(const ASN1_TIME* time) {
  std::tm parts{};
  if (ASN1_TIME_to_tm(time, &parts) != 1) {
    return OpenSslError(Code::kInvalid, "the certificate's times cannot be read");
  }
  return FromUnixSeconds(timegm(&parts));
}

Result<CertificateTimes> TimesIn(const X509* certificate) {
  CertificateTimes times;
  times.begins = TRY(TimeOf(X509_get0_notBefore(certificate)));
  times.ends = TRY(TimeOf(X509_get0_notAfter(certificate)));
  return times;
}

}  // namespace

Result<ServingCertificate> MakeCertificate(const std::vector<std::string>& names, WallTime now,
                                           seconds life) {
  std::string alternatives;
  for (const std::string& name : names) {
    alternatives += (alternatives.empty() ? "DNS:" : ",DNS:") + name;
  }
  Draft draft{kAuthorityName, now - std::min(kBackdate, life / 10), now + life};
  const Key authority_key(EVP_EC_gen("P-256"));
  const Key key(EVP_EC_gen("P-256"));
  if (authority_key == nullptr || key == nullptr) {
    return OpenSslError(Code::kInternal, "make the key of a certificate");
  }
  const Certificate authority = MakeAuthority(draft, authority_key.get());
  if (authority == nullptr) return OpenSslError(Code::kInternal, "make an authority");
  draft.name = kServerName;
  const Certificate server =
      MakeServer(draft, key.get(), alternatives, {authority.get(), authority_key.get()});
  if (server == nullptr) return OpenSslError(Code::kInternal, "make a certificate");
  ServingCertificate serving{PemOf(authority.get()), PemOf(server.get()), PemOf(key.get())};
  if (serving.authority.empty() || serving.certificate.empty() || serving.key.empty()) {
    return OpenSslError(Code::kInternal, "write a certificate as text");
  }
  return serving;
}

Result<CertificateTimes> TimesOf(const std::string& certificate) {
  const Certificate read = TRY(ReadCertificate(certificate, "the text"));
  return TimesIn(read.get());
}

Result<CertificateTimes> CheckCertificate(const ServingCertificate& serving,
                                          const std::vector<std::string>& names) {
  const Certificate certificate = TRY(ReadCertificate(serving.certificate, "the certificate"));
  const Key key(PEM_read_bio_PrivateKey(Reading(serving.key).get(), nullptr, &NoPassword, nullptr));
  if (key == nullptr) return OpenSslError(Code::kInvalid, "the key is no PEM private key");
  if (X509_check_private_key(certificate.get(), key.get()) != 1) {
    return OpenSslError(Code::kInvalid, "the key is not the certificate's");
  }
  if (!serving.authority.empty()) {
    const Certificate authority = TRY(ReadCertificate(serving.authority, "the authority"));
    if (X509_verify(certificate.get(), X509_get0_pubkey(authority.get())) != 1) {
      return OpenSslError(Code::kInvalid, "the certificate is not signed by the authority");
    }
  }
  for (const std::string& name : names) {
    if (X509_check_host(certificate.get(), name.data(), name.size(), 0, nullptr) == 1) continue;
    return Error(Code::kInvalid, "the certificate is not for " + name);
  }
  return TimesIn(certificate.get());
}

}  // namespace detent
