// The exec plugin: local processes as tasks. See README.md for what users write, executor.h for how
// it works.

#include "detent/sdk/plugin.h"
#include "plugins/exec/executor.h"

DETENT_PLUGIN("dev.detent.exec", "0.1.0", detent::exec::ExecExecutor)
