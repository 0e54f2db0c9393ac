#include <algorithm>

#include "core/net/url.h"
#include "core/plugin/abi_convert.h"
#include "core/plugin/host_table.h"
#include "core/plugin/instance.h"
#include "detent/services/http.h"

namespace detent {
namespace {

constexpr size_t kUrlBytes = 8192;
constexpr uint32_t kHeadersMax = 256;
constexpr size_t kHeaderBytes = 64 * 1024;
constexpr size_t kBodyBytes = 32u << 20;
constexpr uint64_t kReplyBodyDefault = 8u << 20;
constexpr uint32_t kFlags = DETENT_HTTP_FRESH_CONNECTION | DETENT_HTTP_DECODE |
                            DETENT_HTTP_INSECURE_TLS | DETENT_HTTP_RESET_ON_CANCEL;

// RFC 9110, section 5.6.2.
bool IsToken(std::string_view text) {
  constexpr std::string_view kMarks = "!#$%&'*+-.^_`|~";
  return !text.empty() && std::all_of(text.begin(), text.end(), [&](char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
           kMarks.find(c) != std::string_view::npos;
  });
}

bool EqualIgnoringCase(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return (x | 32) == (y | 32); });
}

// The host frames the message; a plugin that did would desynchronise the connection.
bool IsHostsOwn(std::string_view name) {
  return EqualIgnoringCase(name, "content-length") ||
         EqualIgnoringCase(name, "transfer-encoding") || EqualIgnoringCase(name, "connection");
}

detent_status TakeHeaders(const detent_http_request& given, HttpRequest& out) {
  if (given.header_count > kHeadersMax) return DETENT_E_TOO_LARGE;
  if (given.header_count > 0 && given.headers == nullptr) return DETENT_E_INVALID;
  for (uint32_t i = 0; i < given.header_count; ++i) {
    const detent_http_header header = Known(given.headers[i]);
    const std::string_view name = Text(header.name), value = Text(header.value);
    if (!IsToken(name) || IsHostsOwn(name)) return DETENT_E_INVALID;
    if (value.find_first_of(std::string_view("\r\n\0", 3)) != std::string_view::npos) {
      return DETENT_E_INVALID;
    }
    out.headers.Add(name, value);
  }
  return out.headers.bytes() > kHeaderBytes ? DETENT_E_TOO_LARGE : DETENT_OK;
}

detent_status TakePolicy(const detent_http_request& given, HttpRequest& out) {
  if (given.policy == nullptr) return DETENT_OK;
  const detent_http_policy policy = Known(given.policy);
  if (policy.size == 0) return DETENT_E_INVALID;
  auto parsed = std::make_shared<EgressPolicy>();
  for (uint32_t i = 0; i < policy.allow_count; ++i) {
    if (!parsed->Allow(Text(*policy.allow[i]))) return DETENT_E_INVALID;
  }
  for (uint32_t i = 0; i < policy.deny_count; ++i) {
    if (!parsed->Deny(Text(*policy.deny[i]))) return DETENT_E_INVALID;
  }
  out.policy = std::move(parsed);
  return DETENT_OK;
}

detent_status TakeVersion(uint32_t version, HttpRequest& out) {
  switch (version) {
    case DETENT_HTTP_VERSION_AUTO:
    case DETENT_HTTP_VERSION_1_0:
    case DETENT_HTTP_VERSION_1_1:
    case DETENT_HTTP_VERSION_2:
      out.version = static_cast<HttpVersion>(version);
      return DETENT_OK;
    default:
      return DETENT_E_UNSUPPORTED;
  }
}

detent_status Convert(const detent_http_request& given, HttpRequest& out) {
  if (given.size == 0) return DETENT_E_INVALID;
  if ((given.flags & ~kFlags) != 0 || given.slot_count > 0) return DETENT_E_UNSUPPORTED;
  if ((given.flags & DETENT_HTTP_INSECURE_TLS) != 0) return DETENT_E_DENIED;
  if (given.url.len > kUrlBytes || given.body.len > kBodyBytes) return DETENT_E_TOO_LARGE;
  out.method = Text(given.method);
  out.url = Text(given.url);
  if (!IsToken(out.method) || out.method == "CONNECT" || out.method == "TRACE") {
    return DETENT_E_INVALID;
  }
  if (!CheckHttpUrl(out.url)) return DETENT_E_INVALID;
  if (const detent_status wrong = TakeVersion(given.version, out)) return wrong;
  if (const detent_status wrong = TakeHeaders(given, out)) return wrong;
  if (const detent_status wrong = TakePolicy(given, out)) return wrong;
  out.body = Text(given.body);
  out.connect_timeout = std::chrono::milliseconds(given.connect_timeout_ms);
  out.total_timeout = std::chrono::milliseconds(given.total_timeout_ms);
  out.read_timeout = std::chrono::milliseconds(given.read_timeout_ms);
  out.idle_timeout = std::chrono::milliseconds(given.idle_timeout_ms);
  out.fresh_connection = (given.flags & DETENT_HTTP_FRESH_CONNECTION) != 0;
  out.decode = (given.flags & DETENT_HTTP_DECODE) != 0;
  out.reset_on_cancel = (given.flags & DETENT_HTTP_RESET_ON_CANCEL) != 0;
  if (out.reset_on_cancel && !out.fresh_connection) return DETENT_E_INVALID;
  const uint64_t most = given.response_body_max == 0 ? kReplyBodyDefault : given.response_body_max;
  out.response_body_max = std::min<uint64_t>(most, kBodyBytes);
  if (given.tls_ca_pem.len > 0 || given.tls_server_name.len > 0) {
    auto tls = std::make_shared<HttpTls>();
    tls->ca_pem = Text(given.tls_ca_pem);
    tls->server_name = Text(given.tls_server_name);
    if (!tls->server_name.empty() && !CheckServerName(tls->server_name)) return DETENT_E_INVALID;
    out.tls = std::move(tls);
  }
  out.proxy = Text(given.proxy);
  return DETENT_OK;
}

detent_status Request(detent_instance inst, const detent_http_request* given, detent_http_cb cb,
                      void* ctx, detent_op* out) {
  Instance* instance = Instance::Of(inst);
  if (instance == nullptr) return DETENT_E_STALE;
  if (cb == nullptr) return DETENT_E_INVALID;
  if (instance->parts().http == nullptr) return DETENT_E_UNSUPPORTED;
  try {
    HttpRequest request;
    const detent_status wrong = Convert(Known(given), request);
    return wrong != DETENT_OK ? wrong : instance->SendHttp(std::move(request), cb, ctx, out);
  } catch (...) {
    return DETENT_E_NO_MEMORY;
  }
}

detent_status Cancel(detent_instance inst, detent_op request) {
  Instance* instance = Instance::Of(inst);
  return instance == nullptr ? DETENT_E_STALE : instance->CancelHttp(request);
}

constexpr detent_http kHttpTable = {sizeof(detent_http), 0, &Request, &Cancel};

}  // namespace

const void* HttpService() {
  return &kHttpTable;
}

}  // namespace detent
