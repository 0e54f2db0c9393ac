// An HTTP/1.1 server for tests: one thread, raw sockets, and answers that are as wrong as a test
// wants them.
//
// Binds 127.0.0.1 on a free port, or a unix socket. The handler runs on the server's thread. Counts
// what a client can only claim: connections, and how each of them ended.

#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>

namespace detent::testing {

struct TinyRequest {
  std::string method;
  std::string target;
  std::string head;  // The request line and the header fields, as they came.
  std::string body;
};

struct TinyAnswer {
  std::string bytes;   // Sent as they are: status line, header fields, body.
  bool hold = false;   // Nothing is sent until ReleaseHeld.
  bool close = false;  // The connection is closed behind it.
};

// A whole response with Content-Length.
TinyAnswer Respond(int status, const std::string& body, const std::string& fields = "");

struct TinyCounts {
  int connections = 0;
  int requests = 0;
  int held = 0;    // At present.
  int ended = 0;   // Connections that the client closed in order (FIN).
  int resets = 0;  // Connections that the client broke (RST).
};

class TinyHttpServer {
 public:
  using Handler = std::function<TinyAnswer(const TinyRequest&)>;
  explicit TinyHttpServer(Handler handler, const std::string& unix_path = "");
  ~TinyHttpServer();
  TinyHttpServer(const TinyHttpServer&) = delete;
  TinyHttpServer& operator=(const TinyHttpServer&) = delete;

  int port() const { return port_; }
  std::string Url(const std::string& target = "/") const;
  TinyCounts counts() const;

  // Waits until `holds` is true of the counts; false after ten seconds.
  bool WaitFor(const std::function<bool(const TinyCounts&)>& holds);

  // Answers everything that is held, with this.
  void ReleaseHeld(const TinyAnswer& answer);

 private:
  struct Connection {
    std::string in;
    std::string out;
    bool held = false;
    bool close = false;
  };
  void Run();
  void Accept();
  void OnReadable(int fd);
  bool TakeRequest(int fd, Connection& connection);
  void Answer(int fd, Connection& connection, const TinyAnswer& answer);
  void Flush(int fd, Connection& connection);
  void Drop(int fd, bool reset);
  void Count(const std::function<void(TinyCounts&)>& change);

  Handler handler_;
  std::string unix_path_;
  int listener_ = -1, epoll_ = -1, wake_ = -1;
  int port_ = 0;
  std::map<int, Connection> connections_;  // The server's thread only.
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  TinyCounts counts_;           // Guarded by mutex_.
  TinyAnswer release_;          // Guarded by mutex_.
  bool release_asked_ = false;  // Guarded by mutex_.
  bool stopping_ = false;       // Guarded by mutex_.
  std::thread thread_;
};

}  // namespace detent::testing
