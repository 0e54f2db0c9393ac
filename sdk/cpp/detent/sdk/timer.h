// Timer: one callback at a later time, as long as the Timer lives. Destroying or cancelling it on
// the strand guarantees that the callback is not called afterwards; what the callback holds is
// freed at once. Made by Host::After. Strand only.

#pragma once

#include <chrono>
#include <memory>
#include <utility>

#include "detent/host.h"
#include "detent/sdk/border.h"
#include "detent/sdk/callback.h"

namespace detent::sdk {

class Timer {
 public:
  Timer() = default;
  Timer(Timer&&) noexcept = default;
  Timer& operator=(Timer&& other) noexcept {
    Cancel();
    table_ = other.table_;
    instance_ = other.instance_;
    timer_ = other.timer_;
    f_ = std::move(other.f_);
    return *this;
  }
  ~Timer() { Cancel(); }

  // Whether the callback is still to come.
  bool active() const { return f_ != nullptr && static_cast<bool>(*f_); }

  void Cancel() {
    if (f_ == nullptr) return;
    if (*f_) {
      *f_ = nullptr;
      table_->timer_cancel(instance_, timer_);
    }
    f_.reset();
  }

  static Timer Start(const detent_host* table, detent_instance instance,
                     std::chrono::nanoseconds delay, Callback<> f) {
    Timer timer;
    auto shared = std::make_shared<Callback<>>(std::move(f));
    auto held = std::make_unique<Held>(Held{table, instance, shared});
    const auto ns = static_cast<uint64_t>(delay.count() < 0 ? 0 : delay.count());
    if (table->timer_start(instance, ns, &Timer::Fired, held.get(), &timer.timer_) != DETENT_OK) {
      return {};
    }
    held.release();
    timer.table_ = table;
    timer.instance_ = instance;
    timer.f_ = std::move(shared);
    return timer;
  }

 private:
  // What the host's pending callback owns; it comes exactly once, cancelled or not.
  struct Held {
    const detent_host* table;
    detent_instance instance;
    std::shared_ptr<Callback<>> f;
  };

  static void Fired(void* ctx, const detent_result* result) noexcept {
    const std::unique_ptr<Held> held(static_cast<Held*>(ctx));
    // Taken out first: the callback may destroy or restart the Timer it belongs to.
    Callback<> f = std::move(*held->f);
    if (result->code == DETENT_OK) border::Guarded(held->table, held->instance, [&] { f(); });
  }

  const detent_host* table_ = nullptr;
  detent_instance instance_ = 0;
  detent_timer timer_ = 0;
  std::shared_ptr<Callback<>> f_;
};

}  // namespace detent::sdk
