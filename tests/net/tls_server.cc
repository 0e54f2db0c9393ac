#include "tests/net/tls_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <openssl/ec.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cstring>

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
Certificate Unsigned(const char* name, EVP_PKEY* key, X509* issuer) {
  Certificate certificate(X509_new(), &X509_free);
  static std::atomic<long> serial{1};
  X509_set_version(certificate.get(), 2);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), serial++);
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -60);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), 3600);
  X509_set_pubkey(certificate.get(), key);
  X509_NAME* const subject = X509_get_subject_name(certificate.get());
  X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>(name), -1, -1, 0);
  X509_set_issuer_name(certificate.get(),
                       issuer == nullptr ? subject : X509_get_subject_name(issuer));
  return certificate;
}

std::string HeadFrom(const std::function<int(char*, int)>& read) {
  std::string head;
  char byte = 0;
  while (head.size() < 16384 && head.find("\r\n\r\n") == std::string::npos) {
    if (read(&byte, 1) != 1) return {};
    head += byte;
  }
  return head;
}

std::string Frame(uint8_t type, uint8_t flags, uint32_t stream, const std::string& payload) {
  std::string frame;
  for (const int shift : {16, 8, 0}) frame += static_cast<char>(payload.size() >> shift & 0xff);
  frame += static_cast<char>(type);
  frame += static_cast<char>(flags);
  for (const int shift : {24, 16, 8, 0}) frame += static_cast<char>(stream >> shift & 0xff);
  return frame + payload;
}

}  // namespace

Identity MakeIdentity(const std::string& names) {
  const Key ca_key(EVP_EC_gen("P-256"), &EVP_PKEY_free);
  static std::atomic<int> authorities{1};
  const std::string authority = "Test authority " + std::to_string(authorities++);
  const Certificate ca = Unsigned(authority.c_str(), ca_key.get(), nullptr);
  Extend(ca.get(), NID_basic_constraints, "critical,CA:TRUE");
  Extend(ca.get(), NID_key_usage, "critical,keyCertSign");
  X509_sign(ca.get(), ca_key.get(), EVP_sha256());
  const Key key(EVP_EC_gen("P-256"), &EVP_PKEY_free);
  const Certificate leaf = Unsigned("Test server", key.get(), ca.get());
  Extend(leaf.get(), NID_subject_alt_name, names.c_str());
  X509_sign(leaf.get(), ca_key.get(), EVP_sha256());
  return {Pem([&](BIO* bio) { PEM_write_bio_X509(bio, ca.get()); }),
          Pem([&](BIO* bio) { PEM_write_bio_X509(bio, leaf.get()); }), Pem([&](BIO* bio) {
            PEM_write_bio_PrivateKey(bio, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
          })};
}

ThreadedListener::ThreadedListener(std::function<void(int)> serve) : serve_(std::move(serve)) {
  listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  bind(listener_, reinterpret_cast<sockaddr*>(&address), size);
  listen(listener_, 16);
  getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
  port_ = ntohs(address.sin_port);
  thread_ = std::thread([this] { Accept(); });
}

void ThreadedListener::Accept() {
  for (;;) {
    const int fd = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (fd < 0) return;
    std::lock_guard lock(mutex_);
    open_.push_back(fd);
    workers_.emplace_back([this, fd] {
      sigset_t broken_pipe;
      sigemptyset(&broken_pipe);
      sigaddset(&broken_pipe, SIGPIPE);
      pthread_sigmask(SIG_BLOCK, &broken_pipe, nullptr);
      serve_(fd);
      shutdown(fd, SHUT_RDWR);
    });
  }
}

ThreadedListener::~ThreadedListener() {
  shutdown(listener_, SHUT_RDWR);
  thread_.join();
  for (const int fd : open_) shutdown(fd, SHUT_RDWR);
  for (std::thread& worker : workers_) worker.join();
  for (const int fd : open_) close(fd);
  close(listener_);
}

struct TlsServer::Context {
  SSL_CTX* tls = nullptr;
  bool http2 = false;
  std::atomic<int> requests{0};
  std::atomic<int> connections{0};

  static int ChooseProtocol(SSL*, const unsigned char** out, unsigned char* out_size,
                            const unsigned char* offered, unsigned size, void* self) {
    const bool http2 = static_cast<Context*>(self)->http2;
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

  void Serve(int fd) {
    SSL* const tls_connection = SSL_new(tls);
    SSL_set_fd(tls_connection, fd);
    if (SSL_accept(tls_connection) == 1) {
      ++connections;
      const unsigned char* protocol = nullptr;
      unsigned size = 0;
      SSL_get0_alpn_selected(tls_connection, &protocol, &size);
      size == 2 ? ServeHttp2(tls_connection) : ServeHttp1(tls_connection);
    }
    SSL_free(tls_connection);
  }

  void ServeHttp1(SSL* connection) {
    for (;;) {
      const std::string head =
          HeadFrom([&](char* at, int size) { return SSL_read(connection, at, size); });
      if (head.empty()) return;
      ++requests;
      const std::string answer = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsecret";
      SSL_write(connection, answer.data(), static_cast<int>(answer.size()));
    }
  }

  // As little of RFC 9113 as one answer needs: its header block is the one octet of the static
  // table that says ":status: 200" (RFC 7541, appendix A).
  void ServeHttp2(SSL* connection) {
    const auto exactly = [&](size_t size) {
      std::string bytes(size, '\0');
      for (size_t at = 0; at < size;) {
        const int got = SSL_read(connection, &bytes[at], static_cast<int>(size - at));
        if (got <= 0) return std::string();
        at += static_cast<size_t>(got);
      }
      return bytes;
    };
    const auto send = [&](const std::string& bytes) {
      SSL_write(connection, bytes.data(), static_cast<int>(bytes.size()));
    };
    constexpr uint8_t kData = 0, kHeaders = 1, kSettings = 4, kEnd = 1, kEndHeaders = 4;
    if (exactly(24).empty()) return;  // The preface.
    send(Frame(kSettings, 0, 0, ""));
    for (;;) {
      const std::string head = exactly(9);
      if (head.empty()) return;
      const auto byte = [&](size_t i) { return uint32_t{static_cast<unsigned char>(head[i])}; };
      const uint32_t size = byte(0) << 16 | byte(1) << 8 | byte(2);
      const uint32_t stream = byte(5) << 24 | byte(6) << 16 | byte(7) << 8 | byte(8);
      if (size > 0 && exactly(size).empty()) return;
      if (byte(3) == kSettings && (byte(4) & kEnd) == 0) send(Frame(kSettings, kEnd, 0, ""));
      if (byte(3) != kHeaders) continue;
      ++requests;
      send(Frame(kHeaders, kEndHeaders, stream, "\x88") + Frame(kData, kEnd, stream, "secret"));
    }
  }
};

TlsServer::TlsServer(const Identity& identity, bool http2) : context_(new Context) {
  context_->http2 = http2;
  context_->tls = SSL_CTX_new(TLS_server_method());
  BIO* const certificate = BIO_new_mem_buf(identity.certificate_pem.data(), -1);
  BIO* const key = BIO_new_mem_buf(identity.key_pem.data(), -1);
  X509* const x509 = PEM_read_bio_X509(certificate, nullptr, nullptr, nullptr);
  EVP_PKEY* const pkey = PEM_read_bio_PrivateKey(key, nullptr, nullptr, nullptr);
  SSL_CTX_use_certificate(context_->tls, x509);
  SSL_CTX_use_PrivateKey(context_->tls, pkey);
  SSL_CTX_set_alpn_select_cb(context_->tls, &Context::ChooseProtocol, context_.get());
  X509_free(x509);
  EVP_PKEY_free(pkey);
  BIO_free(certificate);
  BIO_free(key);
  listener_ = std::make_unique<ThreadedListener>([this](int fd) { context_->Serve(fd); });
}

TlsServer::~TlsServer() {
  listener_.reset();
  SSL_CTX_free(context_->tls);
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

TunnelProxy::TunnelProxy()
    : listener_(std::make_unique<ThreadedListener>([this](int fd) { Serve(fd); })) {}

std::vector<std::string> TunnelProxy::targets() const {
  std::lock_guard lock(mutex_);
  return targets_;
}

void TunnelProxy::Serve(int fd) {
  const std::string head = HeadFrom([fd](char* at, int size) {
    return static_cast<int>(recv(fd, at, static_cast<size_t>(size), 0));
  });
  if (head.rfind("CONNECT ", 0) != 0) return;
  const std::string target = head.substr(8, head.find(' ', 8) - 8);
  {
    std::lock_guard lock(mutex_);
    targets_.push_back(target);
  }
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<uint16_t>(std::stoi(target.substr(target.find(':') + 1))));
  const int onward = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (connect(onward, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) {
    send(fd, "HTTP/1.1 200 OK\r\n\r\n", 19, MSG_NOSIGNAL);
    pollfd ends[2] = {{fd, POLLIN, 0}, {onward, POLLIN, 0}};
    char bytes[16384];
    for (bool open = true; open && poll(ends, 2, -1) > 0;) {
      for (const int from : {0, 1}) {
        if (ends[from].revents == 0) continue;
        const ssize_t got = recv(ends[from].fd, bytes, sizeof bytes, 0);
        open = got > 0 &&
               send(ends[1 - from].fd, bytes, static_cast<size_t>(got), MSG_NOSIGNAL) == got;
        if (!open) break;
      }
    }
  }
  close(onward);
}

}  // namespace detent::testing
