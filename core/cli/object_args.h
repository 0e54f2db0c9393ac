// What a command is about, as users write it: "jobs", "job/hello", "job a b", "jobs,tasks", "all".
// Pure.

#pragma once

#include <string>
#include <vector>

#include "core/api/object.h"
#include "core/base/json.h"
#include "core/base/result.h"

namespace detent {

struct ObjectArg {
  Kind kind = Kind::kJob;
  std::string name;
};

struct ObjectArgs {
  std::vector<Kind> kinds;         // Of whole collections, where no names were given.
  std::vector<ObjectArg> objects;  // In the order given.
};

// Also takes "job.execution.detent.dev/hello". kInvalid: an unknown type, with the nearest known.
Result<ObjectArgs> ParseObjects(const std::vector<std::string>& words);

// For commands about one object: TYPE/NAME or TYPE NAME.
Result<ObjectArg> ParseObject(const std::vector<std::string>& words);

// "job.execution.detent.dev/hello", as results are reported and `-o name` shows it.
std::string ShownName(Kind kind, const std::string& name);

// The kind and name of a document that the server sent.
ObjectArg ObjectArgOf(const Json& object, Kind absent);

}  // namespace detent
