// A reply of the transport in the words of detent/services/http.h. Lives for one callback.

#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "core/net/transport.h"
#include "detent/services/http.h"

namespace detent {

class AbiHttpReply {
 public:
  // `leaks` counts the body's buffer for its owner, as in buffer.h.
  AbiHttpReply(HttpReply&& reply, std::atomic<int64_t>* leaks);
  ~AbiHttpReply();  // Gives up the host's reference to the body.
  AbiHttpReply(const AbiHttpReply&) = delete;
  AbiHttpReply& operator=(const AbiHttpReply&) = delete;

  const detent_http_response* get() const { return &response_; }

 private:
  void FillFlags();
  void FillHeaders();

  HttpReply reply_;
  std::string reason_;
  std::vector<detent_http_header> headers_;
  std::vector<const detent_http_header*> pointers_;
  detent_http_response response_{};
};

}  // namespace detent
