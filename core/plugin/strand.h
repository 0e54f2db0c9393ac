// The thread on which all calls into one plugin instance are made, one after the other.
//
// Any thread posts work; the strand runs it in order. It also runs timers and watches descriptors,
// so that an instance needs no thread of its own. A post costs a lock and, only where the strand
// sleeps, a system call; everything that has gathered meanwhile runs as one turn.

#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <queue>
#include <string>
#include <thread>
#include <vector>

#include "core/base/clock.h"

namespace detent {

class Strand {
 public:
  using Work = std::function<void()>;

  // What the strand calls, on its own thread.
  struct Hooks {
    std::function<void(uint64_t timer)> on_timer;
    std::function<void(uint64_t watch, uint32_t epoll_events)> on_descriptor;
    std::function<void()> on_turn_end;  // After each turn that did anything.
  };

  // `clock` is borrowed.
  Strand(std::string name, const Clock& clock);
  ~Strand();  // Stops and joins.
  Strand(const Strand&) = delete;
  Strand& operator=(const Strand&) = delete;

  void Start(Hooks hooks);

  // Any thread. Host: false once the strand has stopped. Plugin: false once the gate is closed,
  // too.
  enum class From { kHost, kPlugin };
  bool Post(Work work, From from = From::kHost);

  // No plugin work is accepted any more. What was accepted still runs.
  void CloseGate();

  // Ends the thread after the work of this turn; the strand's thread only.
  void StopAfterTurn() { stop_after_turn_ = true; }
  void Join();
  // For a thread that does not come back: it is left to itself. The strand must never be destroyed.
  void Abandon() { thread_.detach(); }

  // The strand's thread only: calls on_timer(timer) at `when` or soon after.
  void SetTimer(MonoTime when, uint64_t timer);

  // Any thread. `watch` is handed to on_descriptor. An errno, or 0.
  int Watch(int fd, uint32_t epoll_events, uint64_t watch);
  int Modify(int fd, uint32_t epoll_events, uint64_t watch);
  void Unwatch(int fd);

  bool OnThisThread() const;

  // The time at which the present turn began. The strand's thread only.
  MonoTime turn_time() const { return turn_time_; }

  // How long the present turn has been running; 0 where none is. Any thread.
  std::chrono::nanoseconds Busy() const;

 private:
  struct Timer {
    MonoTime when;
    uint64_t timer;
    bool operator>(const Timer& other) const { return when > other.when; }
  };
  void Run();
  bool TakeWork();
  bool RunTimers();
  int Patience() const;
  bool Wait(int patience);
  void Wake();

  const std::string name_;
  const Clock& clock_;
  Hooks hooks_;
  int epoll_ = -1;
  int wake_ = -1;

  std::mutex mutex_;
  std::vector<Work> inbox_;  // Guarded by mutex_, as are the next three.
  bool sleeping_ = false;
  bool gate_closed_ = false;
  bool stopped_ = false;

  std::vector<Work> turn_;
  std::priority_queue<Timer, std::vector<Timer>, std::greater<>> timers_;
  bool stop_after_turn_ = false;
  MonoTime turn_time_{};
  std::atomic<int64_t> busy_since_{0};
  std::thread thread_;
};

}  // namespace detent
