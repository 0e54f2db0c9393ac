// A bounded queue from many threads to one: the only way into the loop.
//
// Any thread posts; one thread takes. Messages of one sender keep their order.

#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <utility>
#include <vector>

namespace detent {

template <typename T>
class Mailbox {
 public:
  explicit Mailbox(size_t capacity) : capacity_(capacity) {}
  Mailbox(const Mailbox&) = delete;
  Mailbox& operator=(const Mailbox&) = delete;

  // Waits for room. False once the mailbox is closed: the message is dropped.
  bool Post(T message) {
    std::unique_lock lock(mutex_);
    room_.wait(lock, [&] { return closed_ || messages_.size() < capacity_; });
    return PostLocked(std::move(message));
  }

  // Never waits, whatever the capacity: for answers to what the loop itself asked, whose number the
  // loop bounds by what it has in flight.
  bool PostAnswer(T message) {
    std::lock_guard lock(mutex_);
    return PostLocked(std::move(message));
  }

  // Moves all of `messages` in under one lock, without waiting, as PostAnswer does.
  bool PostAnswers(std::vector<T>& messages) {
    std::lock_guard lock(mutex_);
    for (T& message : messages) {
      if (!PostLocked(std::move(message))) return false;
    }
    messages.clear();
    return true;
  }

  // Waits until there is a message, `timeout` has passed or the mailbox is closed, then swaps all
  // messages into `out`, which must be empty. False once closed and drained. A wait ends after a
  // day at the latest, because adding a longer one to the clock could overflow.
  bool Take(std::vector<T>& out, std::chrono::nanoseconds timeout) {
    std::unique_lock lock(mutex_);
    taker_waits_ = true;
    const std::chrono::nanoseconds wait = std::min<std::chrono::nanoseconds>(timeout, kLongestWait);
    arrived_.wait_for(lock, wait, [&] { return closed_ || !messages_.empty(); });
    taker_waits_ = false;
    out.swap(messages_);
    room_.notify_all();
    return !(closed_ && out.empty());
  }

  void Close() {
    std::lock_guard lock(mutex_);
    closed_ = true;
    room_.notify_all();
    arrived_.notify_all();
  }

 private:
  bool PostLocked(T message) {
    if (closed_) return false;
    messages_.push_back(std::move(message));
    if (taker_waits_ && messages_.size() == 1) arrived_.notify_one();
    return true;
  }

  static constexpr std::chrono::hours kLongestWait{24};

  const size_t capacity_;
  std::mutex mutex_;
  std::condition_variable room_, arrived_;
  std::vector<T> messages_;
  bool taker_waits_ = false;
  bool closed_ = false;
};

}  // namespace detent
