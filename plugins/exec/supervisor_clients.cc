#include "plugins/exec/supervisor_clients.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <cerrno>
#include <cstddef>
#include <cstring>

namespace detent::exec {

bool Clients::Open(int first_client) {
  fds_[0] = first_client;
  fcntl(first_client, F_SETFL, O_NONBLOCK);
  state_.type = static_cast<uint32_t>(MessageType::kState);
  listen_fd_ = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  // Relative, so that it fits whatever the directory is called.
  std::memcpy(address.sun_path, kSocketFile, sizeof(kSocketFile));
  unlink(kSocketFile);
  return listen_fd_ >= 0 &&
         bind(listen_fd_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0 &&
         listen(listen_fd_, kMax) == 0;
}

int Clients::Fill(pollfd* out) const {
  int count = 0;
  out[count++] = {listen_fd_, POLLIN, 0};
  for (const int fd : fds_) {
    if (fd >= 0) out[count++] = {fd, POLLIN, 0};
  }
  return count;
}

bool Clients::Next(const pollfd* polled, int count, Message* kill) {
  for (int i = 0; i < count; ++i) {
    if (polled[i].revents == 0) continue;
    if (polled[i].fd == listen_fd_) {
      Accept();
      continue;
    }
    for (int k = 0; k < kMax; ++k) {
      if (fds_[k] != polled[i].fd) continue;
      *kill = Message{};
      const ssize_t got = recv(fds_[k], kill, sizeof(*kill), MSG_DONTWAIT);
      const bool whole = got >= static_cast<ssize_t>(offsetof(Message, grace_ns));
      if (whole && kill->type == static_cast<uint32_t>(MessageType::kKill)) {
        kill->reason[sizeof(kill->reason) - 1] = '\0';
        return true;
      }
      if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) Drop(k);
    }
  }
  return false;
}

void Clients::Tell(const Message& state) {
  state_ = state;
  for (const int fd : fds_) {
    if (fd >= 0) send(fd, &state_, sizeof(state_), MSG_NOSIGNAL | MSG_DONTWAIT);
  }
}

void Clients::Accept() {
  const int fd = accept4(listen_fd_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (fd < 0) return;
  int place = 0;
  while (place < kMax && fds_[place] >= 0) ++place;
  // A host that comes back is more use than one that may be gone: the eldest gives way.
  if (place == kMax) Drop(place = 0);
  fds_[place] = fd;
  send(fd, &state_, sizeof(state_), MSG_NOSIGNAL | MSG_DONTWAIT);
}

void Clients::Drop(int index) {
  close(fds_[index]);
  fds_[index] = -1;
}

}  // namespace detent::exec
