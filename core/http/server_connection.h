// One connection of the server, from its first byte to its last, and the list of all that are
// open. Internal to the server.

#pragma once

#include <sys/socket.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/http/authorization.h"
#include "core/http/request.h"
#include "core/http/server.h"
#include "core/http/server_tls.h"

namespace Poco::Net {
class StreamSocket;
}

namespace detent {

// The open connections by their sockets, so that others can end them. Any thread.
class OpenConnections {
 public:
  using Id = uint64_t;

  Id Add(int socket);
  // The socket must still be open: nobody else may have got its number.
  void Remove(Id id);
  // From here on a request is being read; or (nullopt) is not.
  void SetReading(Id id, std::optional<MonoTime> since);

  int count() const;
  // Ends those whose request began to arrive before `since` and is not whole yet.
  void EndLate(MonoTime since);
  // `how` is of shutdown(2): SHUT_RD lets answers out, SHUT_RDWR ends everything.
  void EndAll(int how);
  // False if there still are some after `timeout`.
  bool WaitUntilNone(std::chrono::milliseconds timeout);

 private:
  struct Connection {
    int socket = -1;
    std::optional<MonoTime> reading_since;
  };
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<Id, Connection> connections_;  // Guarded by mutex_.
  Id last_id_ = 0;
};

// What all connections of a server work with.
struct ServerCore {
  ServerOptions options;
  Handler handler;
  const Clock* clock = nullptr;
  Logger* logger = nullptr;  // May be null.
  std::optional<TokenFile> tokens;
  std::atomic<bool> stopping{false};
  OpenConnections connections;
};

// What the connections of one listener have in common.
struct ListenerRules {
  bool trusted = false;            // See Request.
  bool open = false;               // See ListenAddress.
  std::unique_ptr<ServerTls> tls;  // Null: none.
};

// Serves requests until the client or the server ends it.
void ServeConnection(Poco::Net::StreamSocket& socket, const ListenerRules& rules, ServerCore& core);

}  // namespace detent
