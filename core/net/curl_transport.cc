#include "core/net/curl_transport.h"

#include <utility>

#include "core/net/curl_loop.h"

namespace detent {

CurlTransport::CurlTransport(CurlTransportOptions options, const Clock& clock)
    : options_(std::move(options)), clock_(clock) {}

CurlTransport::~CurlTransport() = default;

// Tried again by the next request if the loop could not be made.
CurlLoop& CurlTransport::Begun() {
  if (CurlLoop* loop = begun_.load(std::memory_order_acquire)) return *loop;
  std::lock_guard lock(begin_mutex_);
  if (loop_ == nullptr) {
    auto loop = std::make_unique<CurlLoop>(options_, clock_);
    loop->Start();
    loop_ = std::move(loop);
    begun_.store(loop_.get(), std::memory_order_release);
  }
  return *loop_;
}

uint64_t CurlTransport::Send(HttpRequest request, HttpCallback callback) {
  return Begun().Send(std::move(request), std::move(callback));
}

void CurlTransport::Cancel(uint64_t id) {
  if (CurlLoop* loop = begun_.load(std::memory_order_acquire)) loop->Cancel(id);
}

void CurlTransport::RunAt(MonoTime at, std::function<void()> task) {
  Begun().RunAt(at, std::move(task));
}

}  // namespace detent
