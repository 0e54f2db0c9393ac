#include "core/control/explain.h"

#include <algorithm>

#include "core/api/codec.h"
#include "core/sched/outcome.h"
#include "core/sched/reason.h"

namespace detent {
namespace {

using Lines = std::vector<std::string>;

std::string Because(const std::string& why, const std::string& message) {
  if (why.empty() && message.empty()) return "";
  return ": " + (why.empty() ? message : message.empty() ? why : why + ", " + message);
}

std::string InTime(Context& context, WallTime time) {
  const auto left = std::chrono::duration_cast<std::chrono::seconds>(time - context.now);
  if (left.count() <= 0) return FormatTime(time) + " (now)";
  return FormatTime(time) + " (in " + FormatAge(left) + ")";
}

void ExplainTask(Context& context, const TaskEntry& task, Lines& lines, const std::string& indent) {
  std::string line = indent + "task " + task.object->meta.name + " (index " +
                     std::to_string(task.index) + ", attempt " + std::to_string(task.attempt) +
                     ") is " + NameOf(task.status.state) +
                     Because(task.status.reason, task.status.message);
  lines.push_back(line);
  const std::string inner = indent + "  ";
  if (!context.executors.Find(task.kind)) {
    lines.push_back(
        inner + reason::kExecutorUnavailable + ": " +
        reason::ExecutorUnavailableMessage(task.kind, context.executors.WhyNot(task.kind).second));
  }
  if (!task.waits_for.empty()) lines.push_back(inner + "the executor said: " + task.waits_for);
  if (task.not_before)
    lines.push_back(inner + "asked again at " + InTime(context, *task.not_before));
  if (task.kill_wanted && task.stage < TaskStage::kEnded) {
    lines.push_back(inner + "it is being ended: " + task.kill_reason);
  }
  if (task.write_in_flight) lines.push_back(inner + "a write of it is not durable yet");
}

void ExplainFailures(const JobStatus& status, Lines& lines) {
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

void ExplainGoing(Context& context, const JobEntry& job, const JobView& view, Lines& lines) {
  if (!view.executor_usable) {
    const std::string& kind = job.spec.job_template.task_template.kind;
    lines.push_back(
        "  held by " + std::string(reason::kExecutorUnavailable) + ": " +
        reason::ExecutorUnavailableMessage(kind, context.executors.WhyNot(kind).second));
  }
  lines.push_back("  " + std::to_string(job.status.succeeded_indexes.count()) + " of " +
                  std::to_string(job.spec.job_template.index_count()) + " indexes succeeded, " +
                  std::to_string(job.tasks.size()) + " in hand, " +
                  std::to_string(view.indexes_not_begun) + " not begun");
  if (!job.retries.empty()) {
    lines.push_back("  next attempt: index " + std::to_string(job.retries.begin()->second) +
                    " at " + InTime(context, job.retries.begin()->first));
  }
  size_t shown = 0;
  for (const auto& [index, task] : job.tasks) {
    if (++shown > 5) {
      lines.push_back("  and " + std::to_string(job.tasks.size() - 5) + " more tasks");
      break;
    }
    ExplainTask(context, *task, lines, "  ");
  }
}

Lines ExplainJob(Context& context, const JobController& jobs, const Object& object) {
  Lines lines;
  const JobEntry* job = context.model.FindJob(object.key());
  const auto stored = DecodeJobStatus(object.status);
  const JobStatus& status = job && !job->status.finished ? job->status
                            : stored                     ? *stored
                                                         : job->status;
  lines.push_back("job " + object.meta.name + " is " + NameOf(status.phase) +
                  Because(status.reason, status.message));
  if (job && job->config) {
    lines.push_back("  of jobconfig " + job->config->object->meta.name + ", concurrency policy " +
                    NameOf(job->config->policy) + ", " +
                    std::to_string(job->config->unfinished.size()) + " unfinished Job(s)");
  }
  if (job && status.started && !status.finished) {
    ExplainGoing(context, *job, jobs.View(*job), lines);
  }
  ExplainFailures(status, lines);
  return lines;
}

Lines ExplainConfig(Context& context, const Object& object) {
  Lines lines;
  const ConfigEntry* config = context.model.FindConfig(object.key());
  const auto status = DecodeJobConfigStatus(object.status);
  lines.push_back("jobconfig " + object.meta.name + " is " +
                  (status && !status->state.empty() ? status->state : "new"));
  if (!config) return lines;
  if (!config->mistake.empty()) lines.push_back("  its spec cannot be used: " + config->mistake);
  if (config->status.next_scheduled) {
    lines.push_back("  next slot: " + InTime(context, *config->status.next_scheduled));
  } else if (!config->schedule) {
    lines.push_back("  no slot is due: it has no schedule, or the schedule is disabled");
  }
  if (config->status.last_scheduled) {
    lines.push_back("  last slot decided: " + FormatTime(*config->status.last_scheduled));
  }
  if (const auto& skipped = config->status.last_skipped) {
    lines.push_back("  last slot skipped: " + FormatTime(skipped->slot) +
                    Because(skipped->reason, skipped->message));
  }
  for (const auto& [created, job] : config->unfinished) {
    lines.push_back("  job " + job->object->meta.name + " is " + NameOf(job->status.phase) +
                    Because(job->status.reason, job->status.message));
  }
  return lines;
}

Lines ExplainStoredTask(const Object& object) {
  const auto status = DecodeTaskStatus(object.status);
  Lines lines{"task " + object.meta.name};
  if (!status) return lines;
  lines[0] += std::string(" is ") + NameOf(status->state);
  if (status->result != TaskResult::kNone) lines[0] += std::string(", ") + NameOf(status->result);
  lines[0] += Because(status->reason, status->message);
  return lines;
}

}  // namespace

Result<std::vector<std::string>> ExplainObject(Context& context, const JobController& jobs,
                                               const ObjectKey& key) {
  const ObjectPtr object = TRY(context.store.Read(key));
  if (key.kind == Kind::kJobConfig) return ExplainConfig(context, *object);
  if (key.kind == Kind::kJob) return ExplainJob(context, jobs, *object);
  Lines lines;
  if (const TaskEntry* task = context.model.FindTask(key)) {
    ExplainTask(context, *task, lines, "");
  } else {
    lines = ExplainStoredTask(*object);
  }
  return lines;
}

}  // namespace detent
