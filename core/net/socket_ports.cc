#include "core/net/socket_ports.h"

#include <netinet/in.h>
#include <sys/socket.h>

namespace detent {
namespace {

int PortIn(const sockaddr_storage& address) {
  if (address.ss_family == AF_INET) {
    return ntohs(reinterpret_cast<const sockaddr_in&>(address).sin_port);
  }
  if (address.ss_family == AF_INET6) {
    return ntohs(reinterpret_cast<const sockaddr_in6&>(address).sin6_port);
  }
  return 0;
}

}  // namespace

SocketPorts PortsOf(int socket) {
  sockaddr_storage local{}, peer{};
  socklen_t size = sizeof local;
  if (getsockname(socket, reinterpret_cast<sockaddr*>(&local), &size) != 0) return {};
  size = sizeof peer;
  if (getpeername(socket, reinterpret_cast<sockaddr*>(&peer), &size) != 0) return {};
  return {PortIn(local), PortIn(peer)};
}

}  // namespace detent
