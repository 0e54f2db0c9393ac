// HTTP over the host's detent.http/1: fill an HttpRequest, send it, get an HttpResponse. What the
// fields and codes mean is in detent/services/http.h. Strand only.
//
// An HttpCall owns a request under way. Cancel asks the host to break it off, and the callback
// still comes, with DETENT_E_CANCELLED once the connection is closed, which is what a confirmed
// kill needs. Destroying an HttpCall cancels it too, and drops the callback.

#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "detent/sdk/host.h"
#include "detent/services/http.h"

namespace detent::sdk {

// Timeouts in milliseconds, 0 = none (connect: the host's 10 s).
struct HttpRequest {
  std::string method = "GET";
  std::string url;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
  uint32_t flags = 0;    // DETENT_HTTP_*
  uint32_t version = 0;  // DETENT_HTTP_VERSION_*
  uint32_t connect_timeout_ms = 0, total_timeout_ms = 0, read_timeout_ms = 0, idle_timeout_ms = 0;
  uint64_t response_body_max = 0;
  detent_task task = 0;
  std::vector<std::string> allow, deny;  // CIDRs; both empty: the host's policy alone
  std::string tls_ca_pem, tls_server_name, proxy;
};

// Borrowed for the callback; copy what you keep, or take the body() Buffer.
class HttpResponse {
 public:
  HttpResponse(const detent_host* host, const detent_http_response& raw) : host_(host), raw_(raw) {}

  const detent_http_response& raw() const { return raw_; }
  detent_status code() const { return raw_.code; }
  uint32_t http_status() const { return raw_.http_status; }
  bool Has(uint32_t flag) const { return (raw_.flags & flag) != 0; }
  std::string_view reason() const { return View(raw_.reason); }
  std::string_view message() const { return View(raw_.message); }
  Buffer body() const { return Buffer::Retain(host_, raw_.body); }

  // The first header of that name, in any case; empty if there is none.
  std::string_view Header(std::string_view name) const {
    for (uint32_t i = 0; i < raw_.header_count; ++i) {
      if (SameName(View(raw_.headers[i]->name), name)) return View(raw_.headers[i]->value);
    }
    return {};
  }

 private:
  static bool SameName(std::string_view a, std::string_view b) {
    const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c; };
    if (a.size() != b.size()) return false;
    for (size_t i = 0; i < a.size(); ++i) {
      if (lower(a[i]) != lower(b[i])) return false;
    }
    return true;
  }

  const detent_host* host_;
  const detent_http_response& raw_;
};

using HttpCallback = Callback<const HttpResponse&>;

class HttpCall {
 public:
  HttpCall() = default;
  HttpCall(HttpCall&&) noexcept = default;
  HttpCall& operator=(HttpCall&& other) noexcept {
    Abandon();
    held_ = std::move(other.held_);
    return *this;
  }
  ~HttpCall() { Abandon(); }

  // Whether the callback is still to come.
  bool active() const { return held_ != nullptr && !held_->over; }

  // Asks for an early end; the callback still comes.
  void Cancel() {
    if (active()) held_->api->cancel(held_->host.instance(), held_->request);
  }

  // Sends. Not OK: refused at once, and the callback does not come. The answer's own failures come
  // through the callback.
  static Result<HttpCall> Send(const Host& host, const HttpRequest& request, HttpCallback done);

 private:
  struct Held {
    Host host;
    const detent_http* api = nullptr;
    HttpCallback done;
    detent_op request = 0;
    bool over = false;
  };

  void Abandon() {
    if (!held_) return;
    held_->done = nullptr;
    Cancel();
    held_.reset();
  }

  static void Answered(void* ctx, const detent_http_response* raw) noexcept {
    const std::unique_ptr<std::shared_ptr<Held>> owner(static_cast<std::shared_ptr<Held>*>(ctx));
    Held& held = **owner;
    held.over = true;
    HttpCallback done = std::move(held.done);
    const HttpResponse response(held.host.table(), *raw);
    border::Guarded(held.host.table(), held.host.instance(), [&] { done(response); });
  }

  std::shared_ptr<Held> held_;
};

namespace border {

// The C form of a request; borrows from it.
class HttpArguments {
 public:
  explicit HttpArguments(const HttpRequest& from) {
    for (const auto& [name, value] : from.headers) {
      headers_.push_back({sizeof(detent_http_header), 0, Str(name), Str(value)});
    }
    for (const auto& header : headers_) header_list_.push_back(&header);
    Texts(from.allow, allow_, allow_list_);
    Texts(from.deny, deny_, deny_list_);
    policy_ = {sizeof(policy_),   static_cast<uint32_t>(allow_.size()), allow_list_.data(),
               deny_list_.data(), static_cast<uint32_t>(deny_.size()),  0};
    raw_.size = sizeof(raw_);
    raw_.flags = from.flags;
    raw_.method = Str(from.method);
    raw_.url = Str(from.url);
    raw_.headers = header_list_.data();
    raw_.header_count = static_cast<uint32_t>(header_list_.size());
    raw_.version = from.version;
    raw_.body = Bytes(from.body);
    raw_.connect_timeout_ms = from.connect_timeout_ms;
    raw_.total_timeout_ms = from.total_timeout_ms;
    raw_.read_timeout_ms = from.read_timeout_ms;
    raw_.idle_timeout_ms = from.idle_timeout_ms;
    raw_.response_body_max = from.response_body_max;
    raw_.task = from.task;
    raw_.policy = from.allow.empty() && from.deny.empty() ? nullptr : &policy_;
    raw_.tls_ca_pem = Bytes(from.tls_ca_pem);
    raw_.tls_server_name = Str(from.tls_server_name);
    raw_.proxy = Str(from.proxy);
  }
  HttpArguments(const HttpArguments&) = delete;
  HttpArguments& operator=(const HttpArguments&) = delete;

  const detent_http_request* raw() const { return &raw_; }

 private:
  static void Texts(const std::vector<std::string>& from, std::vector<detent_str>& views,
                    std::vector<const detent_str*>& list) {
    for (const std::string& text : from) views.push_back(Str(text));
    for (const detent_str& view : views) list.push_back(&view);
  }

  std::vector<detent_http_header> headers_;
  std::vector<const detent_http_header*> header_list_;
  std::vector<detent_str> allow_, deny_;
  std::vector<const detent_str*> allow_list_, deny_list_;
  detent_http_policy policy_{};
  detent_http_request raw_{};
};

}  // namespace border

inline Result<HttpCall> HttpCall::Send(const Host& host, const HttpRequest& request,
                                       HttpCallback done) {
  const auto* api = host.Service<detent_http>(DETENT_SVC_HTTP);
  if (api == nullptr) return Status(DETENT_E_UNSUPPORTED, "NoHttp", "the host has no HTTP");
  const border::HttpArguments arguments(request);
  HttpCall call;
  call.held_ = std::make_shared<Held>(Held{host, api, std::move(done)});
  auto owner = std::make_unique<std::shared_ptr<Held>>(call.held_);
  const detent_status code = api->request(host.instance(), arguments.raw(), &HttpCall::Answered,
                                          owner.get(), &call.held_->request);
  if (code != DETENT_OK) {
    call.held_->over = true;
    return Status(code, "RequestRefused", "the host did not take the HTTP request");
  }
  owner.release();
  return call;
}

}  // namespace detent::sdk
