// The thread that decides: drains the inbox, lets the engine look at what is due, waits.

#pragma once

#include <functional>
#include <thread>

#include "core/control/engine.h"
#include "core/control/message.h"

namespace detent {

class Loop {
 public:
  // Borrowed; both outlive the loop. The engine has been loaded, and nobody else touches it.
  Loop(Engine& engine, Inbox& inbox) : engine_(engine), inbox_(inbox) {}
  ~Loop() { Stop(); }
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  void Start();
  // Closes the inbox, lets the thread finish the message in hand, and joins it. Idempotent.
  void Stop();

  // Runs `ask` on the loop's thread and waits for it, 5 seconds at most; false if it did not run by
  // then. It may run later all the same, so what it writes to must be shared, not borrowed.
  bool CallAndWait(std::function<void(Engine&)> ask);

 private:
  void Run();

  Engine& engine_;
  Inbox& inbox_;
  std::thread thread_;
};

}  // namespace detent
