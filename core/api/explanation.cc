#include "core/api/explanation.h"

namespace detent::explanation {

std::string Because(const std::string& why, const std::string& message) {
  if (why.empty() && message.empty()) return "";
  return ": " + (why.empty() ? message : message.empty() ? why : why + ", " + message);
}

std::string InTime(WallTime time, WallTime now) {
  const auto left = std::chrono::duration_cast<std::chrono::seconds>(time - now);
  if (left.count() <= 0) return FormatTime(time) + " (now)";
  return FormatTime(time) + " (in " + FormatAge(left) + ")";
}

std::string OfJob(const std::string& name, const JobStatus& status) {
  return "job " + name + " is " + NameOf(status.phase) + Because(status.reason, status.message);
}

std::string OfOwner(const std::string& job_config, ConcurrencyPolicy policy, size_t unfinished) {
  return "  of jobconfig " + job_config + ", concurrency policy " + NameOf(policy) + ", " +
         std::to_string(unfinished) + " unfinished Job(s)";
}

std::string OfProgress(const Progress& progress) {
  return "  " + std::to_string(progress.succeeded) + " of " + std::to_string(progress.all) +
         " indexes succeeded, " + std::to_string(progress.in_hand) + " in hand, " +
         std::to_string(progress.not_begun) + " not begun";
}

std::string OfNextAttempt(int64_t index, WallTime time, WallTime now) {
  return "  next attempt: index " + std::to_string(index) + " at " + InTime(time, now);
}

std::string OfMoreTasks(size_t count) {
  return "  and " + std::to_string(count) + " more tasks";
}

void AddFailures(const JobStatus& status, Lines& lines) {
  if (!status.failed_indexes.empty()) {
    lines.push_back("  failed indexes: " + status.failed_indexes.ToString());
  }
  for (const auto& [attempt, indexes] : status.failed_attempts) {
    lines.push_back("  attempt " + std::to_string(attempt) + " failed at indexes " +
                    indexes.ToString());
  }
  for (const auto& [attempt, indexes] : status.uncounted_attempts) {
    lines.push_back("  attempt " + std::to_string(attempt) +
                    " was lost, and did not count, at indexes " + indexes.ToString());
  }
  if (!status.failed.empty()) {
    const TaskRecord& last = status.failed.back();
    lines.push_back("  last error: task " + last.name + Because(last.reason, last.message));
  }
}

std::string OfTask(const TaskRecord& task) {
  return "task " + task.name + " (index " + std::to_string(task.index) + ", attempt " +
         std::to_string(task.attempt) + ") is " + NameOf(task.state) +
         Because(task.reason, task.message);
}

std::string OfStoredTask(const std::string& name, const TaskStatus& status) {
  std::string line = "task " + name + " is " + NameOf(status.state);
  if (status.result != TaskResult::kNone) line += std::string(", ") + NameOf(status.result);
  return line + Because(status.reason, status.message);
}

std::string OfConfig(const std::string& name, const JobConfigStatus& status) {
  return "jobconfig " + name + " is " + (status.state.empty() ? "new" : status.state);
}

void AddSlots(const JobConfigStatus& status, bool scheduled, WallTime now, Lines& lines) {
  if (status.next_scheduled) {
    lines.push_back("  next slot: " + InTime(*status.next_scheduled, now));
  } else if (!scheduled) {
    lines.emplace_back("  no slot is due: it has no schedule, or the schedule is disabled");
  }
  if (status.last_scheduled) {
    lines.push_back("  last slot decided: " + FormatTime(*status.last_scheduled));
  }
  if (const auto& skipped = status.last_skipped) {
    lines.push_back("  last slot skipped: " + FormatTime(skipped->slot) +
                    Because(skipped->reason, skipped->message));
  }
}

}  // namespace detent::explanation
