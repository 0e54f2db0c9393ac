// Sends requests and waits for their replies, for tests of the transport. The test's thread.

#pragma once

#include <condition_variable>
#include <map>
#include <mutex>

#include "core/net/transport.h"

namespace detent::testing {

class Replies {
 public:
  uint64_t Send(HttpTransport& transport, HttpRequest request) {
    const int number = sent_++;
    return transport.Send(std::move(request), [this, number](HttpReply&& reply) {
      std::lock_guard lock(mutex_);
      ++calls_[number];
      replies_[number] = std::move(reply);
      arrived_.notify_all();
    });
  }

  // Waits until every request has its reply; false after 20 seconds.
  bool WaitAll() {
    std::unique_lock lock(mutex_);
    return arrived_.wait_for(lock, std::chrono::seconds(20),
                             [&] { return replies_.size() == static_cast<size_t>(sent_); });
  }

  // Waits until that request has its reply; false after 20 seconds.
  bool WaitOne(int number) {
    std::unique_lock lock(mutex_);
    return arrived_.wait_for(lock, std::chrono::seconds(20),
                             [&] { return replies_.find(number) != replies_.end(); });
  }

  const HttpReply& at(int number) { return replies_.at(number); }
  size_t size() const { return replies_.size(); }
  int calls(int number) { return calls_[number]; }

 private:
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::map<int, HttpReply> replies_;
  std::map<int, int> calls_;
  int sent_ = 0;
};

}  // namespace detent::testing
