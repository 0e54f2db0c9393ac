// Lists, and then follows the changes for as long as it takes: what `get -w`, `wait` and `run
// --wait` are made of.
//
// One thread, blocking. A watch that the server ends is begun again where it stopped; one whose
// version is gone (410), or whose connection broke, by a new list.

#pragma once

#include <functional>

#include "core/cli/command.h"

namespace detent {

struct ListWatch {
  Selection selection;
  bool table = false;
  // Each list, the first one included; false ends. An object that is in none of them any more has
  // no event of its own.
  std::function<bool(const Json& list)> on_list;
  // Each change: ADDED, MODIFIED or DELETED, and the object or a Table of it; false ends.
  std::function<bool(const std::string& type, const Json& object)> on_event;
};

// kDeadline: the time of --timeout is over. kUnavailable: the server was not there, at the begin or
// for as long as Patience lasts.
Result<void> RunListWatch(CommandContext& context, const ListWatch& plan);

}  // namespace detent
