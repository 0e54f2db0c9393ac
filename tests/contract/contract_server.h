// The server that the contract is held against: one that DETENT_CONTRACT_SERVER names (then with
// DETENT_CONTRACT_GROUP and DETENT_CONTRACT_TOKEN), or our own over a SQLite store in a new
// directory, on a free port. Made at the first use, gone with the process.

#pragma once

#include <string>

#include "core/base/json.h"
#include "tests/support/http_client.h"

namespace detent::testing {

const HttpServerAddress& ContractServer();
bool ContractServerIsOurs();  // Not one that was named.

// "/apis/<group>/v1alpha1/namespaces/default/<resource>", with "/<name>" where there is one.
std::string PathOf(const std::string& resource, const std::string& name = "");
// The same in all namespaces.
std::string AllPathOf(const std::string& resource);
std::string ContractGroup();

// A name that no other test has.
std::string FreshName(const std::string& base);

// Valid objects as JSON text; `labels` and further metadata as members: "\"labels\":{\"a\":\"b\"}".
std::string JobConfigText(const std::string& name, const std::string& more_metadata = "");
std::string JobText(const std::string& name);

// Requests to the contract's server.
HttpAnswer Do(const std::string& method, const std::string& path, const std::string& body = "",
              const std::string& content_type = "application/json");
HttpAnswer GetAs(const std::string& path, const std::string& accept);

// A watch's address with its query.
HttpCall WatchOf(const std::string& resource, const std::string& query);

}  // namespace detent::testing
