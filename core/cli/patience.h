// What a command does while a server is away that has answered it before: it says so once, and asks
// again for a while, since a host that restarts is soon back and takes up the tasks that it had.
//
// One thread; blocks while it waits. A value for one command.

#pragma once

#include <optional>

#include "core/cli/command.h"

namespace detent {

class Patience {
 public:
  // Borrowed.
  explicit Patience(CommandContext& context) : context_(context) {}

  // The server has answered.
  void Answered();

  // After a call that failed: waits a little, so that it can be made again. The error that the
  // command ends with: `error` itself if the server has never answered or was not away; else, after
  // 30 seconds without an answer, one that says so and what to do.
  Result<void> Wait(const Error& error);

 private:
  CommandContext& context_;
  bool answered_ = false;
  std::optional<MonoTime> away_since_;
};

}  // namespace detent
