#include "tests/net/test_identity.h"

#include <openssl/ec.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <atomic>

namespace detent::testing {
namespace {

using Key = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;
using Certificate = std::unique_ptr<X509, decltype(&X509_free)>;

template <typename Write>
std::string Pem(Write&& write) {
  BIO* const bio = BIO_new(BIO_s_mem());
  write(bio);
  char* text = nullptr;
  const long size = BIO_get_mem_data(bio, &text);
  const std::string pem(text, static_cast<size_t>(size));
  BIO_free(bio);
  return pem;
}

void Extend(X509* certificate, int nid, const char* value) {
  X509_EXTENSION* const extension = X509V3_EXT_conf_nid(nullptr, nullptr, nid, value);
  X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
}

// A certificate for `key`, valid for an hour; its issuer is `issuer`, or itself.
Certificate Unsigned(const std::string& name, EVP_PKEY* key, X509* issuer) {
  Certificate certificate(X509_new(), &X509_free);
  static std::atomic<long> serial{1};
  X509_set_version(certificate.get(), 2);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), serial++);
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -60);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), 3600);
  X509_set_pubkey(certificate.get(), key);
  X509_NAME* const subject = X509_get_subject_name(certificate.get());
  X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
  X509_set_issuer_name(certificate.get(),
                       issuer == nullptr ? subject : X509_get_subject_name(issuer));
  return certificate;
}

std::string PemOf(X509* certificate) {
  return Pem([&](BIO* bio) { PEM_write_bio_X509(bio, certificate); });
}

}  // namespace

struct Authority::State {
  Key key{EVP_EC_gen("P-256"), &EVP_PKEY_free};
  Certificate certificate{nullptr, &X509_free};

  // Signs a new key; an empty `names` leaves the alternative names out.
  Identity Sign(const std::string& name, const std::string& names) const {
    const Key own(EVP_EC_gen("P-256"), &EVP_PKEY_free);
    const Certificate leaf = Unsigned(name, own.get(), certificate.get());
    if (!names.empty()) Extend(leaf.get(), NID_subject_alt_name, names.c_str());
    X509_sign(leaf.get(), key.get(), EVP_sha256());
    return {PemOf(certificate.get()), PemOf(leaf.get()), Pem([&](BIO* bio) {
              PEM_write_bio_PrivateKey(bio, own.get(), nullptr, nullptr, 0, nullptr, nullptr);
            })};
  }
};

Authority::Authority() : state_(new State) {
  static std::atomic<int> authorities{1};
  const std::string name = "Test authority " + std::to_string(authorities++);
  state_->certificate = Unsigned(name, state_->key.get(), nullptr);
  Extend(state_->certificate.get(), NID_basic_constraints, "critical,CA:TRUE");
  Extend(state_->certificate.get(), NID_key_usage, "critical,keyCertSign");
  X509_sign(state_->certificate.get(), state_->key.get(), EVP_sha256());
}

Authority::~Authority() = default;

Identity Authority::ForServer(const std::string& names) const {
  return state_->Sign("Test server", names);
}

Identity Authority::ForClient(const std::string& name) const {
  return state_->Sign(name, "");
}

Identity MakeIdentity(const std::string& names) {
  return Authority().ForServer(names);
}

}  // namespace detent::testing
