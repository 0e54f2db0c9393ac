// Plan: a request that is ready to be sent any number of times, and what its answers are judged by.
// Tasks of one Job often have the same spec, so it is made once and then shared. Immutable; any
// thread.

#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "detent/services/http.h"
#include "plugins/http/spec.h"
#include "plugins/http/wire.h"

namespace detent::http {

class Plan {
 public:
  // spec: without errors.
  Plan(const HttpSpec& spec, const HttpConfig& config);
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;

  // As detent.http/1 takes it, with `task` left 0. Borrows from this.
  const detent_http_request& request() const { return request_; }

  const std::string& method() const { return wire_.method; }
  std::string_view host() const { return host_; }  // with the port, as written
  Format format() const { return format_; }
  bool rerun_safe() const { return rerun_safe_; }

 private:
  void FillPolicy(const HttpConfig& config);

  WireRequest wire_;
  std::string_view host_;
  Format format_;
  bool rerun_safe_;
  std::vector<std::string> networks_;
  std::vector<detent_str> network_views_;
  std::vector<const detent_str*> network_list_;
  std::vector<detent_http_header> headers_;
  std::vector<const detent_http_header*> header_list_;
  detent_http_policy policy_{};
  detent_http_request request_{};
};

}  // namespace detent::http
