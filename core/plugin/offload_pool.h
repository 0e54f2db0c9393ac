// Threads for plugin work that may block. Started as they are needed, shared by all instances.
//
// Any thread submits. The destructor waits for what is running and for what is queued.

#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace detent {

class OffloadPool {
 public:
  explicit OffloadPool(size_t threads_max) : threads_max_(threads_max) {}
  ~OffloadPool();

  void Run(std::function<void()> work);

  // True on a thread of any pool.
  static bool OnPoolThread();

 private:
  void Loop();

  const size_t threads_max_;
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<std::function<void()>> queue_;  // Guarded by mutex_, as are the next three.
  std::vector<std::thread> threads_;
  size_t idle_ = 0;
  bool stopping_ = false;
};

}  // namespace detent
