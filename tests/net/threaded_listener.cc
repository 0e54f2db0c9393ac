#include "tests/net/threaded_listener.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

namespace detent::testing {

std::string HeadFrom(const std::function<int(char*, int)>& read) {
  std::string head;
  char byte = 0;
  while (head.size() < 16384 && head.find("\r\n\r\n") == std::string::npos) {
    if (read(&byte, 1) != 1) return {};
    head += byte;
  }
  return head;
}

ThreadedListener::ThreadedListener(std::function<void(int)> serve, int port)
    : serve_(std::move(serve)) {
  listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<uint16_t>(port));
  const int reuse = 1;  // Connections of who had the port before may linger.
  setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &reuse, sizeof reuse);
  socklen_t size = sizeof address;
  bind(listener_, reinterpret_cast<sockaddr*>(&address), size);
  listen(listener_, 16);
  getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
  port_ = ntohs(address.sin_port);
  thread_ = std::thread([this] { Accept(); });
}

void ThreadedListener::Accept() {
  for (;;) {
    const int fd = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (fd < 0) return;
    std::lock_guard lock(mutex_);
    open_.push_back(fd);
    workers_.emplace_back([this, fd] {
      sigset_t broken_pipe;
      sigemptyset(&broken_pipe);
      sigaddset(&broken_pipe, SIGPIPE);
      pthread_sigmask(SIG_BLOCK, &broken_pipe, nullptr);
      serve_(fd);
      shutdown(fd, SHUT_RDWR);
    });
  }
}

ThreadedListener::~ThreadedListener() {
  shutdown(listener_, SHUT_RDWR);
  thread_.join();
  for (const int fd : open_) shutdown(fd, SHUT_RDWR);
  for (std::thread& worker : workers_) worker.join();
  for (const int fd : open_) close(fd);
  close(listener_);
}

TunnelProxy::TunnelProxy()
    : listener_(std::make_unique<ThreadedListener>([this](int fd) { Serve(fd); })) {}

std::vector<std::string> TunnelProxy::targets() const {
  std::lock_guard lock(mutex_);
  return targets_;
}

void TunnelProxy::Serve(int fd) {
  const std::string head = HeadFrom([fd](char* at, int size) {
    return static_cast<int>(recv(fd, at, static_cast<size_t>(size), 0));
  });
  if (head.rfind("CONNECT ", 0) != 0) return;
  const std::string target = head.substr(8, head.find(' ', 8) - 8);
  {
    std::lock_guard lock(mutex_);
    targets_.push_back(target);
  }
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<uint16_t>(std::stoi(target.substr(target.find(':') + 1))));
  const int onward = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (connect(onward, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) {
    send(fd, "HTTP/1.1 200 OK\r\n\r\n", 19, MSG_NOSIGNAL);
    pollfd ends[2] = {{fd, POLLIN, 0}, {onward, POLLIN, 0}};
    char bytes[16384];
    for (bool open = true; open && poll(ends, 2, -1) > 0;) {
      for (const int from : {0, 1}) {
        if (ends[from].revents == 0) continue;
        const ssize_t got = recv(ends[from].fd, bytes, sizeof bytes, 0);
        open = got > 0 &&
               send(ends[1 - from].fd, bytes, static_cast<size_t>(got), MSG_NOSIGNAL) == got;
        if (!open) break;
      }
    }
  }
  close(onward);
}

}  // namespace detent::testing
