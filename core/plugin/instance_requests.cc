// The half of Instance that serves what plugins ask for: callbacks, timers, descriptors, HTTP,
// logs.

#include <sys/epoll.h>

#include <cerrno>
#include <utility>

#include "core/plugin/abi_convert.h"
#include "core/plugin/http_reply.h"
#include "core/plugin/instance.h"
#include "core/plugin/offload_pool.h"

namespace detent {
namespace {

constexpr int64_t kTimersBesideTasks = 1000;
constexpr int64_t kTimersPerTask = 4;
constexpr uint64_t kDelayMost = 10ull * 365 * 86400 * 1'000'000'000;

uint32_t ToEpoll(uint32_t events) {
  return ((events & DETENT_IO_READ) ? uint32_t{EPOLLIN} : 0u) |
         ((events & DETENT_IO_WRITE) ? uint32_t{EPOLLOUT} : 0u);
}

uint32_t FromEpoll(uint32_t events) {
  uint32_t seen = 0;
  if (events & (EPOLLIN | EPOLLRDHUP)) seen |= DETENT_IO_READ;
  if (events & EPOLLOUT) seen |= DETENT_IO_WRITE;
  if (events & EPOLLERR) seen |= DETENT_IO_ERROR;
  if (events & EPOLLHUP) seen |= DETENT_IO_HANGUP;
  return seen;
}

}  // namespace

void Instance::Deliver(detent_cb cb, void* ctx, detent_status code) {
  if (cb == nullptr) return;
  detent_result result{};
  result.size = sizeof result;
  result.code = code;
  const std::string reason = ReasonFor(code);
  result.reason = View(reason);
  Guard("callback", [&] { cb(ctx, &result); });
}

uint64_t Instance::Expect(detent_cb cb, void* ctx) {
  return expected_.Take([&](Expected& expected) {
    expected.cb = cb;
    expected.http_cb = nullptr;
    expected.ctx = ctx;
    expected.is_timer.store(false, std::memory_order_relaxed);
  });
}

void Instance::Answer(uint64_t handle, detent_status code) {
  Post([this, handle, code] {
    if (!expected_.End(handle)) return;
    const Expected& expected = expected_.Ended(handle);
    const detent_cb cb = expected.cb;
    void* const ctx = expected.ctx;
    expected_.Recycle(handle);
    Deliver(cb, ctx, code);
  });
}

// The last answers of a closing instance. The strand's thread.
void Instance::AnswerAllClosing() {
  for (const uint64_t handle : expected_.Handles()) {
    if (!expected_.End(handle)) continue;
    Expected& expected = expected_.Ended(handle);
    const detent_cb cb = expected.cb;
    const detent_http_cb http_cb = expected.http_cb;
    void* const ctx = expected.ctx;
    const uint64_t transport_id = expected.transport_id.exchange(0);
    expected_.Recycle(handle);
    if (http_cb != nullptr) {
      if (transport_id != 0) parts_.http->Cancel(transport_id);
      detent_http_response response{};
      response.size = sizeof response;
      response.code = DETENT_E_CLOSING;
      response.reason = View("Closing");
      Guard("callback", [&] { http_cb(ctx, &response); });
    } else {
      Deliver(cb, ctx, DETENT_E_CLOSING);
    }
  }
  if (kube_requests_ != nullptr) kube_requests_->CloseAll();
  if (watch_feeds_ != nullptr) watch_feeds_->CloseAll();
  for (const uint64_t watch : watches_.Handles()) UnwatchFd(watch);
}

detent_status Instance::StartTimer(uint64_t delay_ns, detent_cb cb, void* ctx, detent_timer* out) {
  if (cb == nullptr || out == nullptr) return DETENT_E_INVALID;
  if (state_.load(std::memory_order_acquire) >= State::kClosed) return DETENT_E_CLOSING;
  const int64_t most = kTimersBesideTasks + kTimersPerTask * static_cast<int64_t>(desk_.active());
  if (timers_.fetch_add(1, std::memory_order_relaxed) >= most) {
    timers_.fetch_sub(1, std::memory_order_relaxed);
    return DETENT_E_BUSY;
  }
  const uint64_t timer = expected_.Take([&](Expected& expected) {
    expected.cb = cb;
    expected.http_cb = nullptr;
    expected.ctx = ctx;
    expected.is_timer.store(true, std::memory_order_relaxed);
  });
  if (timer == 0) {
    timers_.fetch_sub(1, std::memory_order_relaxed);
    return DETENT_E_NO_MEMORY;
  }
  *out = timer;
  const MonoTime when =
      parts_.clock->Mono() + std::chrono::nanoseconds(std::min<uint64_t>(delay_ns, kDelayMost));
  if (OnStrand()) {
    strand_.SetTimer(when, timer);
  } else {
    Post([this, when, timer] { strand_.SetTimer(when, timer); });
  }
  return DETENT_OK;
}

void Instance::OnTimer(uint64_t timer) {
  if (timer == 0) return Sweep();
  if (!expected_.End(timer)) return;  // Cancelled.
  const Expected& expected = expected_.Ended(timer);
  const detent_cb cb = expected.cb;
  void* const ctx = expected.ctx;
  expected_.Recycle(timer);
  timers_.fetch_sub(1, std::memory_order_relaxed);
  Deliver(cb, ctx, DETENT_OK);
}

detent_status Instance::CancelTimer(detent_timer timer) {
  Expected* found = expected_.Find(timer);
  if (found == nullptr || !found->is_timer.load(std::memory_order_relaxed)) return DETENT_E_STALE;
  if (!expected_.End(timer)) return DETENT_E_STALE;
  const detent_cb cb = found->cb;
  void* const ctx = found->ctx;
  expected_.Recycle(timer);
  timers_.fetch_sub(1, std::memory_order_relaxed);
  Post([this, cb, ctx] { Deliver(cb, ctx, DETENT_E_CANCELLED); });
  return DETENT_OK;
}

detent_status Instance::PostCallback(detent_cb cb, void* ctx) {
  if (cb == nullptr) return DETENT_E_INVALID;
  const bool posted = strand_.Post(
      [this, cb, ctx] {
        const bool closed = state_.load(std::memory_order_acquire) >= State::kClosed;
        Deliver(cb, ctx, closed ? DETENT_E_CLOSING : DETENT_OK);
      },
      Strand::From::kPlugin);
  return posted ? DETENT_OK : DETENT_E_CLOSING;
}

detent_status Instance::Offload(detent_work work, detent_cb done, void* ctx) {
  if (work == nullptr) return DETENT_E_INVALID;
  if (state_.load(std::memory_order_acquire) >= State::kClosed) return DETENT_E_CLOSING;
  const auto most = static_cast<int64_t>(options_.limits.offload_in_flight);
  if (offloaded_.fetch_add(1) >= most) {
    offloaded_.fetch_sub(1);
    return DETENT_E_BUSY;
  }
  parts_.offload->Run([this, work, done, ctx] {
    try {
      work(ctx);
    } catch (...) {
      Misbehaved("an exception left the plugin (rule D-EXC-1)", "offload");
    }
    Post([this, done, ctx] {
      offloaded_.fetch_sub(1);
      const bool closed = state_.load(std::memory_order_acquire) >= State::kClosed;
      Deliver(done, ctx, closed ? DETENT_E_CLOSING : DETENT_OK);
    });
  });
  return DETENT_OK;
}

detent_status Instance::Health(uint32_t state, const detent_str* why) {
  if (state > DETENT_HEALTH_HEALTHY) return DETENT_E_INVALID;
  std::lock_guard lock(health_mutex_);
  health_.state = state;
  health_.why = why == nullptr ? "" : Repaired(Text(*why), 1024);
  return DETENT_OK;
}

detent_status Instance::WatchFd(int32_t fd, uint32_t events, FdCallback callback,
                                detent_watch* out) {
  if (callback.cb == nullptr || out == nullptr || fd < 0) return DETENT_E_INVALID;
  if ((events & ~(DETENT_IO_READ | DETENT_IO_WRITE)) != 0) return DETENT_E_UNSUPPORTED;
  if (state_.load(std::memory_order_acquire) >= State::kClosed) return DETENT_E_CLOSING;
  std::lock_guard lock(watch_mutex_);
  if (watches_.live() >= 65'536) return DETENT_E_BUSY;
  const uint64_t watch = watches_.Take([&](FdWatch& record) { record = {fd, callback}; });
  if (watch == 0) return DETENT_E_NO_MEMORY;
  const int failure = strand_.Watch(fd, ToEpoll(events), watch);
  if (failure != 0) {
    watches_.End(watch);
    watches_.Recycle(watch);
    return failure == EEXIST ? DETENT_E_ALREADY_EXISTS : DETENT_E_INVALID;
  }
  *out = watch;
  return DETENT_OK;
}

detent_status Instance::ModifyFd(detent_watch watch, uint32_t events) {
  if ((events & ~(DETENT_IO_READ | DETENT_IO_WRITE)) != 0) return DETENT_E_UNSUPPORTED;
  std::lock_guard lock(watch_mutex_);
  const FdWatch* record = watches_.Find(watch);
  if (record == nullptr) return DETENT_E_STALE;
  return strand_.Modify(record->fd, ToEpoll(events), watch) == 0 ? DETENT_OK : DETENT_E_INVALID;
}

detent_status Instance::UnwatchFd(detent_watch watch) {
  std::lock_guard lock(watch_mutex_);
  if (!watches_.End(watch)) return DETENT_E_STALE;
  strand_.Unwatch(watches_.Ended(watch).fd);
  watches_.Recycle(watch);
  return DETENT_OK;
}

void Instance::OnDescriptor(uint64_t watch, uint32_t epoll_events) {
  FdWatch record;
  {
    std::lock_guard lock(watch_mutex_);
    const FdWatch* found = watches_.Find(watch);
    if (found == nullptr) return;  // Unwatched earlier in this turn.
    record = *found;
  }
  Guard("io callback",
        [&] { record.callback.cb(record.callback.ctx, record.fd, FromEpoll(epoll_events)); });
}

detent_status Instance::SendHttp(HttpRequest request, detent_http_cb cb, void* ctx,
                                 detent_op* out) {
  if (state_.load(std::memory_order_acquire) >= State::kClosed) return DETENT_E_CLOSING;
  const auto most = static_cast<int64_t>(options_.limits.http_in_flight);
  if (http_.fetch_add(1, std::memory_order_relaxed) >= most) {
    http_.fetch_sub(1, std::memory_order_relaxed);
    return DETENT_E_BUSY;
  }
  uint64_t expected = 0, id = 0;
  try {
    expected = expected_.Take([&](Expected& record) {
      record.cb = nullptr;
      record.http_cb = cb;
      record.ctx = ctx;
      record.is_timer.store(false, std::memory_order_relaxed);
      record.transport_id.store(0, std::memory_order_relaxed);
    });
    if (out != nullptr) *out = expected;
    if (expected != 0) {
      id = parts_.http->Send(std::move(request), [this, expected](HttpReply&& reply) {
        http_.fetch_sub(1, std::memory_order_relaxed);
        auto kept = std::make_shared<HttpReply>(std::move(reply));
        Post([this, expected, kept] { DeliverHttp(expected, std::move(*kept)); });
      });
    }
  } catch (...) {  // Memory, threads or descriptors have run out: nothing was taken up.
  }
  if (id == 0) {
    http_.fetch_sub(1, std::memory_order_relaxed);
    if (expected == 0) return DETENT_E_NO_MEMORY;
    if (!expected_.End(expected)) return DETENT_OK;  // A close has answered it meanwhile.
    expected_.Recycle(expected);
    return DETENT_E_NO_MEMORY;
  }
  // The reply may have been delivered already, and the record serve another request by now.
  if (Expected* record = expected_.Find(expected)) {
    record->transport_id.store(id, std::memory_order_release);
  }
  return DETENT_OK;
}

detent_status Instance::CancelHttp(detent_op request) {
  Expected* record = expected_.Find(request);
  if (record == nullptr) return DETENT_E_STALE;
  const uint64_t id = record->transport_id.load(std::memory_order_acquire);
  if (id != 0) parts_.http->Cancel(id);
  return DETENT_OK;
}

void Instance::DeliverHttp(uint64_t expected, HttpReply&& reply) {
  if (!expected_.End(expected)) return;  // Answered by close.
  const Expected& record = expected_.Ended(expected);
  const detent_http_cb cb = record.http_cb;
  void* const ctx = record.ctx;
  expected_.Recycle(expected);
  const AbiHttpReply answer(std::move(reply), &buffers_);
  Guard("http callback", [&] { cb(ctx, answer.get()); });
}

void Instance::WriteLog(const detent_log& line) {
  int64_t dropped = 0;
  if (parts_.logger == nullptr || !log_budget_.Take(parts_.clock->Mono(), dropped)) return;
  constexpr LogLevel kLevels[] = {LogLevel::kDebug,   LogLevel::kDebug, LogLevel::kInfo,
                                  LogLevel::kWarning, LogLevel::kError, LogLevel::kError};
  const int32_t level = std::clamp(line.level, DETENT_LOG_TRACE, DETENT_LOG_HOST_MISBEHAVING);
  constexpr size_t kLineBytes = 8192;
  const std::string message = Repaired(Text(line.msg), kLineBytes);
  const std::string fields = Repaired(Text(line.fields), kLineBytes);
  if (dropped > 0) {
    parts_.logger->Warning("lines of a plugin were dropped",
                           {{"plugin", options_.name}, {"lines", dropped}});
  }
  if (fields.empty()) {
    parts_.logger->Log(kLevels[level], message, {{"plugin", options_.name}});
  } else {
    parts_.logger->Log(kLevels[level], message, {{"plugin", options_.name}, {"fields", fields}});
  }
}

}  // namespace detent
