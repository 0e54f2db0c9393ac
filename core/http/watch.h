// Watches: the changes of a kind as they happen, one JSON line each, until the client goes, its
// time is over, or it has fallen so far behind that the changes are gone (410).
//
// A watch holds a cursor into the ChangeLog and nothing more, so a client that reads slowly costs
// no memory; one that does not read at all is dropped by the server's send timeout.

#pragma once

#include <optional>
#include <string_view>

#include "core/http/api_context.h"
#include "core/http/list_options.h"
#include "core/http/request.h"
#include "core/store/change_log.h"

namespace detent {

Response Watch(const ApiContext& context, const Request& request, const Target& target,
               const ListOptions& options);

// "ADDED", "MODIFIED" or "DELETED" as a watcher with these selectors must see `change`, or nullopt
// if it is none of its business. An object that stops matching is DELETED to it. Where the state
// before is unknown and may have matched, the answer is the one that no client is hurt by.
std::optional<std::string_view> EventFor(const Change& change, const Selectors& selectors);

}  // namespace detent
