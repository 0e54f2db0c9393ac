// The commands that are the host itself, not its client: serve, config check, backup.

#pragma once

#include <string>
#include <vector>

namespace detent {

// Each takes the arguments behind its name and returns the exit code: 0, 1 failure, 2 usage.
int RunServe(const std::vector<std::string>& args);
int RunConfig(const std::vector<std::string>& args);
int RunBackup(const std::vector<std::string>& args);

}  // namespace detent
