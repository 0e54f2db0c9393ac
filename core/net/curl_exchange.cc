#include "core/net/curl_exchange.h"

#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>

#include "core/net/curl_api.h"
#include "core/net/url.h"

namespace detent {

static_assert(CURL_ERROR_SIZE == 256);

// libcurl's callbacks, all with the handle as their pointer.
struct CurlHandle::Hooks {
  static size_t Write(char* data, size_t, size_t size, void* self) {
    CurlExchange& exchange = *static_cast<CurlHandle*>(self)->exchange_;
    std::string& body = exchange.reply.body;
    exchange.received += size;
    if (exchange.request.on_body && exchange.succeeds) {
      if (exchange.request.on_body({data, size})) return size;
      exchange.reply.body_truncated = true;
      return 0;
    }
    const size_t room = exchange.request.response_body_max - body.size();
    if (size <= room) {
      body.append(data, size);
      return size;
    }
    body.append(data, room);
    exchange.reply.body_truncated = true;
    return 0;  // Ends the transfer: the rest is not read.
  }

  static size_t Header(char* data, size_t, size_t size, void* self) {
    CurlHandle& handle = *static_cast<CurlHandle*>(self);
    CurlExchange& exchange = *handle.exchange_;
    HttpHeaders& headers = exchange.reply.headers;
    exchange.received += size;
    std::string_view line(data, size);
    while (!line.empty() && (line.back() == '\n' || line.back() == '\r')) line.remove_suffix(1);
    if (line.starts_with("HTTP/")) {
      headers.Clear();  // An interim response (1xx) went before.
      exchange.succeeds = line.size() > 9 && line[line.find(' ') + 1] == '2';
      return size;
    }
    if (line.empty()) return size;
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos) return size;
    std::string_view value = line.substr(colon + 1);
    while (!value.empty() && (value.front() == ' ' || value.front() == '\t'))
      value.remove_prefix(1);
    while (!value.empty() && (value.back() == ' ' || value.back() == '\t')) value.remove_suffix(1);
    headers.Add(line.substr(0, colon), value);
    if (headers.bytes() <= handle.limits_.max_header_bytes && headers.size() <= 256) return size;
    exchange.headers_too_large = true;
    return 0;
  }

  static curl_socket_t Open(void* self, curlsocktype, curl_sockaddr* address) {
    CurlHandle& handle = *static_cast<CurlHandle*>(self);
    const EgressPolicy* own = handle.exchange_->request.policy.get();
    if (!handle.limits_.egress->Permits(&address->addr) ||
        (own != nullptr && !own->Permits(&address->addr))) {
      handle.exchange_->denied = true;
      return CURL_SOCKET_BAD;
    }
    const int fd = socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
    if (fd < 0) return CURL_SOCKET_BAD;
    handle.sockets_.OnOpen(fd, handle.exchange_->id);
    return fd;
  }

  // The pointer is the CurlSockets: a pooled connection outlives the handle that opened it.
  static int Close(void* sockets, curl_socket_t fd) {
    static_cast<CurlSockets*>(sockets)->OnClose(fd);
    return close(fd);
  }

  // Called before a request is written, also on a pooled connection, where Open is not.
  static int Before(void* self, char* peer, char*, int peer_port, int local_port) {
    CurlHandle& handle = *static_cast<CurlHandle*>(self);
    CurlExchange& exchange = *handle.exchange_;
    exchange.ports = {local_port, peer_port};
    if (!handle.PolicyPermits(peer)) {
      exchange.denied = true;
      return CURL_PREREQFUNC_ABORT;
    }
    // libcurl repeats a request by itself when a pooled connection dies under it. Where bytes have
    // gone out that would send it twice.
    long sent = 0;
    Curl().easy_getinfo(handle.easy_, CURLINFO_REQUEST_SIZE, &sent);
    if (exchange.requests_begun++ > 0 && sent > 0) {
      exchange.would_resend = true;
      return CURL_PREREQFUNC_ABORT;
    }
    if (exchange.request.may_send && !exchange.request.may_send()) {
      exchange.withheld = true;
      return CURL_PREREQFUNC_ABORT;
    }
    return CURL_PREREQFUNC_OK;
  }
};

std::chrono::milliseconds ConnectTimeoutOf(const HttpRequest& request) {
  constexpr std::chrono::milliseconds kDefault{10'000};
  return request.connect_timeout.count() > 0 ? request.connect_timeout : kDefault;
}

CurlHandle::CurlHandle(const CurlLimits& limits, CurlSockets& sockets)
    : limits_(limits), sockets_(sockets), easy_(Curl().easy_init()) {
  SetOnce();
}

CurlHandle::~CurlHandle() {
  Curl().easy_cleanup(easy_);
  Curl().slist_free_all(header_list_);
  Curl().slist_free_all(connect_to_);
}

void CurlHandle::SetOnce() {
  Curl().easy_setopt(easy_, CURLOPT_PRIVATE, this);
  Curl().easy_setopt(easy_, CURLOPT_ERRORBUFFER, error_);
  Curl().easy_setopt(easy_, CURLOPT_NOSIGNAL, 1L);
  Curl().easy_setopt(easy_, CURLOPT_NOPROGRESS, 1L);
  Curl().easy_setopt(easy_, CURLOPT_TCP_NODELAY, 1L);
  Curl().easy_setopt(easy_, CURLOPT_PROTOCOLS_STR, "http,https");
  Curl().easy_setopt(easy_, CURLOPT_PATH_AS_IS, 1L);
  // The least: the usual 64 KiB would stay with each handle after its first request with a body.
  Curl().easy_setopt(easy_, CURLOPT_UPLOAD_BUFFERSIZE, 16L * 1024);
  Curl().easy_setopt(easy_, CURLOPT_HTTP09_ALLOWED, 0L);
  Curl().easy_setopt(easy_, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
  // Without it, cancelling a request waits for a resolver that may take seconds.
  Curl().easy_setopt(easy_, CURLOPT_QUICK_EXIT, 1L);
  Curl().easy_setopt(easy_, CURLOPT_WRITEFUNCTION, &Hooks::Write);
  Curl().easy_setopt(easy_, CURLOPT_WRITEDATA, this);
  Curl().easy_setopt(easy_, CURLOPT_HEADERFUNCTION, &Hooks::Header);
  Curl().easy_setopt(easy_, CURLOPT_HEADERDATA, this);
  Curl().easy_setopt(easy_, CURLOPT_OPENSOCKETFUNCTION, &Hooks::Open);
  Curl().easy_setopt(easy_, CURLOPT_OPENSOCKETDATA, this);
  Curl().easy_setopt(easy_, CURLOPT_CLOSESOCKETFUNCTION, &Hooks::Close);
  Curl().easy_setopt(easy_, CURLOPT_CLOSESOCKETDATA, &sockets_);
  Curl().easy_setopt(easy_, CURLOPT_PREREQFUNCTION, &Hooks::Before);
  Curl().easy_setopt(easy_, CURLOPT_PREREQDATA, this);
}

bool CurlHandle::PolicyPermits(const char* address) const {
  if (!exchange_->request.unix_socket.empty()) return true;
  const EgressPolicy* own = exchange_->request.policy.get();
  if (!limits_.egress->empty() && !limits_.egress->Permits(address)) return false;
  return own == nullptr || own->empty() || own->Permits(address);
}

bool CurlHandle::Begin(CurlExchange& exchange) {
  exchange_ = &exchange;
  error_[0] = '\0';
  const HttpRequest& request = exchange.request;
  applied_any_ = SetUrl(request) && SetMethod(request) && SetHeaders(request) && SetRest(request);
  return applied_any_;
}

// libcurl asks a server for the name in the URL, and verifies that: so another name goes there, and
// the connection elsewhere.
bool CurlHandle::SetUrl(const HttpRequest& request) {
  const bool named = request.tls != nullptr && !request.tls->server_name.empty();
  if (applied_any_ && applied_.url == request.url && (applied_.tls == request.tls || !named) &&
      named == (connect_to_ != nullptr)) {
    return true;
  }
  applied_.url = request.url;
  Curl().easy_setopt(easy_, CURLOPT_CONNECT_TO, nullptr);
  Curl().slist_free_all(connect_to_);
  connect_to_ = nullptr;
  host_.clear();
  if (!named) return Curl().easy_setopt(easy_, CURLOPT_URL, request.url.c_str()) == CURLE_OK;
  if (!CheckServerName(request.tls->server_name) || HostOf(request.url).empty()) return false;
  const RenamedUrl renamed = RenameServer(request.url, request.tls->server_name);
  connect_to_ = Curl().slist_append(nullptr, ("::" + renamed.connect_to).c_str());
  host_ = HostOf(request.url);
  return Curl().easy_setopt(easy_, CURLOPT_CONNECT_TO, connect_to_) == CURLE_OK &&
         Curl().easy_setopt(easy_, CURLOPT_URL, renamed.url.c_str()) == CURLE_OK;
}

bool CurlHandle::SetMethod(const HttpRequest& request) {
  const std::string& method = request.method;
  const bool body =
      !request.body.empty() || method == "POST" || method == "PUT" || method == "PATCH";
  if (!applied_any_ || applied_.method != method || applied_body_ != body) {
    Curl().easy_setopt(easy_, CURLOPT_NOBODY, 0L);
    Curl().easy_setopt(easy_, body ? CURLOPT_POST : CURLOPT_HTTPGET, 1L);
    const bool own_word = method == (body ? "POST" : "GET");
    if (method == "HEAD" && !body) Curl().easy_setopt(easy_, CURLOPT_NOBODY, 1L);
    Curl().easy_setopt(easy_, CURLOPT_CUSTOMREQUEST, own_word ? nullptr : method.c_str());
    applied_.method = method;
    applied_body_ = body;
  }
  if (!body) return true;
  Curl().easy_setopt(easy_, CURLOPT_POSTFIELDSIZE_LARGE,
                     static_cast<curl_off_t>(request.body.size()));
  return Curl().easy_setopt(easy_, CURLOPT_POSTFIELDS, request.body.data()) == CURLE_OK;
}

bool CurlHandle::SetHeaders(const HttpRequest& request) {
  // libcurl compares each field of this list a dozen times for every request, so it is kept short:
  // what it adds to a body only is taken out of a body only.
  if (applied_any_ && applied_.headers == request.headers && applied_list_body_ == applied_body_ &&
      applied_list_host_ == host_) {
    return true;
  }
  applied_list_body_ = applied_body_;
  applied_list_host_ = host_;
  curl_slist* list = nullptr;
  std::string line;
  const auto append = [&](const std::string& text) {
    curl_slist* longer = Curl().slist_append(list, text.c_str());
    if (longer != nullptr) list = longer;
  };
  // An empty value takes out what libcurl would add by itself.
  for (const char* added : {"Accept", "Content-Type", "Expect"}) {
    const bool needed = applied_body_ || added[0] == 'A';
    if (needed && request.headers.Find(added).data() == nullptr) append(std::string(added) + ":");
  }
  if (!host_.empty() && request.headers.Find("Host").data() == nullptr) append("Host: " + host_);
  for (size_t i = 0; i < request.headers.size(); ++i) {
    const std::string_view value = request.headers.value(i);
    line = request.headers.name(i);
    // In libcurl's notation a semicolon stands for a header that is sent with an empty value.
    value.empty() ? line.append(";") : line.append(": ").append(value);
    append(line);
  }
  const bool good = Curl().easy_setopt(easy_, CURLOPT_HTTPHEADER, list) == CURLE_OK;
  Curl().slist_free_all(header_list_);
  header_list_ = list;
  applied_.headers = request.headers;
  return good;
}

bool CurlHandle::SetRest(const HttpRequest& request) {
  CURLcode failed = CURLE_OK;
  const auto keep = [&](CURLcode code) { failed = failed == CURLE_OK ? code : failed; };
  // Sets an option where the handle's last request had another value, or there was none.
  const auto update = [&](auto& applied, const auto& wanted, auto&& set) {
    if (applied_any_ && applied == wanted) return;
    applied = wanted;
    keep(set());
  };
  update(applied_.connect_timeout, request.connect_timeout, [&] {
    return Curl().easy_setopt(easy_, CURLOPT_CONNECTTIMEOUT_MS,
                              static_cast<long>(ConnectTimeoutOf(request).count()));
  });
  // Of HTTP/2 the loop itself sees to it.
  const bool shared = request.version == HttpVersion::k2;
  const auto total = shared ? std::chrono::milliseconds(0) : request.total_timeout;
  update(applied_total_, total, [&] {
    return Curl().easy_setopt(easy_, CURLOPT_TIMEOUT_MS, static_cast<long>(total.count()));
  });
  update(applied_.fresh_connection, request.fresh_connection, [&] {
    Curl().easy_setopt(easy_, CURLOPT_FORBID_REUSE, request.fresh_connection ? 1L : 0L);
    return Curl().easy_setopt(easy_, CURLOPT_FRESH_CONNECT, request.fresh_connection ? 1L : 0L);
  });
  // A connection of its own must not be shared either: libcurl joins no two requests that want
  // their TLS otherwise. The version is the least that OpenSSL speaks anyway.
  const bool alone = request.fresh_connection && shared;
  update(applied_alone_, alone, [&] {
    return Curl().easy_setopt(
        easy_, CURLOPT_SSLVERSION,
        static_cast<long>(alone ? CURL_SSLVERSION_TLSv1_2 : CURL_SSLVERSION_DEFAULT));
  });
  update(applied_.version, request.version, [&] {
    long version = CURL_HTTP_VERSION_1_1;
    if (request.version == HttpVersion::k10) version = CURL_HTTP_VERSION_1_0;
    if (request.version == HttpVersion::k2) version = CURL_HTTP_VERSION_2TLS;
    // Requests that come while a connection is being made wait for it, to share it.
    Curl().easy_setopt(easy_, CURLOPT_PIPEWAIT, shared ? 1L : 0L);
    return Curl().easy_setopt(easy_, CURLOPT_HTTP_VERSION, version);
  });
  update(applied_.decode, request.decode, [&] {
    return Curl().easy_setopt(easy_, CURLOPT_ACCEPT_ENCODING,
                              request.decode ? "gzip, deflate" : nullptr);
  });
  update(applied_.tls, request.tls,
         [&] { return static_cast<CURLcode>(SetTls(request.tls.get())); });
  update(applied_.unix_socket, request.unix_socket, [&] {
    const bool set = !request.unix_socket.empty();
    return Curl().easy_setopt(easy_, CURLOPT_UNIX_SOCKET_PATH,
                              set ? request.unix_socket.c_str() : nullptr);
  });
  update(applied_.proxy, request.proxy, [&] {
    // Empty text, unlike null, keeps libcurl from asking the environment.
    const std::string& proxy = request.proxy.empty() ? limits_.proxy : request.proxy;
    return Curl().easy_setopt(easy_, CURLOPT_PROXY, proxy.c_str());
  });
  return failed == CURLE_OK;
}

int CurlHandle::SetTls(const HttpTls* tls) {
  static const HttpTls kSystem;
  const HttpTls& wanted = tls == nullptr ? kSystem : *tls;
  CURLcode failed = CURLE_OK;
  const auto pem = [&](CURLoption option, const std::string& text) {
    curl_blob blob{const_cast<char*>(text.data()), text.size(), CURL_BLOB_COPY};
    const CURLcode code = Curl().easy_setopt(easy_, option, text.empty() ? nullptr : &blob);
    failed = failed == CURLE_OK ? code : failed;
  };
  Curl().easy_setopt(easy_, CURLOPT_SSL_VERIFYHOST, wanted.insecure ? 0L : 2L);
  Curl().easy_setopt(easy_, CURLOPT_SSL_VERIFYPEER, wanted.insecure ? 0L : 1L);
  pem(CURLOPT_CAINFO_BLOB, wanted.ca_pem);
  pem(CURLOPT_SSLCERT_BLOB, wanted.certificate_pem);
  pem(CURLOPT_SSLKEY_BLOB, wanted.key_pem);
  Curl().easy_setopt(easy_, CURLOPT_SSL_CTX_FUNCTION, &ShowGivenCertificatesOnly);
  return failed;
}

uint64_t CurlHandle::Progress() const {
  curl_off_t uploaded = 0;
  long request = 0;
  Curl().easy_getinfo(easy_, CURLINFO_SIZE_UPLOAD_T, &uploaded);
  Curl().easy_getinfo(easy_, CURLINFO_REQUEST_SIZE, &request);
  return static_cast<uint64_t>(uploaded) + static_cast<uint64_t>(request) + exchange_->received;
}

HttpOutcome CurlHandle::TimedOut() const {
  const auto limit = exchange_->request.total_timeout;
  curl_off_t total = 0;
  Curl().easy_getinfo(easy_, CURLINFO_TOTAL_TIME_T, &total);
  const bool all_used = limit.count() > 0 && std::chrono::microseconds(total) >= limit;
  const bool connecting = exchange_->requests_begun == 0;
  return connecting && !all_used ? HttpOutcome::kConnectTimeout : HttpOutcome::kTotalTimeout;
}

void CurlHandle::FillOutcome(int curl_code) {
  HttpReply& reply = exchange_->reply;
  const auto code = static_cast<CURLcode>(curl_code);
  const auto set = [&](HttpOutcome outcome, const char* words = nullptr) {
    reply.outcome = outcome;
    reply.message = words != nullptr ? words : (error_[0] ? error_ : Curl().easy_strerror(code));
  };
  if (exchange_->stopped_as == HttpOutcome::kCancelled) {
    return set(HttpOutcome::kCancelled, "the request was cancelled");
  }
  if (exchange_->stopped_as == HttpOutcome::kReadTimeout) {
    return set(HttpOutcome::kReadTimeout, "no response began in time");
  }
  if (exchange_->stopped_as == HttpOutcome::kIdleTimeout) {
    return set(HttpOutcome::kIdleTimeout, "no byte was sent or received for too long");
  }
  if (exchange_->stopped_as == HttpOutcome::kTotalTimeout) {
    return set(HttpOutcome::kTotalTimeout, "the response did not end in time");
  }
  if (exchange_->stopped_as == HttpOutcome::kConnectTimeout) {
    return set(HttpOutcome::kConnectTimeout, "no connection was made in time");
  }
  if (code == CURLE_OK || reply.body_truncated) return set(HttpOutcome::kOk, "");
  if (exchange_->denied) {
    return set(HttpOutcome::kDenied, "the egress policy does not allow the server's address");
  }
  if (exchange_->withheld) {
    return set(HttpOutcome::kWithheld, "the request was withheld before it was sent");
  }
  if (exchange_->would_resend) {
    return set(HttpOutcome::kConnectionReset, "the connection was closed before a response began");
  }
  if (exchange_->headers_too_large) {
    return set(HttpOutcome::kHeadersTooLarge, "the response's headers are over the limit");
  }
  switch (code) {
    case CURLE_OPERATION_TIMEDOUT:
      return set(TimedOut());
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
      return set(HttpOutcome::kResolveFailed);
    case CURLE_COULDNT_CONNECT:
    case CURLE_PROXY:
      return set(HttpOutcome::kConnectFailed);
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CIPHER:
    case CURLE_SSL_ISSUER_ERROR:
      set(HttpOutcome::kTlsFailed);
      reply.certificate_refused = code == CURLE_PEER_FAILED_VERIFICATION;
      // What OpenSSL says may be a number and no more.
      reply.message.insert(0, "no TLS connection: ");
      return;
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR:
    case CURLE_GOT_NOTHING:
    case CURLE_PARTIAL_FILE:
      return set(HttpOutcome::kConnectionReset);
    case CURLE_URL_MALFORMAT:
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_BAD_FUNCTION_ARGUMENT:
      // After a request went out, it is the reply that is unsupported (HTTP/0.9).
      return set(exchange_->requests_begun > 0 ? HttpOutcome::kProtocolError
                                               : HttpOutcome::kInvalid);
    default:
      return set(HttpOutcome::kProtocolError);
  }
}

void CurlHandle::FillFacts() {
  HttpReply& reply = exchange_->reply;
  const auto number = [this](CURLINFO what) {
    long value = 0;
    Curl().easy_getinfo(easy_, what, &value);
    return value;
  };
  const auto large = [this](CURLINFO what) {
    curl_off_t value = 0;
    Curl().easy_getinfo(easy_, what, &value);
    return value;
  };
  const auto place = [&](CURLINFO address, CURLINFO port) -> std::string {
    char* text = nullptr;
    Curl().easy_getinfo(easy_, address, &text);
    if (text == nullptr || *text == '\0') return {};
    const bool v6 = std::strchr(text, ':') != nullptr;
    return (v6 ? "[" + std::string(text) + "]" : std::string(text)) + ":" +
           std::to_string(number(port));
  };
  reply.status = static_cast<uint32_t>(number(CURLINFO_RESPONSE_CODE));
  const long version = number(CURLINFO_HTTP_VERSION);
  if (version == CURL_HTTP_VERSION_1_0) reply.version = HttpVersion::k10;
  if (version == CURL_HTTP_VERSION_1_1) reply.version = HttpVersion::k11;
  if (version == CURL_HTTP_VERSION_2_0) reply.version = HttpVersion::k2;
  const auto request_bytes = static_cast<uint64_t>(number(CURLINFO_REQUEST_SIZE));
  const auto uploaded = static_cast<uint64_t>(large(CURLINFO_SIZE_UPLOAD_T));
  reply.not_sent = request_bytes == 0;
  reply.request_sent = request_bytes > 0 && uploaded == exchange_->request.body.size();
  reply.bytes_sent = request_bytes + uploaded;
  reply.bytes_received = exchange_->received;
  const bool connected_anew = number(CURLINFO_NUM_CONNECTS) > 0;
  using std::chrono::microseconds;
  if (connected_anew) {
    reply.dns = microseconds(large(CURLINFO_NAMELOOKUP_TIME_T));
    reply.connect = microseconds(large(CURLINFO_CONNECT_TIME_T));
    reply.tls = microseconds(large(CURLINFO_APPCONNECT_TIME_T));
  }
  if (reply.status != 0) reply.first_byte = microseconds(large(CURLINFO_STARTTRANSFER_TIME_T));
  reply.total = microseconds(large(CURLINFO_TOTAL_TIME_T));
  reply.local_address = place(CURLINFO_LOCAL_IP, CURLINFO_LOCAL_PORT);
  reply.peer_address = place(CURLINFO_PRIMARY_IP, CURLINFO_PRIMARY_PORT);
  if (reply.headers.Find("Retry-After").data() != nullptr) {
    reply.retry_after = std::chrono::seconds(large(CURLINFO_RETRY_AFTER));
  }
}

void CurlHandle::Finish(int curl_code) {
  FillOutcome(curl_code);
  FillFacts();
  exchange_ = nullptr;
}

}  // namespace detent
