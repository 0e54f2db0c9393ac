// The output of a task: what its Pod's main container left in its termination message. Pure, any
// thread.
//
// Kubernetes keeps up to 4 KiB of it, which fit into an output however they have to be escaped.

#pragma once

#include <string>
#include <string_view>

#include "detent/host.h"
#include "detent/sdk/status.h"
#include "plugins/pod/pod.h"

namespace detent::pod {

// Who evaluates: a host, and the instance that asks (0 in pure calls).
struct Evaluator {
  const detent_host* host = nullptr;
  detent_instance instance = 0;
};

struct Output {
  std::string json;        // empty: there is none
  bool truncated = false;  // more was selected than a task may keep: this is the message as text
};

// JSON where the message is JSON, else a JSON text. With a path, which must be good (CheckPath),
// what it selects of a message that is JSON: the value, `null` if there is none, a list if there
// are several.
Output OutputOf(const Pod& pod, std::string_view path, const Evaluator& evaluator);

// Whether `path` can be used: detent.expr/1 is there, and the path is one. What is wrong with it
// goes to diag too, if that is not null.
sdk::Status CheckPath(std::string_view path, const Evaluator& evaluator, detent_diag* diag);

}  // namespace detent::pod
