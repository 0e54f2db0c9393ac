// Ends what a supervisor that was killed itself left behind. Its main process dies with it; what
// had escaped from that is found by the mark in its environment, which no other process has. So
// nothing else can be hit, whatever the numbers in old files mean today.

#pragma once

#include <string>

#include "plugins/exec/task_directory.h"

namespace detent::exec {

// Kills, and waits at most a second until all are gone. cgroup: the task's leaf, or empty. Blocks:
// not on the strand. Returns how many processes were found.
int EndLeftovers(const Started& started, const std::string& cgroup);

}  // namespace detent::exec
