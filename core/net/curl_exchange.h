// One exchange on its way through libcurl: the request, what has come back, and the easy handle
// that carries it. The transport's thread only.
//
// Easy handles outlive exchanges: a handle keeps the options of the last request, and only what
// differs is set again, because resetting one costs more than a small request does.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/net/socket_ports.h"
#include "core/net/transport.h"

struct curl_slist;

namespace detent {

struct CurlLimits {
  size_t max_header_bytes = 0;
  const EgressPolicy* egress = nullptr;
  std::string proxy;
};

struct CurlExchange {
  uint64_t id = 0;
  HttpRequest request;
  HttpReply reply;
  HttpCallback callback;
  std::string host_key;  // "host:port", where the transport limits requests per host.

  // Written by libcurl's callbacks.
  int requests_begun = 0;  // More than one: libcurl is about to send again.
  bool denied = false;
  bool withheld = false;
  bool would_resend = false;
  bool headers_too_large = false;
  bool succeeds = false;  // The status line said 2xx.
  SocketPorts ports;      // Of the connection that carries it.

  // For the timeouts that libcurl does not have.
  HttpOutcome stopped_as = HttpOutcome::kOk;  // Set where the transport ended it.
  uint64_t progress = 0;                      // Bytes in either direction so far.
  MonoTime progress_at{};
  uint64_t received = 0;
  MonoTime begun_at{};  // Of one that may share its connection.
};

// Of a request that leaves it open: the default.
std::chrono::milliseconds ConnectTimeoutOf(const HttpRequest& request);

// Opened and closed sockets, told to the transport. `socket` is a file descriptor.
class CurlSockets {
 public:
  virtual ~CurlSockets() = default;
  virtual void OnOpen(int socket, uint64_t exchange) = 0;
  virtual void OnClose(int socket) = 0;
};

class CurlHandle {
 public:
  CurlHandle(const CurlLimits& limits, CurlSockets& sockets);
  ~CurlHandle();
  CurlHandle(const CurlHandle&) = delete;
  CurlHandle& operator=(const CurlHandle&) = delete;

  // Sets what `exchange` needs; it is borrowed until Finish. False: libcurl refused an option.
  bool Begin(CurlExchange& exchange);

  // Fills exchange.reply from how the transfer ended (a CURLcode).
  void Finish(int curl_code);

  // Bytes sent and received so far, for the timeouts.
  uint64_t Progress() const;

  void* easy() const { return easy_; }
  CurlExchange* exchange() const { return exchange_; }

 private:
  struct Hooks;
  void SetOnce();
  bool SetUrl(const HttpRequest& request);
  bool SetMethod(const HttpRequest& request);
  bool SetHeaders(const HttpRequest& request);
  bool SetRest(const HttpRequest& request);
  int SetTls(const HttpTls* tls);  // A CURLcode.
  bool PolicyPermits(const char* address) const;
  void FillOutcome(int curl_code);
  void FillFacts();
  HttpOutcome TimedOut() const;

  const CurlLimits& limits_;
  CurlSockets& sockets_;
  void* easy_ = nullptr;
  curl_slist* header_list_ = nullptr;
  // Where the server is asked for by another name than the URL's, or null and empty.
  curl_slist* connect_to_ = nullptr;
  std::string host_;  // What the header Host says all the same.
  CurlExchange* exchange_ = nullptr;
  HttpRequest applied_;  // The options that the handle has at present (without its body).
  bool applied_any_ = false;
  bool applied_body_ = false;
  bool applied_list_body_ = false;
  bool applied_alone_ = false;
  std::chrono::milliseconds applied_total_{0};
  std::string applied_list_host_;
  char error_[256] = {};
};

}  // namespace detent
