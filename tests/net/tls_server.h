// An HTTPS server for tests, with certificates of its own making: a thread for each connection, one
// answer for each request. Speaks HTTP/1.1, and HTTP/2 where it is told to.
//
// Binds 127.0.0.1 on a free port. The destructor closes every connection and joins.

#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace detent::testing {

struct Identity {
  std::string ca_pem;           // The authority that signed the certificate.
  std::string certificate_pem;  // Of the server.
  std::string key_pem;
};

// A new authority, and a certificate by it for these names ("IP:127.0.0.1,DNS:localhost").
Identity MakeIdentity(const std::string& names);

// Accepts on 127.0.0.1 and runs `serve` for each connection, on a thread of its own.
class ThreadedListener {
 public:
  explicit ThreadedListener(std::function<void(int fd)> serve);
  ~ThreadedListener();
  ThreadedListener(const ThreadedListener&) = delete;
  ThreadedListener& operator=(const ThreadedListener&) = delete;

  int port() const { return port_; }

 private:
  void Accept();

  const std::function<void(int)> serve_;
  int listener_ = -1;
  int port_ = 0;
  std::mutex mutex_;
  std::vector<int> open_;             // Guarded by mutex_, as is workers_.
  std::vector<std::thread> workers_;  // Each closes its own descriptor only when all are joined.
  std::thread thread_;
};

class TlsServer {
 public:
  // With `http2` the server agrees to h2 where the client offers it.
  explicit TlsServer(const Identity& identity, bool http2 = false);
  ~TlsServer();

  std::string Url(const std::string& host = "127.0.0.1") const;
  int port() const { return listener_->port(); }
  int requests() const;
  int connections() const;  // That got through the handshake.

 private:
  struct Context;
  std::unique_ptr<Context> context_;
  std::unique_ptr<ThreadedListener> listener_;
};

// A proxy that opens tunnels (CONNECT) and nothing else.
class TunnelProxy {
 public:
  TunnelProxy();
  std::string Url() const { return "http://127.0.0.1:" + std::to_string(listener_->port()); }
  // "127.0.0.1:4711" of each tunnel asked for.
  std::vector<std::string> targets() const;

 private:
  void Serve(int fd);
  mutable std::mutex mutex_;
  std::vector<std::string> targets_;  // Guarded by mutex_.
  std::unique_ptr<ThreadedListener> listener_;
};

}  // namespace detent::testing
