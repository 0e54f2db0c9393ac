#include "tests/net/tls_server.h"

#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <mutex>

namespace detent::testing {
namespace {

using TlsContext = std::shared_ptr<SSL_CTX>;

X509* ReadCertificate(const std::string& pem) {
  BIO* const bio = BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size()));
  X509* const certificate = PEM_read_bio_X509(bio, nullptr, nullptr, nullptr);
  BIO_free(bio);
  return certificate;
}

TlsContext MakeContext(const Identity& identity, const TlsServerOptions& options) {
  const TlsContext context(SSL_CTX_new(TLS_server_method()), &SSL_CTX_free);
  BIO* const key = BIO_new_mem_buf(identity.key_pem.data(), -1);
  X509* const x509 = ReadCertificate(identity.certificate_pem);
  EVP_PKEY* const pkey = PEM_read_bio_PrivateKey(key, nullptr, nullptr, nullptr);
  SSL_CTX_use_certificate(context.get(), x509);
  SSL_CTX_use_PrivateKey(context.get(), pkey);
  X509_free(x509);
  EVP_PKEY_free(pkey);
  BIO_free(key);
  if (!options.client_ca_pem.empty()) {
    X509* const authority = ReadCertificate(options.client_ca_pem);
    X509_STORE_add_cert(SSL_CTX_get_cert_store(context.get()), authority);
    SSL_CTX_add_client_CA(context.get(), authority);
    X509_free(authority);
    SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
    SSL_CTX_set_session_id_context(context.get(), reinterpret_cast<const unsigned char*>("t"), 1);
  }
  return context;
}

std::string CommonName(SSL* connection) {
  X509* const certificate = SSL_get1_peer_certificate(connection);
  if (certificate == nullptr) return "";
  char name[256] = {};
  X509_NAME_get_text_by_NID(X509_get_subject_name(certificate), NID_commonName, name, sizeof name);
  X509_free(certificate);
  return name;
}

}  // namespace

struct TlsServer::Context {
  TlsServerOptions options;
  ServedHandler handler;
  std::mutex mutex;
  TlsContext tls;  // Guarded by mutex.
  std::atomic<int> requests{0};
  std::atomic<int> connections{0};

  static int ChooseProtocol(SSL*, const unsigned char** out, unsigned char* out_size,
                            const unsigned char* offered, unsigned size, void* self) {
    const bool http2 = static_cast<Context*>(self)->options.http2;
    const std::string mine = http2 ? std::string("\x02h2\x08http/1.1") : "\x08http/1.1";
    unsigned char* chosen = nullptr;
    const int found = SSL_select_next_proto(&chosen, out_size,
                                            reinterpret_cast<const unsigned char*>(mine.data()),
                                            static_cast<unsigned>(mine.size()), offered, size);
    if (found != OPENSSL_NPN_NEGOTIATED) return SSL_TLSEXT_ERR_NOACK;
    // What was chosen lies in `mine`, which ends here; the client's list has the same word.
    const std::string word(reinterpret_cast<const char*>(chosen), *out_size);
    const std::string list(reinterpret_cast<const char*>(offered), size);
    *out = offered + list.find(word);
    return SSL_TLSEXT_ERR_OK;
  }

  void Use(const Identity& identity) {
    TlsContext fresh = MakeContext(identity, options);
    SSL_CTX_set_alpn_select_cb(fresh.get(), &Context::ChooseProtocol, this);
    std::lock_guard lock(mutex);
    tls = std::move(fresh);
  }

  TlsContext Current() {
    std::lock_guard lock(mutex);
    return tls;
  }

  void Serve(int fd) {
    const TlsContext context = Current();
    SSL* const ssl = SSL_new(context.get());
    SSL_set_fd(ssl, fd);
    if (SSL_accept(ssl) == 1) Converse(ssl, fd);
    SSL_free(ssl);
  }

  ServedRequest Describe(SSL* ssl) {
    ServedRequest common;
    common.connection = ++connections;
    common.client = CommonName(ssl);
    const STACK_OF(X509)* const others = SSL_get_peer_cert_chain(ssl);
    common.certificates = !common.client.empty() + (others == nullptr ? 0 : sk_X509_num(others));
    const char* name = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name);
    if (name != nullptr) common.server_name = name;
    const unsigned char* protocol = nullptr;
    unsigned size = 0;
    SSL_get0_alpn_selected(ssl, &protocol, &size);
    common.http2 = size == 2;
    return common;
  }

  void Converse(SSL* ssl, int fd) {
    // Shared, since an exchange that a test still holds on to wakes it.
    const std::shared_ptr<int> wake(new int(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)), [](int* at) {
      close(*at);
      delete at;
    });
    const auto connection = std::make_shared<ServedConnection>(
        Describe(ssl),
        [this](const ServedRequest& request, std::shared_ptr<Served> exchange) {
          ++requests;
          handler(request, std::move(exchange));
        },
        [wake] {
          const uint64_t one = 1;
          [[maybe_unused]] const ssize_t written = write(*wake, &one, sizeof one);
        });
    char bytes[16384];
    for (;;) {
      bool close = false;
      const std::string out = connection->Take(close);
      if (!out.empty() && SSL_write(ssl, out.data(), static_cast<int>(out.size())) <= 0) return;
      if (close) return;
      pollfd waits[] = {{fd, POLLIN, 0}, {*wake, POLLIN, 0}};
      if (SSL_pending(ssl) == 0 && poll(waits, 2, -1) < 0) return;
      uint64_t ignored = 0;
      [[maybe_unused]] const ssize_t woken = read(*wake, &ignored, sizeof ignored);
      if (SSL_pending(ssl) == 0 && waits[0].revents == 0) continue;
      const int got = SSL_read(ssl, bytes, sizeof bytes);
      if (got <= 0 || !connection->Feed({bytes, static_cast<size_t>(got)})) return;
    }
  }
};

TlsServer::TlsServer(const Identity& identity, bool http2)
    : TlsServer(identity, {http2, "", 0},
                [](const ServedRequest&, std::shared_ptr<Served> exchange) {
                  exchange->Answer(200, "secret");
                }) {}

TlsServer::TlsServer(const Identity& identity, TlsServerOptions options, ServedHandler handler)
    : context_(new Context) {
  context_->options = std::move(options);
  context_->handler = std::move(handler);
  context_->Use(identity);
  listener_ = std::make_unique<ThreadedListener>([this](int fd) { context_->Serve(fd); },
                                                 context_->options.port);
}

TlsServer::~TlsServer() = default;

void TlsServer::SetIdentity(const Identity& identity) {
  context_->Use(identity);
}

std::string TlsServer::Url(const std::string& host) const {
  return "https://" + host + ":" + std::to_string(port()) + "/";
}

int TlsServer::requests() const {
  return context_->requests;
}

int TlsServer::connections() const {
  return context_->connections;
}

}  // namespace detent::testing
