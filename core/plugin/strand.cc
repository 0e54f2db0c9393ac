#include "core/plugin/strand.h"

#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

namespace detent {
namespace {

// The strand whose thread this is.
thread_local const Strand* this_strand = nullptr;

}  // namespace

Strand::Strand(std::string name, const Clock& clock) : name_(std::move(name)), clock_(clock) {
  epoll_ = epoll_create1(EPOLL_CLOEXEC);
  wake_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  Watch(wake_, EPOLLIN, 0);
}

Strand::~Strand() {
  if (thread_.joinable()) {
    Post([this] { StopAfterTurn(); });
    Join();
  }
  close(wake_);
  close(epoll_);
}

void Strand::Start(Hooks hooks) {
  hooks_ = std::move(hooks);
  thread_ = std::thread([this] { Run(); });
}

void Strand::Join() {
  if (thread_.joinable()) thread_.join();
}

void Strand::Wake() {
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = write(wake_, &one, sizeof one);
}

bool Strand::Post(Work work, From from) {
  bool wake = false;
  {
    std::lock_guard lock(mutex_);
    if (stopped_ || (from == From::kPlugin && gate_closed_)) return false;
    inbox_.push_back(std::move(work));
    wake = std::exchange(sleeping_, false);
  }
  if (wake) Wake();
  return true;
}

void Strand::CloseGate() {
  std::lock_guard lock(mutex_);
  gate_closed_ = true;
}

void Strand::SetTimer(MonoTime when, uint64_t timer) {
  timers_.push({when, timer});
}

int Strand::Watch(int fd, uint32_t epoll_events, uint64_t watch) {
  epoll_event event{};
  event.events = epoll_events;
  event.data.u64 = watch;
  return epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event) == 0 ? 0 : errno;
}

int Strand::Modify(int fd, uint32_t epoll_events, uint64_t watch) {
  epoll_event event{};
  event.events = epoll_events;
  event.data.u64 = watch;
  return epoll_ctl(epoll_, EPOLL_CTL_MOD, fd, &event) == 0 ? 0 : errno;
}

void Strand::Unwatch(int fd) {
  epoll_ctl(epoll_, EPOLL_CTL_DEL, fd, nullptr);
}

bool Strand::OnThisThread() const {
  return this_strand == this;
}

std::chrono::nanoseconds Strand::Busy() const {
  const int64_t since = busy_since_.load(std::memory_order_relaxed);
  if (since == 0) return std::chrono::nanoseconds(0);
  return clock_.Mono().time_since_epoch() - std::chrono::nanoseconds(since);
}

bool Strand::TakeWork() {
  turn_.clear();
  {
    std::lock_guard lock(mutex_);
    turn_.swap(inbox_);
  }
  for (Work& work : turn_) {
    work();
    work = nullptr;  // What it holds may be needed by nobody but it.
  }
  return !turn_.empty();
}

bool Strand::RunTimers() {
  bool ran = false;
  while (!timers_.empty() && timers_.top().when <= turn_time_) {
    const uint64_t timer = timers_.top().timer;
    timers_.pop();
    hooks_.on_timer(timer);
    ran = true;
  }
  return ran;
}

// Milliseconds to wait for the next timer, rounded up, since a timer is never early; -1: no end.
int Strand::Patience() const {
  if (timers_.empty()) return -1;
  const auto left = timers_.top().when - clock_.Mono();
  if (left.count() <= 0) return 0;
  const auto ms = std::chrono::ceil<std::chrono::milliseconds>(left).count();
  return static_cast<int>(std::min<int64_t>(ms, 60'000));
}

// Waits for descriptors and posts; true if a descriptor had something.
bool Strand::Wait(int patience) {
  if (patience != 0) {
    std::lock_guard lock(mutex_);
    sleeping_ = inbox_.empty();
    if (!sleeping_) patience = 0;
  }
  if (patience != 0) busy_since_.store(0, std::memory_order_relaxed);
  std::array<epoll_event, 128> events;
  const int count = epoll_wait(epoll_, events.data(), events.size(), patience);
  turn_time_ = clock_.Mono();
  busy_since_.store(turn_time_.time_since_epoch().count(), std::memory_order_relaxed);
  {
    std::lock_guard lock(mutex_);
    sleeping_ = false;
  }
  bool ran = false;
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = events[static_cast<size_t>(i)];
    if (event.data.u64 == 0) {
      uint64_t ignored = 0;
      [[maybe_unused]] const ssize_t got = read(wake_, &ignored, sizeof ignored);
      continue;
    }
    hooks_.on_descriptor(event.data.u64, event.events);
    ran = true;
  }
  return ran;
}

void Strand::Run() {
  this_strand = this;
  pthread_setname_np(pthread_self(), name_.substr(0, 15).c_str());
  turn_time_ = clock_.Mono();
  while (!stop_after_turn_) {
    bool ran = TakeWork();
    ran = RunTimers() || ran;
    if (ran) hooks_.on_turn_end();
    if (stop_after_turn_) break;
    // With work behind it, a turn only looks whether a descriptor is ready.
    if (Wait(ran ? 0 : Patience())) hooks_.on_turn_end();
  }
  std::lock_guard lock(mutex_);
  stopped_ = true;
  inbox_.clear();
  busy_since_.store(0, std::memory_order_relaxed);
}

}  // namespace detent
