/* detent/detent.h: all of the border that is there in every host.
 *
 * A plugin in C includes this file, fills a detent_executor (executor.h), names it in a
 * detent_plugin (plugin.h), and returns that from detent_plugin_entry. sdk/template_c is a whole
 * one. In C++ include "detent/sdk/executor.h" from the SDK instead.
 *
 * Where to read on: task.h is what a task is; executor.h is what a plugin does; host.h is what it
 * may ask for; threads.h says on which thread; rules.h lists the promises of both sides by id.
 * The services below are in every host that has them at all; those not included here (kube, watch,
 * secrets, metrics, kv, expr, tasks, trace) and the extensions (ext/) are included one by one.
 */
#ifndef DETENT_DETENT_H_
#define DETENT_DETENT_H_

#include "detent/abi.h"
#include "detent/executor.h"
#include "detent/host.h"
#include "detent/plugin.h"
#include "detent/rules.h"
#include "detent/services/http.h"
#include "detent/services/io.h"
#include "detent/services/json.h"
#include "detent/status.h"
#include "detent/task.h"
#include "detent/threads.h"
#include "detent/types.h"
#include "detent/version.h"

#endif /* DETENT_DETENT_H_ */
