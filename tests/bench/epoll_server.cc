// The backend of the figures: an HTTP/1.1 server of one thread that costs as little as it can, so
// that what is measured is the client. Prints its port; ends when its standard input does.
//
//   /hang...   is never answered
//   /_stats    {"requests", "hanging", "first_ns", "last_ns", "arrivals": the first 10,000}
//   /_reset    forgets all of that
//   other      200 with a body of two bytes; counted
//
// Arrivals are of the monotonic clock, which other processes of the machine share.

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace detent::bench {
namespace {

constexpr size_t kArrivalsKept = 10'000;
constexpr int kEventsMax = 256;

int64_t NowNs() {
  return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}

std::string Response(std::string_view body) {
  return "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: " +
         std::to_string(body.size()) + "\r\n\r\n" + std::string(body);
}

class EpollServer {
 public:
  bool Listen();
  void Run();

 private:
  struct Connection {
    std::string in;
    std::string out;
    bool writing = false;
  };

  void Accept();
  void Serve(int fd, uint32_t events);
  bool ReadFrom(int fd, Connection& connection);
  bool WriteTo(int fd, Connection& connection);
  void Answer(Connection& connection, std::string_view path);
  std::string Stats() const;
  void Close(int fd);

  int listener_ = -1;
  int epoll_ = -1;
  std::map<int, Connection> connections_;
  const std::string plain_ = Response("{}");
  int64_t requests_ = 0, hanging_ = 0, first_ns_ = 0, last_ns_ = 0;
  std::vector<int64_t> arrivals_;
};

bool EpollServer::Listen() {
  listener_ = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const name = reinterpret_cast<sockaddr*>(&address);
  if (bind(listener_, name, size) != 0 || listen(listener_, 4096) != 0) return false;
  getsockname(listener_, name, &size);
  epoll_ = epoll_create1(EPOLL_CLOEXEC);
  for (const int fd : {listener_, STDIN_FILENO}) {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.fd = fd;
    if (epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event) != 0) return false;
  }
  std::printf("%d\n", ntohs(address.sin_port));
  std::fflush(stdout);
  return true;
}

void EpollServer::Run() {
  epoll_event events[kEventsMax];
  for (;;) {
    const int count = epoll_wait(epoll_, events, kEventsMax, -1);
    for (int i = 0; i < count; ++i) {
      const int fd = events[i].data.fd;
      if (fd == STDIN_FILENO) {
        char ignored[64];
        if (read(fd, ignored, sizeof ignored) <= 0) return;
      } else if (fd == listener_) {
        Accept();
      } else {
        Serve(fd, events[i].events);
      }
    }
  }
}

void EpollServer::Accept() {
  for (;;) {
    const int fd = accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0) return;
    const int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.fd = fd;
    epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event);
    connections_[fd];
  }
}

void EpollServer::Serve(int fd, uint32_t events) {
  Connection& connection = connections_[fd];
  if ((events & ~uint32_t{EPOLLOUT}) != 0 && !ReadFrom(fd, connection)) return Close(fd);
  if (!connection.out.empty() && !WriteTo(fd, connection)) Close(fd);
}

// Takes what has come and answers each request that is whole. Requests have no body.
bool EpollServer::ReadFrom(int fd, Connection& connection) {
  char buffer[16 * 1024];
  const ssize_t got = read(fd, buffer, sizeof buffer);
  if (got == 0 || (got < 0 && errno != EAGAIN)) return false;
  if (got > 0) connection.in.append(buffer, static_cast<size_t>(got));
  for (;;) {
    const size_t end = connection.in.find("\r\n\r\n");
    if (end == std::string::npos) return true;
    const size_t from = connection.in.find(' ');
    const size_t to = connection.in.find(' ', from + 1);
    if (from == std::string::npos || to == std::string::npos || to > end) return false;
    Answer(connection, std::string_view(connection.in).substr(from + 1, to - from - 1));
    connection.in.erase(0, end + 4);
  }
}

void EpollServer::Answer(Connection& connection, std::string_view path) {
  if (path == "/_stats") {
    connection.out += Response(Stats());
    return;
  }
  if (path == "/_reset") {
    requests_ = hanging_ = first_ns_ = last_ns_ = 0;
    arrivals_.clear();
    connection.out += plain_;
    return;
  }
  last_ns_ = NowNs();
  if (requests_++ == 0) first_ns_ = last_ns_;
  if (arrivals_.size() < kArrivalsKept) arrivals_.push_back(last_ns_);
  if (path.starts_with("/hang")) {
    ++hanging_;
  } else {
    connection.out += plain_;
  }
}

std::string EpollServer::Stats() const {
  std::string text = "{\"requests\":" + std::to_string(requests_) +
                     ",\"hanging\":" + std::to_string(hanging_) +
                     ",\"first_ns\":" + std::to_string(first_ns_) +
                     ",\"last_ns\":" + std::to_string(last_ns_) + ",\"arrivals\":[";
  for (size_t i = 0; i < arrivals_.size(); ++i) {
    text += (i > 0 ? "," : "") + std::to_string(arrivals_[i]);
  }
  return text + "]}";
}

bool EpollServer::WriteTo(int fd, Connection& connection) {
  const ssize_t put = send(fd, connection.out.data(), connection.out.size(), MSG_NOSIGNAL);
  if (put < 0 && errno != EAGAIN) return false;
  if (put > 0) connection.out.erase(0, static_cast<size_t>(put));
  const bool writing = !connection.out.empty();
  if (writing == connection.writing) return true;
  connection.writing = writing;
  epoll_event event{};
  event.events = EPOLLIN | (writing ? uint32_t{EPOLLOUT} : 0);
  event.data.fd = fd;
  return epoll_ctl(epoll_, EPOLL_CTL_MOD, fd, &event) == 0;
}

void EpollServer::Close(int fd) {
  close(fd);
  connections_.erase(fd);
}

}  // namespace
}  // namespace detent::bench

int main() {
  detent::bench::EpollServer server;
  if (!server.Listen()) {
    std::perror("epoll_server");
    return 1;
  }
  server.Run();
  return 0;
}
