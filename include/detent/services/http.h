/* detent/services/http.h: HTTP through the host's one door.
 *
 * The host owns connections, TLS, proxies, pooling and the egress policy; the plugin says what to
 * send and judges what comes back. One request is one exchange: redirects are never followed and
 * nothing is sent twice in revision 1, so whoever needs that does it in the open, and the answer
 * NOT_SENT proves that a repetition is harmless.
 *
 *   request ---> callback, exactly once, whatever happens
 *
 * All functions are [any]. Limits: 1024 requests in flight for an instance (E_BUSY), 32 MiB of body
 * out, URL 8 KiB, 256 headers and 64 KiB of them either way.
 */
#ifndef DETENT_SERVICES_HTTP_H_
#define DETENT_SERVICES_HTTP_H_

#include "detent/status.h"

DETENT_EXTERN_C_BEGIN

#define DETENT_SVC_HTTP "detent.http/1"

/* One header field. Names keep their case on HTTP/1; order and repetitions are kept. */
typedef struct detent_http_header {
  uint32_t size;
  uint32_t reserved; /* 0 */
  detent_str name;   /* an RFC 9110 token */
  detent_str value;  /* no CR, LF or NUL */
} detent_http_header;

/* A secret that the host puts in at the moment of sending (services/secrets.h), so that its value
 * never enters the plugin. The text on the wire is `prefix` followed by the secret's value. */
#define DETENT_HTTP_SLOT_HEADER 0u     /* name: the header; replaces one of that name */
#define DETENT_HTTP_SLOT_QUERY 1u      /* name: the parameter; percent-encoded, appended */
#define DETENT_HTTP_SLOT_BASIC 2u      /* name: the user; the secret is the password */
#define DETENT_HTTP_SLOT_CLIENT_PEM 3u /* TLS client certificate and key, PEM; name unused */
typedef struct detent_http_slot {
  uint32_t size;
  uint32_t where; /* DETENT_HTTP_SLOT_* */
  detent_str name;
  detent_str prefix;
  detent_secret secret;
} detent_http_slot;

/* Where a request may go. Judged on the address that is really connected to, after resolution;
 * entries are CIDR texts ("10.0.0.0/8", "fd00::/8"). deny wins over allow, and the host's own
 * policy wins over both. NULL in the request: the host's policy alone. With an empty allow list
 * every address that is not denied may be reached. Refusal: E_DENIED, EgressDenied, NOT_SENT. */
typedef struct detent_http_policy {
  uint32_t size;
  uint32_t allow_count;
  const detent_str* const* allow;
  const detent_str* const* deny;
  uint32_t deny_count;
  uint32_t flags; /* none defined: 0 */
} detent_http_policy;

/* detent_http_request.flags; an unknown one is E_UNSUPPORTED. */
/* A connection of its own: no pooled one is taken, and it is closed after the exchange. A kill
 * needs it on HTTP/2 only, where cancel without it ends the stream alone and the connection stays:
 * on HTTP/1 cancel closes the connection of any request, at once. */
#define DETENT_HTTP_FRESH_CONNECTION (1u << 0)
/* Ask for gzip or deflate and decode it; response_body_max counts decoded bytes. */
#define DETENT_HTTP_DECODE (1u << 1)
/* Do not verify the server's certificate. E_DENIED unless the host's configuration allows it. */
#define DETENT_HTTP_INSECURE_TLS (1u << 2)
/* On cancel break the connection with RST, not FIN. Only with FRESH_CONNECTION. */
#define DETENT_HTTP_RESET_ON_CANCEL (1u << 3)

/* detent_http_request.version and detent_http_response.version */
#define DETENT_HTTP_VERSION_AUTO 0u /* 1.1 in this revision: a connection carries one request */
#define DETENT_HTTP_VERSION_1_0 10u
#define DETENT_HTTP_VERSION_1_1 11u
#define DETENT_HTTP_VERSION_2 20u /* by ALPN where the server offers it on https, else 1.1 */

/* The request, lent for the call; the host copies all of it.
 * method   a token, sent as it is ("GET"). CONNECT and TRACE are E_INVALID.
 * url      absolute, http or https, no user info. Sent byte for byte: nothing is re-encoded.
 * headers  Host, Content-Length, Transfer-Encoding and Connection are the host's to set: Host may
 *          be given, the others are E_INVALID. No User-Agent, Accept or Expect is added.
 * timeouts milliseconds, 0 = none (connect: 0 = 10 s). connect: resolve, TCP and TLS. total: from
 *          the call to the last byte. read: from the last byte sent to the first received. idle: no
 *          byte in either direction.
 * task     the task this is done for (accounting, logs), or 0. */
typedef struct detent_http_request {
  uint32_t size;
  uint32_t flags; /* DETENT_HTTP_* */
  detent_str method;
  detent_str url;
  const detent_http_header* const* headers;
  uint32_t header_count;
  uint32_t version; /* DETENT_HTTP_VERSION_* */
  detent_bytes body;
  uint32_t connect_timeout_ms;
  uint32_t total_timeout_ms;
  uint32_t read_timeout_ms;
  uint32_t idle_timeout_ms;
  uint64_t response_body_max; /* bytes kept, 0 = 8 MiB, at most 32 MiB; the rest is not read */
  detent_task task;
  const detent_http_policy* policy;     /* or NULL */
  const detent_http_slot* const* slots; /* E_UNSUPPORTED without detent.secrets/1 */
  uint32_t slot_count;
  uint32_t reserved;          /* 0 */
  detent_bytes tls_ca_pem;    /* trust these instead of the system's; empty: the system's */
  detent_str tls_server_name; /* SNI and name to verify; empty: the URL's host */
  detent_str proxy;           /* "http://host:port", empty: the host's own setting */
} detent_http_request;

/* detent_http_response.flags */
#define DETENT_HTTP_BODY_TRUNCATED (1u << 0)    /* the body went on beyond response_body_max */
#define DETENT_HTTP_NOT_SENT (1u << 1)          /* provably no byte of the request was written */
#define DETENT_HTTP_CONNECTION_CLOSED (1u << 2) /* the connection is closed on our side */
#define DETENT_HTTP_REQUEST_SENT (1u << 3)      /* the whole request was written */

/* What came of it, lent for the callback.
 * code     OK: a complete response (any http_status), or one that was cut at response_body_max.
 *          E_CANCELLED, E_CLOSING, E_DENIED; E_DEADLINE: reason ConnectTimeout, ReadTimeout,
 *          IdleTimeout, TotalTimeout; E_UNAVAILABLE: ResolveFailed, ConnectFailed, TLSFailed,
 *          ConnectionReset, ProtocolError; E_TOO_LARGE: HeadersTooLarge. On an error after the
 *          response began, http_status, headers and the body so far are given.
 * *_us     microseconds since the request was taken up, each at the end of its step; 0: the step
 *          did not take place (a pooled connection has no dns, connect and tls).
 * body     lent as in detent_result: retain it to keep it.
 * retry*   from Retry-After, in seconds or as a date, when the response had one. */
typedef struct detent_http_response {
  uint32_t size;
  detent_status code;
  uint32_t http_status; /* 0: no response */
  uint32_t flags;
  uint32_t version;
  uint32_t retry; /* DETENT_HINT_* */
  uint32_t retry_after_ms;
  uint32_t header_count;
  const detent_http_header* const* headers;
  detent_buf body;
  uint64_t dns_us;
  uint64_t connect_us;
  uint64_t tls_us;
  uint64_t first_byte_us;
  uint64_t total_us;
  uint64_t bytes_sent;
  uint64_t bytes_received;
  detent_str reason;
  detent_str message;
  detent_str local_address; /* "127.0.0.1:40312", empty if never connected */
  detent_str peer_address;
} detent_http_response;

/* [strand] Exactly once for each accepted request. */
typedef void (*detent_http_cb)(void* ctx, const detent_http_response* response);

typedef struct detent_http {
  uint32_t size;
  uint32_t reserved; /* 0 */

  /* Takes up a request. OK: cb will come, *out names it for cancel (out may be NULL). Otherwise
   * nothing was taken and cb does not come: E_INVALID (method, url, header), E_UNSUPPORTED (flag,
   * slot), E_BUSY, E_TOO_LARGE, E_CLOSING. Not idempotent: two calls are two requests. */
  detent_status (*request)(detent_instance inst, const detent_http_request* request,
                           detent_http_cb cb, void* ctx, detent_op* out);

  /* Ends a request early. The callback still comes once: with E_CANCELLED, and only after its
   * connection is closed (then CONNECTION_CLOSED is set, and NOT_SENT tells whether anything had
   * gone out); or with the outcome, if that was sooner. E_STALE: the callback has run already.
   * Harmless twice. A pooled HTTP/2 stream is reset, its connection stays, and CONNECTION_CLOSED is
   * not set. */
  detent_status (*cancel)(detent_instance inst, detent_op request);
} detent_http;

DETENT_EXTERN_C_END

#endif /* DETENT_SERVICES_HTTP_H_ */
