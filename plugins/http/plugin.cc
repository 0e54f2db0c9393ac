// The http plugin: HTTP requests as tasks. See README.md for what users write, executor.h for how
// it works.

#include "detent/sdk/plugin.h"
#include "plugins/http/executor.h"

DETENT_PLUGIN("dev.detent.http", "0.1.0", detent::http::HttpExecutor)
