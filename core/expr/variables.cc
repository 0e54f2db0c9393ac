#include "core/expr/variables.h"

#include <algorithm>

#include "core/base/spelling.h"

namespace detent {
namespace {

constexpr std::string_view kOptionPrefix = "option.";
constexpr std::string_view kMatrixPrefix = "task.index_matrix.";
constexpr std::string_view kPrefixes[] = {"job.", "jobconfig.", "task.", kOptionPrefix};

template <typename Entries>
auto LowerBound(Entries& entries, std::string_view name) {
  return std::lower_bound(
      entries.begin(), entries.end(), name,
      [](const auto& entry, std::string_view key) { return entry.first < key; });
}

}  // namespace

void Variables::Set(std::string_view name, std::string_view value) {
  const auto at = LowerBound(entries_, name);
  if (at != entries_.end() && at->first == name) {
    at->second = value;
  } else {
    entries_.emplace(at, name, value);
  }
}

const std::string* Variables::Find(std::string_view name) const {
  const auto at = LowerBound(entries_, name);
  return at != entries_.end() && at->first == name ? &at->second : nullptr;
}

bool HasKnownPrefix(std::string_view name) {
  return std::any_of(std::begin(kPrefixes), std::end(kPrefixes), [&](std::string_view prefix) {
    return name.size() > prefix.size() && name.starts_with(prefix);
  });
}

const std::vector<std::string>& KnownVariables() {
  static const std::vector<std::string> names = {
      "job.max_attempts", "job.name",       "job.namespace",   "job.schedule_time",
      "job.type",         "job.uid",        "jobconfig.name",  "jobconfig.namespace",
      "jobconfig.uid",    "task.attempt",   "task.index_key",  "task.index_num",
      "task.name",        "task.namespace", "task.retry_index"};
  return names;
}

bool KnownVariable(std::string_view name) {
  for (const std::string_view prefix : {kOptionPrefix, kMatrixPrefix}) {
    if (name.size() > prefix.size() && name.starts_with(prefix)) return true;
  }
  const auto& names = KnownVariables();
  return std::binary_search(names.begin(), names.end(), name);
}

std::string ExplainVariable(std::string_view name) {
  if (KnownVariable(name)) return "";
  return "unknown variable '" + std::string(name) + "'" + DidYouMean(name, KnownVariables());
}

}  // namespace detent
