// The two ports of a TCP connection: what libcurl and the kernel both tell of one, so that its
// descriptor is found. Pure but for asking the kernel.

#pragma once

namespace detent {

// All zero: none, or no TCP.
struct SocketPorts {
  int local = 0;
  int peer = 0;

  bool operator==(const SocketPorts&) const = default;
};

SocketPorts PortsOf(int socket);

}  // namespace detent
