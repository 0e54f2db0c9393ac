// The table of functions that every plugin in this process is given (detent/host.h), and the tables
// of its services. Static; any thread.

#pragma once

#include "detent/host.h"

namespace detent {

class Json;

const detent_host* HostTable();

// The table of a service by its id; null: this host does not have it. `has_cluster`: the instance
// that asks was given one.
const void* ServiceTable(const char* id, bool has_cluster);

// One table each, in service_*.cc.
const void* JsonService();
// Documents that were parsed and not released yet, of all plugins.
size_t LiveDocuments();
// The value at a node, valid while the document is. E_STALE: that has ended. E_NOT_FOUND: there is
// no such node.
detent_status NodeValue(detent_doc doc, detent_node node, const Json*& out);
const void* ExprService();
const void* HttpService();
const void* IoService();
const void* KubeService();
const void* WatchService();
// Services that this version knows by name only: each function answers DETENT_E_UNSUPPORTED. Null
// for an id that is unknown.
const void* AbsentService(const char* id);

}  // namespace detent
