#include "core/sched/reason.h"

namespace detent::reason {

bool IsEndOfJob(std::string_view reason) {
  return reason == kOtherIndexFailed || reason == kJobKilled || reason == kJobDeleted;
}

std::string ForbidMessage(std::string_view job_config, int64_t active, int64_t max) {
  return "JobConfig " + std::string(job_config) + " has " + std::to_string(active) +
         " active Job(s), and its concurrency policy is Forbid with maxConcurrency " +
         std::to_string(max);
}

std::string MissedMessage(int64_t skipped, int64_t kept) {
  return std::to_string(skipped) +
         " slot(s) came due and were not decided in time, as no host ran or it was paused; the "
         "newest " +
         std::to_string(kept) + " are caught up (cron.maxMissedSchedules)";
}

std::string NoJobConfigMessage(std::string_view job_config) {
  return "spec.configName names the JobConfig \"" + std::string(job_config) +
         "\", which does not exist in its namespace; create it and then the Job again";
}

std::string NotYetDueMessage(WallTime start_after) {
  return "waits for spec.startPolicy.startAfter, " + FormatTime(start_after);
}

std::string ExecutorUnavailableMessage(std::string_view kind, std::string_view why) {
  return "the executor '" + std::string(kind) + "' cannot be used now: " + std::string(why);
}

std::string TaskLimitMessage(std::string_view kind, int64_t limit) {
  return "the executor '" + std::string(kind) + "' carries its limit of " + std::to_string(limit) +
         " tasks";
}

std::string IndexFailedMessage(int64_t index, int64_t attempts, std::string_view why) {
  std::string text = "index " + std::to_string(index) + " failed after " +
                     std::to_string(attempts) + (attempts == 1 ? " attempt" : " attempts");
  if (!why.empty()) text.append(": ").append(why);
  return text;
}

}  // namespace detent::reason
