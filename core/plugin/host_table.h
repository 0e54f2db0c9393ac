// The table of functions that every plugin in this process is given (detent/host.h), and the tables
// of its services. Static; any thread.

#pragma once

#include "detent/host.h"

namespace detent {

const detent_host* HostTable();

// The table of a service by its id; null: this host does not have it.
const void* ServiceTable(const char* id);

// One table each, in service_*.cc.
const void* JsonService();
// Documents that were parsed and not released yet, of all plugins.
size_t LiveDocuments();
const void* HttpService();
const void* IoService();
// Services that this version knows by name only: each function answers DETENT_E_UNSUPPORTED. Null
// for an id that is unknown.
const void* AbsentService(const char* id);

}  // namespace detent
