// Does something in a child process that may die of it. For the loader.
//
// The child is a fork, not a new program, because a library has no binary of its own to start. It
// shares no memory with the host, leaves no core, and ends at the latest after `limit`. Any thread;
// blocks.

#pragma once

#include <chrono>
#include <functional>
#include <string>

namespace detent {

// Runs `work` in the child; its text comes back. Empty: all is well. Where the child died or hung
// the answer is a phrase: "ends the process (signal 6, Aborted: terminate called ...)".
std::string RunInChild(const std::function<std::string()>& work, std::chrono::milliseconds limit);

}  // namespace detent
