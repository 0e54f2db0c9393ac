// Listens on the loopback for servers of tests: a thread for each connection.

#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace detent::testing {

// Accepts on 127.0.0.1, on this port or a free one, and runs `serve` for each connection on a
// thread of its own. The destructor breaks every connection and joins.
class ThreadedListener {
 public:
  explicit ThreadedListener(std::function<void(int fd)> serve, int port = 0);
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

// The bytes of an HTTP/1 head with the empty line behind it; empty if it does not come.
std::string HeadFrom(const std::function<int(char* at, int size)>& read);

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
