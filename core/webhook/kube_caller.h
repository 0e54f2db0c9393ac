// Requests of a thread that may wait for their replies, but not longer than it wants to, and not at
// all once it is to end.
//
// Any number of threads ask at a time. Close ends their waiting; the client is borrowed.

#pragma once

#include <chrono>
#include <memory>

#include "core/kube/client.h"

namespace detent {

class KubeCaller {
 public:
  explicit KubeCaller(KubeClient& client);
  ~KubeCaller();  // Closes. Nobody may be asking.
  KubeCaller(const KubeCaller&) = delete;
  KubeCaller& operator=(const KubeCaller&) = delete;

  // kDeadline: there was no reply within `patience`, retries included. kCancelled: it is closed.
  KubeReply Ask(KubeRequest request, std::chrono::milliseconds patience);

  void Close();

 private:
  struct State;
  KubeClient& client_;
  std::shared_ptr<State> state_;  // Callbacks hold it, and may come late.
};

}  // namespace detent
