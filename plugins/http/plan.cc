#include "plugins/http/plan.h"

#include "detent/sdk/text.h"
#include "plugins/http/url.h"

namespace detent::http {

Plan::Plan(const HttpSpec& spec, const HttpConfig& config)
    : wire_(ToWire(spec, config.user_agent)),
      host_(HostOf(wire_.url)),
      format_(spec.format),
      rerun_safe_(IsRerunSafe(spec)) {
  headers_.reserve(wire_.headers.size());
  header_list_.reserve(wire_.headers.size());
  for (const NameValue& header : wire_.headers) {
    headers_.push_back(
        {sizeof(detent_http_header), 0, sdk::Str(header.name), sdk::Str(header.value)});
    header_list_.push_back(&headers_.back());
  }
  request_.size = sizeof(request_);
  request_.flags = (config.fresh_connections ? DETENT_HTTP_FRESH_CONNECTION : 0u) |
                   (wire_.decode ? DETENT_HTTP_DECODE : 0u);
  request_.method = sdk::Str(wire_.method);
  request_.url = sdk::Str(wire_.url);
  request_.headers = header_list_.data();
  request_.header_count = static_cast<uint32_t>(header_list_.size());
  // Cancelling an exchange of HTTP/1.1 closes its connection, which is what a kill promises; a
  // stream of HTTP/2 shares its connection with others.
  request_.version = DETENT_HTTP_VERSION_1_1;
  request_.body = sdk::Bytes(wire_.body);
  request_.connect_timeout_ms = spec.connect_ms;
  request_.total_timeout_ms = spec.total_ms;
  request_.read_timeout_ms = spec.read_ms;
  request_.idle_timeout_ms = spec.socket_ms;
  request_.response_body_max = spec.max_bytes;
  FillPolicy(config);
}

void Plan::FillPolicy(const HttpConfig& config) {
  if (config.allow.empty() && config.deny.empty()) return;
  networks_ = config.allow;
  networks_.insert(networks_.end(), config.deny.begin(), config.deny.end());
  for (const std::string& network : networks_) network_views_.push_back(sdk::Str(network));
  for (const detent_str& view : network_views_) network_list_.push_back(&view);
  policy_.size = sizeof(policy_);
  policy_.allow = network_list_.data();
  policy_.allow_count = static_cast<uint32_t>(config.allow.size());
  policy_.deny = network_list_.data() + config.allow.size();
  policy_.deny_count = static_cast<uint32_t>(config.deny.size());
  request_.policy = &policy_;
}

}  // namespace detent::http
