// An HTTPS server for tests: HTTP/1.1, and HTTP/2 where it is told to; a thread for each
// connection.
//
// Binds 127.0.0.1 on a free port. The handler runs on the connection's thread: one that blocks
// stalls the whole connection. The destructor closes every connection and joins.

#pragma once

#include <memory>
#include <string>

#include "tests/net/served_connection.h"
#include "tests/net/test_identity.h"
#include "tests/net/threaded_listener.h"

namespace detent::testing {

struct TlsServerOptions {
  bool http2 = false;         // Agrees to h2 where the client offers it.
  std::string client_ca_pem;  // Who signs clients' certificates; they must show one. Empty: none.
  int port = 0;               // 0: a free one.
};

class TlsServer {
 public:
  // Answers everything with "secret".
  explicit TlsServer(const Identity& identity, bool http2 = false);
  TlsServer(const Identity& identity, TlsServerOptions options, ServedHandler handler);
  ~TlsServer();

  // For connections from now on.
  void SetIdentity(const Identity& identity);

  std::string Url(const std::string& host = "127.0.0.1") const;
  int port() const { return listener_->port(); }
  int requests() const;
  int connections() const;  // That got through the handshake.

 private:
  struct Context;
  std::unique_ptr<Context> context_;
  std::unique_ptr<ThreadedListener> listener_;
};

}  // namespace detent::testing
