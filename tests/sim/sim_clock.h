// A clock that stands still until it is moved.

#pragma once

#include "core/base/clock.h"

namespace detent {

class SimClock final : public Clock {
 public:
  explicit SimClock(WallTime start) : now_(start) {}
  WallTime Now() const override { return now_; }
  MonoTime Mono() const override { return mono_; }
  void Advance(std::chrono::microseconds by) {
    now_ += by;
    mono_ += by;
  }

 private:
  WallTime now_;
  MonoTime mono_{std::chrono::seconds(1)};
};

}  // namespace detent
