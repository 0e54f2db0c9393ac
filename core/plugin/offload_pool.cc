#include "core/plugin/offload_pool.h"

namespace detent {
namespace {

thread_local bool on_pool_thread = false;

}  // namespace

OffloadPool::~OffloadPool() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  arrived_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

bool OffloadPool::OnPoolThread() {
  return on_pool_thread;
}

void OffloadPool::Run(std::function<void()> work) {
  std::lock_guard lock(mutex_);
  queue_.push_back(std::move(work));
  if (idle_ < queue_.size() && threads_.size() < threads_max_) {
    threads_.emplace_back([this] { Loop(); });
  }
  arrived_.notify_one();
}

void OffloadPool::Loop() {
  on_pool_thread = true;
  std::unique_lock lock(mutex_);
  while (true) {
    ++idle_;
    arrived_.wait(lock, [&] { return stopping_ || !queue_.empty(); });
    --idle_;
    if (queue_.empty()) return;
    const auto work = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    work();
    lock.lock();
  }
}

}  // namespace detent
