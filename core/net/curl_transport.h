// The transport over libcurl: one thread, one multi handle, connections kept alive. The first
// request loads the library and starts the thread. Where there is no library to load, each request
// ends with kConnectFailed and a message that says what to install.
//
// Requests beyond `max_connections` wait in the transport's own queue, in their order. The
// destructor cancels what is under way, calls every callback, and joins the thread.

#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>

#include "core/base/clock.h"
#include "core/net/transport.h"

namespace detent {

class CurlLoop;

struct CurlTransportOptions {
  size_t max_connections = 1000;  // Transfers at a time, and idle connections kept.
  size_t max_per_host = 0;        // Transfers at a time to one host and port; 0: no limit.
  size_t max_header_bytes = 64 * 1024;
  // While at least `crowd` requests are under way, those with on_body aside, the thread lets
  // `crowd_pause` go by between two turns. A turn then takes in many answers, which costs less than
  // a turn for each: of requests that share a connection, every one is looked at in every turn.
  size_t crowd = 0;  // 0: no pauses.
  std::chrono::milliseconds crowd_pause{0};
  EgressPolicy egress;  // Holds for every request, besides the request's own.
  std::string proxy;    // "http://host:port"; empty: none, whatever the environment says.
};

class CurlTransport final : public HttpTransport {
 public:
  // `clock` is borrowed.
  CurlTransport(CurlTransportOptions options, const Clock& clock);
  ~CurlTransport() override;

  uint64_t Send(HttpRequest request, HttpCallback callback) override;
  void Cancel(uint64_t id) override;

  // Runs `task` on the transport's thread once it is `at`, for what goes with requests: repeating
  // one later, say. Tasks that are not due when the transport is destroyed are dropped. Throws as
  // Send does.
  void RunAt(MonoTime at, std::function<void()> task);

 private:
  CurlLoop& Begun();
  const CurlTransportOptions options_;
  const Clock& clock_;
  std::mutex begin_mutex_;
  std::unique_ptr<CurlLoop> loop_;  // Made for the first request, with its thread.
  std::atomic<CurlLoop*> begun_{nullptr};
};

}  // namespace detent
