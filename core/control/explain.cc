#include "core/control/explain.h"

#include "core/api/codec.h"
#include "core/api/explanation.h"
#include "core/sched/outcome.h"
#include "core/sched/reason.h"

namespace detent {
namespace {

using explanation::InTime;
using explanation::Lines;

void ExplainTask(Context& context, const TaskEntry& task, Lines& lines, const std::string& indent) {
  TaskRecord known;
  known.name = task.object->meta.name;
  known.index = task.index;
  known.attempt = task.attempt;
  known.state = task.status.state;
  known.reason = task.status.reason;
  known.message = task.status.message;
  lines.push_back(indent + explanation::OfTask(known));
  const std::string inner = indent + "  ";
  if (!context.executors.Find(task.kind)) {
    lines.push_back(
        inner + reason::kExecutorUnavailable + ": " +
        reason::ExecutorUnavailableMessage(task.kind, context.executors.WhyNot(task.kind).second));
  }
  if (task.held_up) {
    const auto& [why, message] = *task.held_up;
    lines.push_back(inner + "the executor said: " + why + (why.empty() ? "" : ": ") + message);
  }
  if (task.not_before)
    lines.push_back(inner + "asked again at " + InTime(*task.not_before, context.now));
  if (task.kill_wanted && task.stage < TaskStage::kEnded) {
    lines.push_back(inner + "it is being ended: " + task.kill_reason);
  }
  if (task.write_in_flight) lines.push_back(inner + "a write of it is not durable yet");
}

void ExplainGoing(Context& context, const JobEntry& job, const JobView& view, Lines& lines) {
  const std::string& kind = job.spec.job_template.task_template.kind;
  if (!view.executor_usable) {
    lines.push_back(
        "  held by " + std::string(reason::kExecutorUnavailable) + ": " +
        reason::ExecutorUnavailableMessage(kind, context.executors.WhyNot(kind).second));
  }
  if (const std::string complaint = context.executors.Complaint(kind); !complaint.empty()) {
    lines.push_back("  the executor of kind " + kind + " is not well: " + complaint);
  }
  lines.push_back(explanation::OfProgress(
      {job.status.succeeded_indexes.count(), job.spec.job_template.index_count(),
       static_cast<int64_t>(job.tasks.size()), view.indexes_not_begun}));
  if (!job.retries.empty()) {
    const auto& [time, index] = *job.retries.begin();
    lines.push_back(explanation::OfNextAttempt(index, time, context.now));
  }
  size_t shown = 0;
  for (const auto& [index, task] : job.tasks) {
    if (++shown > explanation::kTasksShown) {
      lines.push_back(explanation::OfMoreTasks(job.tasks.size() - explanation::kTasksShown));
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
  lines.push_back(explanation::OfJob(object.meta.name, status));
  if (job && job->config) {
    lines.push_back(explanation::OfOwner(job->config->object->meta.name, job->config->policy,
                                         job->config->unfinished.size()));
  }
  if (job && status.started && !status.finished) {
    ExplainGoing(context, *job, jobs.View(*job), lines);
  }
  explanation::AddFailures(status, lines);
  return lines;
}

Lines ExplainConfig(Context& context, const Object& object) {
  Lines lines;
  const ConfigEntry* config = context.model.FindConfig(object.key());
  const auto status = DecodeJobConfigStatus(object.status);
  lines.push_back(explanation::OfConfig(object.meta.name, status ? *status : JobConfigStatus()));
  if (!config) return lines;
  if (!config->mistake.empty()) lines.push_back("  its spec cannot be used: " + config->mistake);
  explanation::AddSlots(config->status, config->schedule != nullptr, context.now, lines);
  for (const auto& [created, job] : config->unfinished) {
    lines.push_back("  " + explanation::OfJob(job->object->meta.name, job->status));
  }
  return lines;
}

Lines ExplainStoredTask(const Object& object) {
  const auto status = DecodeTaskStatus(object.status);
  if (!status) return {"task " + object.meta.name};
  return {explanation::OfStoredTask(object.meta.name, *status)};
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
