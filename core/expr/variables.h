// The names that `${...}` may use, and the values that one task gives them.
//
// A Variables is a small map, filled by the caller and then read by templates. To render for one
// task after another, keep one and set anew what differs. One thread at a time; reading is const.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace detent {

class Variables {
 public:
  // Adds or replaces. Names are full: "job.name", "option.bucket".
  void Set(std::string_view name, std::string_view value);
  void Set(std::string_view name, int64_t value) { Set(name, std::to_string(value)); }

  // Null if there is none. Borrowed until the next Set.
  const std::string* Find(std::string_view name) const;

  size_t size() const { return entries_.size(); }

 private:
  std::vector<std::pair<std::string, std::string>> entries_;  // Sorted by name.
};

// True if `name` begins with "job.", "jobconfig.", "task." or "option.": then `${name}` is ours to
// replace, otherwise it is left alone, as it may be a shell's.
bool HasKnownPrefix(std::string_view name);

// True for the variables that the host sets (below), task.index_matrix.<key> and option.<name>,
// whatever the key or name.
//
//   jobconfig.uid .name .namespace        only if the Job belongs to a JobConfig
//   job.uid .name .namespace .type        type is Adhoc or Scheduled
//   job.max_attempts
//   job.schedule_time                     RFC 3339; only if the Job is Scheduled
//   task.name .namespace
//   task.retry_index .attempt             the same, counted from 0 and from 1
//   task.index_num .index_key .index_matrix.<key>      which of them depends on the parallelism
bool KnownVariable(std::string_view name);

// All that have a fixed name, sorted.
const std::vector<std::string>& KnownVariables();

// Empty if known, otherwise a sentence: "unknown variable 'job.nam' (did you mean 'job.name'?)".
std::string ExplainVariable(std::string_view name);

}  // namespace detent
