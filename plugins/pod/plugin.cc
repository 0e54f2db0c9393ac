// The pod plugin: Kubernetes Pods as tasks. See README.md for what users write, executor.h for how
// it works.

#include "detent/sdk/plugin.h"
#include "plugins/pod/executor.h"

DETENT_PLUGIN("dev.detent.pod", "0.1.0", detent::pod::PodExecutor)
