// What a command does while a server is away that has answered it before: it says so once, and asks
// again for a while, since a host that restarts is soon back and takes up the tasks that it had. A
// server that is there and says that it cannot do it now (503) is asked again for as long.
//
// One thread; blocks while it waits. A value for one command, however many objects it waits for.

#pragma once

#include <optional>

#include "core/base/clock.h"
#include "core/base/result.h"

namespace detent {

struct CommandContext;

class Patience {
 public:
  // All that is asked again after a Wait has gone well. A part of it is not enough: a server that
  // keeps refusing the rest would be asked for ever.
  void Back() { away_since_.reset(); }

  // After a call that failed: waits a little, so that it can be made again. The error that the
  // command ends with: `error` itself if the server has never answered or was not away; else, 30
  // seconds after the first failure, the server's refusal, or one that says that it is away and
  // what to do.
  Result<void> Wait(CommandContext& context, const Error& error);

 private:
  std::optional<MonoTime> away_since_;
};

}  // namespace detent
