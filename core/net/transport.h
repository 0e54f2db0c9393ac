// HTTP out of the host: one request in, one reply out, whatever happens.
//
// Any thread may send and cancel. The callback runs exactly once for each request, on the
// transport's own thread, and must not block there: it hands the reply on. Redirects are never
// followed and nothing is sent twice, so what `not_sent` says can be relied upon.

#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/net/egress.h"
#include "core/net/headers.h"

namespace detent {

enum class HttpVersion : uint8_t { kAuto = 0, k10 = 10, k11 = 11, k2 = 20 };

// What a TLS connection trusts and shows. Shared by all requests of one purpose; never changed.
struct HttpTls {
  std::string ca_pem;                    // Trust these instead of the system's; empty: those.
  std::string certificate_pem, key_pem;  // The client's own; both or neither.
  std::string server_name;               // To ask for and to check; empty: the URL's host.
  bool insecure = false;                 // Trust anybody.
};

struct HttpRequest {
  std::string method = "GET";  // Sent as it is.
  std::string url;             // http or https; sent byte for byte.
  HttpHeaders headers;         // Host may be among them; the lengths are the transport's to set.
  std::string body;
  // Auto is 1.1: one connection serves one request. 2: many share one, where the server agrees.
  HttpVersion version = HttpVersion::kAuto;
  std::chrono::milliseconds connect_timeout{10'000};  // Resolve, TCP and TLS. 0: as the default.
  // 0 is none for each of these. `total` counts from when the transfer begins: time in the queue of
  // the transport is not the server's fault. `read`: from the last byte sent to the first received.
  // `idle`: no byte either way. The last two, and all of HTTP/2, may come late: by 20 ms, or by a
  // sixteenth up to 1 s.
  std::chrono::milliseconds total_timeout{0};
  std::chrono::milliseconds read_timeout{0};
  std::chrono::milliseconds idle_timeout{0};
  uint64_t response_body_max = 8u << 20;  // Bytes kept; the rest is not read.
  bool fresh_connection = false;          // A connection of its own, closed after the exchange.
  bool reset_on_cancel = false;           // Break with RST, not FIN. With fresh_connection only.
  bool decode = false;                    // Ask for gzip or deflate (in one piece), and decode it.
  std::shared_ptr<const HttpTls> tls;     // Null: as the system is set.
  std::shared_ptr<const EgressPolicy> policy;  // Null: the transport's alone.
  std::string proxy;                           // Empty: the transport's.
  std::string unix_socket;                     // Connect to this path instead of the URL's host.
  // Set: the body of a 2xx reply is not kept but given away piece by piece, decoded, on the
  // transport's thread, which it must not block; false ends the transfer (kOk, body_truncated).
  // response_body_max then holds for other replies only.
  std::function<bool(std::string_view piece)> on_body;
  // Set: asked on the transport's thread when nothing but the request's first byte is left to do,
  // so behind every queue and every connecting. False ends it with kWithheld, not sent. It must not
  // block, nor call the transport.
  std::function<bool()> may_send;
};

enum class HttpOutcome : uint8_t {
  kOk,  // A whole response of any status, or one cut at response_body_max.
  kCancelled,
  kDenied,    // By an EgressPolicy.
  kWithheld,  // By the request's may_send.
  kConnectTimeout,
  kReadTimeout,
  kIdleTimeout,
  kTotalTimeout,
  kResolveFailed,
  kConnectFailed,
  kTlsFailed,
  kConnectionReset,
  kProtocolError,
  kHeadersTooLarge,
  kInvalid,  // The URL or another part of the request cannot be used.
};

// CamelCase ("ConnectTimeout"), empty for kOk.
const char* ReasonOf(HttpOutcome outcome);

struct HttpReply {
  HttpOutcome outcome = HttpOutcome::kOk;
  std::string message;  // For people; empty for kOk.
  // What was received until the end, also of a failure. 0: no response at all.
  uint32_t status = 0;
  HttpVersion version = HttpVersion::kAuto;
  HttpHeaders headers;
  std::string body;
  std::string request_body;  // Given back, for another try.
  bool body_truncated = false;
  bool not_sent = false;                            // Provably no byte of the request was written.
  bool certificate_refused = false;                 // By us: with kTlsFailed, we do not trust it.
  bool request_sent = false;                        // All of it was written.
  bool connection_closed = false;                   // The connection it used is closed on our side.
  std::optional<std::chrono::seconds> retry_after;  // From the header of that name.
  // Since the transfer began, at the end of each step; 0 where the step did not take place.
  std::chrono::microseconds dns{0}, connect{0}, tls{0}, first_byte{0}, total{0};
  uint64_t bytes_sent = 0;
  uint64_t bytes_received = 0;
  std::string local_address;  // "127.0.0.1:40312"
  std::string peer_address;
};

using HttpCallback = std::function<void(HttpReply&& reply)>;

class HttpTransport {
 public:
  virtual ~HttpTransport() = default;

  // Takes up a request; the answer names it for Cancel, and is never 0. Throws what the standard
  // library does where memory, threads or descriptors have run out: the request was not taken then,
  // and its callback is never called.
  virtual uint64_t Send(HttpRequest request, HttpCallback callback) = 0;

  // Ends a request early. Its callback still comes once: with kCancelled, and only after the
  // connection it used is closed (of HTTP/2 its stream is reset, and the connection lives on); or
  // with what it came to, if that was sooner. Harmless for a request that has ended.
  virtual void Cancel(uint64_t id) = 0;
};

}  // namespace detent
