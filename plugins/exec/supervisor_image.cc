// The supervisor's program as data of the plugin. In a file of its own, because it is built anew
// whenever the program is.

#include "plugins/exec/supervisor_image.h"

// clang-format off
__asm__(
    ".pushsection .rodata,\"a\",@progbits\n"
    ".balign 16\n"
    "detent_exec_supervisor_begin:\n"
    ".incbin \"" DETENT_SUPERVISOR_PATH "\"\n"
    "detent_exec_supervisor_end:\n"
    ".byte 0\n"
    ".popsection\n");
// clang-format on

extern "C" {
extern const char detent_exec_supervisor_begin[] __attribute__((visibility("hidden")));
extern const char detent_exec_supervisor_end[] __attribute__((visibility("hidden")));
}

namespace detent::exec {

std::string_view SupervisorProgram() {
  return {detent_exec_supervisor_begin,
          static_cast<size_t>(detent_exec_supervisor_end - detent_exec_supervisor_begin)};
}

}  // namespace detent::exec
