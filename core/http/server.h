// The HTTP server: listens on TCP, TLS and Unix sockets, and hands each request to one function.
//
// One thread serves one connection, made when a client comes and given back when it has gone, so
// that an idle server has a thread per listener and one for housekeeping. server*.cc are the only
// files that include Poco::Net.

#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/base/limits.h"
#include "core/base/log.h"
#include "core/base/result.h"
#include "core/http/request.h"

namespace detent {

// PEM files. With `client_ca` every client must show a certificate that it signed.
struct TlsFiles {
  std::string certificate;
  std::string key;
  std::string client_ca;
};

// A certificate with the chain to its authority behind it, and its key, as PEM texts.
struct TlsPem {
  std::string certificate;
  std::string key;
};

struct ListenAddress {
  std::string address;             // "127.0.0.1:7420", "[::1]:0", or "unix:/run/detent.sock".
  std::optional<TlsFiles> tls;     // Of TCP.
  std::optional<TlsPem> pem = {};  // Of TCP, in place of `tls`; Renew replaces it.
  // Of TCP: whoever can reach it may ask, without a token. For what tells nobody anything and
  // changes nothing.
  bool open = false;
};

struct ServerOptions {
  std::vector<ListenAddress> listeners = {{"127.0.0.1:7420", std::nullopt}};
  // Clients on TCP must show its content as a bearer token. A Unix socket is guarded by its file's
  // mode (0600), and a client certificate stands for a token.
  std::string token_file;
  int connections_max = 128;  // One more is answered 429.
  size_t request_bytes_max = limits::kRequestBytes;
  // A request must have arrived whole after this time.
  std::chrono::milliseconds request_timeout{30'000};
  // A client that takes nothing for this long is dropped.
  std::chrono::milliseconds send_timeout{30'000};
  std::chrono::milliseconds idle_timeout{60'000};  // Between two requests of a connection.
};

class Server {
 public:
  // Binds everything, then begins to serve. `handler` is called by many threads; it, `clock` and
  // `logger` must outlive the server. kInvalid: a bad address or unreadable file, or an address
  // that is not loopback, not open, and has neither a token file nor a client CA. kUnavailable: it
  // is taken.
  static Result<std::unique_ptr<Server>> Start(ServerOptions options, Handler handler,
                                               const Clock& clock, Logger* logger);
  ~Server();  // Stops.
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // "http://127.0.0.1:41233", "https://...", "unix:/...": one for each listener, with real ports.
  const std::vector<std::string>& urls() const;

  // Connections to that listener, which must have been given a TlsPem, show `pem` from now on;
  // those that there are go on as they began. kInvalid: it cannot be used, and nothing has changed.
  // Any thread.
  Result<void> Renew(size_t listener, const TlsPem& pem);

  // Stops listening, ends streams and idle connections at once, gives other requests two seconds,
  // and returns when all threads are gone. Not from a handler.
  void Stop();

 private:
  struct State;
  explicit Server(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace detent
