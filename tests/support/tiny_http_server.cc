#include "tests/support/tiny_http_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace detent::testing {
namespace {

size_t LengthIn(const std::string& head) {
  const char* found = strcasestr(head.c_str(), "content-length:");
  return found == nullptr ? 0 : static_cast<size_t>(std::strtoull(found + 15, nullptr, 10));
}

int Listen(const std::string& unix_path, int& port) {
  if (!unix_path.empty()) {
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, unix_path.c_str(), sizeof address.sun_path - 1);
    unlink(unix_path.c_str());
    if (bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) std::abort();
    listen(fd, 4096);
    return fd;
  }
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) std::abort();
  listen(fd, 4096);
  socklen_t size = sizeof address;
  getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size);
  port = ntohs(address.sin_port);
  return fd;
}

void Add(int epoll, int fd) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = fd;
  epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
}

}  // namespace

TinyAnswer Respond(int status, const std::string& body, const std::string& fields) {
  return {"HTTP/1.1 " + std::to_string(status) + " Some Reason\r\nContent-Length: " +
          std::to_string(body.size()) + "\r\n" + fields + "\r\n" + body};
}

TinyHttpServer::TinyHttpServer(Handler handler, const std::string& unix_path)
    : handler_(std::move(handler)), unix_path_(unix_path) {
  listener_ = Listen(unix_path, port_);
  epoll_ = epoll_create1(EPOLL_CLOEXEC);
  wake_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  Add(epoll_, listener_);
  Add(epoll_, wake_);
  thread_ = std::thread([this] { Run(); });
}

TinyHttpServer::~TinyHttpServer() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = write(wake_, &one, sizeof one);
  thread_.join();
  for (auto& [fd, connection] : connections_) close(fd);
  close(listener_);
  close(wake_);
  close(epoll_);
  if (!unix_path_.empty()) unlink(unix_path_.c_str());
}

std::string TinyHttpServer::Url(const std::string& target) const {
  return "http://127.0.0.1:" + std::to_string(port_) + target;
}

TinyCounts TinyHttpServer::counts() const {
  std::lock_guard lock(mutex_);
  return counts_;
}

bool TinyHttpServer::WaitFor(const std::function<bool(const TinyCounts&)>& holds) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, std::chrono::seconds(10), [&] { return holds(counts_); });
}

void TinyHttpServer::ReleaseHeld(const TinyAnswer& answer) {
  {
    std::lock_guard lock(mutex_);
    release_ = answer;
    release_asked_ = true;
  }
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = write(wake_, &one, sizeof one);
}

void TinyHttpServer::Count(const std::function<void(TinyCounts&)>& change) {
  {
    std::lock_guard lock(mutex_);
    change(counts_);
  }
  changed_.notify_all();
}

void TinyHttpServer::Accept() {
  while (true) {
    const int fd = accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0) return;
    const int one = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    connections_[fd] = {};
    Add(epoll_, fd);
    Count([](TinyCounts& counts) { ++counts.connections; });
  }
}

void TinyHttpServer::Drop(int fd, bool reset) {
  const bool held = connections_[fd].held;
  connections_.erase(fd);
  close(fd);
  Count([&](TinyCounts& counts) {
    reset ? ++counts.resets : ++counts.ended;
    if (held) --counts.held;
  });
}

void TinyHttpServer::Flush(int fd, Connection& connection) {
  while (!connection.out.empty()) {
    const ssize_t sent = send(fd, connection.out.data(), connection.out.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EAGAIN) {
      epoll_event event{};
      event.events = EPOLLIN | EPOLLOUT;
      event.data.fd = fd;
      epoll_ctl(epoll_, EPOLL_CTL_MOD, fd, &event);
      return;
    }
    if (sent < 0) return;
    connection.out.erase(0, static_cast<size_t>(sent));
  }
  if (connection.close) {
    connections_.erase(fd);
    close(fd);
  }
}

void TinyHttpServer::Answer(int fd, Connection& connection, const TinyAnswer& answer) {
  connection.out += answer.bytes;
  connection.close = answer.close;
  Flush(fd, connection);
}

// Takes one request out of what has arrived; false where it is not whole yet.
bool TinyHttpServer::TakeRequest(int fd, Connection& connection) {
  const size_t end = connection.in.find("\r\n\r\n");
  if (end == std::string::npos) return false;
  const std::string head = connection.in.substr(0, end + 4);
  const size_t length = LengthIn(head);
  if (connection.in.size() < end + 4 + length) return false;
  TinyRequest request;
  request.head = head;
  request.body = connection.in.substr(end + 4, length);
  connection.in.erase(0, end + 4 + length);
  request.method = head.substr(0, head.find(' '));
  const size_t target = request.method.size() + 1;
  request.target = head.substr(target, head.find(' ', target) - target);
  const TinyAnswer answer = handler_(request);
  connection.held = answer.hold;
  Count([&](TinyCounts& counts) {
    ++counts.requests;
    if (answer.hold) ++counts.held;
  });
  if (answer.hold && answer.bytes.empty()) return false;
  Answer(fd, connection, answer);
  return connections_.count(fd) > 0;
}

void TinyHttpServer::OnReadable(int fd) {
  Connection& connection = connections_[fd];
  std::array<char, 65536> buffer;
  const ssize_t got = recv(fd, buffer.data(), buffer.size(), 0);
  if (got < 0 && errno == EAGAIN) return;
  if (got <= 0) return Drop(fd, got < 0);
  connection.in.append(buffer.data(), static_cast<size_t>(got));
  while (TakeRequest(fd, connection)) {
  }
}

void TinyHttpServer::Run() {
  std::array<epoll_event, 256> events;
  while (true) {
    const int count = epoll_wait(epoll_, events.data(), events.size(), -1);
    for (int i = 0; i < count; ++i) {
      const int fd = events[static_cast<size_t>(i)].data.fd;
      if (fd == listener_) {
        Accept();
      } else if (fd == wake_) {
        uint64_t ignored = 0;
        [[maybe_unused]] const ssize_t got = read(wake_, &ignored, sizeof ignored);
      } else if (connections_.count(fd) > 0) {
        if (!connections_[fd].out.empty()) Flush(fd, connections_[fd]);
        if (connections_.count(fd) > 0) OnReadable(fd);
      }
    }
    std::vector<int> held;
    TinyAnswer answer;
    {
      std::lock_guard lock(mutex_);
      if (stopping_) return;
      if (!release_asked_) continue;
      release_asked_ = false;
      answer = release_;
      counts_.held = 0;
    }
    for (auto& [fd, connection] : connections_) {
      if (connection.held) held.push_back(fd);
    }
    for (const int fd : held) {
      connections_[fd].held = false;
      Answer(fd, connections_[fd], answer);
    }
  }
}

}  // namespace detent::testing
