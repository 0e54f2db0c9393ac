// The bytes of the supervisor's program (supervisor_main.cc), which are embedded in the plugin.
// Static data; any thread.

#pragma once

#include <string_view>

namespace detent::exec {

std::string_view SupervisorProgram();

}  // namespace detent::exec
