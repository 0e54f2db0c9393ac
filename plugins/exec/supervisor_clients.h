// Clients: the supervisor's end of its control sockets. The first client is the host that started
// it, over a socket pair; later lives of the host connect to the socket in the task's directory.
// Each is told the phase when it comes and whenever it changes. Nothing here blocks, and a client
// that does not read loses messages, never holds up the task. One thread, no allocation.

#pragma once

#include <poll.h>

#include "plugins/exec/supervisor_protocol.h"

namespace detent::exec {

class Clients {
 public:
  static constexpr int kMax = 4;
  static constexpr int kPollMax = kMax + 1;

  // Listens in the current directory, and takes over the first client's socket.
  bool Open(int first_client);

  // What to poll for; returns how many entries of `out` (kPollMax) were filled.
  int Fill(pollfd* out) const;

  // Handles what poll found in those entries. True with *kill filled if a client asks for one; what
  // other clients ask for is found by the next poll.
  bool Next(const pollfd* polled, int count, Message* kill);

  // Makes `state` what all clients know.
  void Tell(const Message& state);

 private:
  void Accept();
  void Drop(int index);

  int listen_fd_ = -1;
  int fds_[kMax] = {-1, -1, -1, -1};
  Message state_;
};

}  // namespace detent::exec
