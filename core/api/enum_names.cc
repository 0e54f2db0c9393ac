// The names that enumerations have in JSON; each is written and read here alone.

#include <array>
#include <optional>
#include <string_view>

#include "core/api/field_reader.h"
#include "core/api/job.h"
#include "core/api/job_template.h"
#include "core/api/task.h"

namespace detent {
namespace {

constexpr std::array<const char*, 12> kJobPhases = {
    "Queued",      "Starting", "Pending",   "Running", "RetryBackoff", "Retrying",
    "Terminating", "Killing",  "Succeeded", "Failed",  "Killed",       "AdmissionError"};
constexpr std::array<const char*, 5> kTaskStates = {"Held", "Starting", "Running", "Killing",
                                                    "Terminated"};
constexpr std::array<const char*, 5> kTaskResults = {"", "Succeeded", "Failed", "Killed", "Lost"};

template <typename Enum, size_t N>
std::optional<Enum> Lookup(const std::array<const char*, N>& names, std::string_view name) {
  for (size_t i = 0; i < N; ++i) {
    if (name == names[i]) return static_cast<Enum>(i);
  }
  return std::nullopt;
}

}  // namespace

const char* NameOf(ConcurrencyPolicy policy) {
  return policy == ConcurrencyPolicy::kAllow ? "Allow" : "Forbid";
}

const char* NameOf(JobType type) {
  return type == JobType::kAdhoc ? "Adhoc" : "Scheduled";
}

std::optional<ConcurrencyPolicy> PolicyFromName(std::string_view name) {
  if (name == "Allow") return ConcurrencyPolicy::kAllow;
  if (name == "Forbid") return ConcurrencyPolicy::kForbid;
  return std::nullopt;
}

std::optional<JobType> JobTypeFromName(std::string_view name) {
  if (name == "Adhoc") return JobType::kAdhoc;
  if (name == "Scheduled") return JobType::kScheduled;
  return std::nullopt;
}

const char* NameOf(JobPhase phase) {
  return kJobPhases[static_cast<size_t>(phase)];
}
std::optional<JobPhase> JobPhaseFromName(std::string_view name) {
  return Lookup<JobPhase>(kJobPhases, name);
}

bool IsFinished(JobPhase phase) {
  return phase >= JobPhase::kSucceeded;
}

const char* NameOf(TaskState state) {
  return kTaskStates[static_cast<size_t>(state)];
}
const char* NameOf(TaskResult result) {
  return kTaskResults[static_cast<size_t>(result)];
}
std::optional<TaskState> TaskStateFromName(std::string_view name) {
  return Lookup<TaskState>(kTaskStates, name);
}
std::optional<TaskResult> TaskResultFromName(std::string_view name) {
  return Lookup<TaskResult>(kTaskResults, name);
}

}  // namespace detent
