#include "core/control/task_factory.h"

#include "core/api/codec.h"
#include "core/api/labels.h"
#include "core/base/names.h"
#include "core/expr/variables.h"

namespace detent {
namespace {

Variables VariablesOf(const ObjectMeta& job, const JobSpec& spec, const std::string& task_name,
                      AttemptRef ref) {
  Variables variables;
  if (const OwnerReference* config = ControllerOf(job); config && config->kind == "JobConfig") {
    variables.Set("jobconfig.uid", config->uid);
    variables.Set("jobconfig.name", config->name);
    variables.Set("jobconfig.namespace", job.ns);
  }
  variables.Set("job.uid", job.uid);
  variables.Set("job.name", job.name);
  variables.Set("job.namespace", job.ns);
  variables.Set("job.type", NameOf(spec.type));
  variables.Set("job.max_attempts", spec.job_template.max_attempts);
  if (const auto slot = job.annotations.find(labels::kSlot); slot != job.annotations.end()) {
    variables.Set("job.schedule_time", slot->second);
  }
  variables.Set("task.name", task_name);
  variables.Set("task.namespace", job.ns);
  variables.Set("task.retry_index", ref.attempt - 1);
  variables.Set("task.attempt", ref.attempt);
  variables.Set("task.index_num", ref.index);
  for (const auto& [name, value] : spec.substitutions) variables.Set(name, value);
  return variables;
}

}  // namespace

Result<SpecText> TaskFactory::Render(AttemptRef ref) const {
  if (spec_template.constant()) return spec_template.constant();
  const std::string name = TaskName(job.name, job.uid, ref.index, ref.attempt);
  std::string rendered;
  TRY(spec_template.Render(VariablesOf(job, spec, name, ref), rendered));
  return MakeSpecText(std::move(rendered));
}

Result<NewTask> TaskFactory::Make(AttemptRef ref, TaskState state, WallTime now) const {
  auto task = std::make_shared<Object>();
  task->kind = Kind::kTask;
  ObjectMeta& meta = task->meta;
  meta.name = TaskName(job.name, job.uid, ref.index, ref.attempt);
  meta.ns = job.ns;
  meta.uid = DerivedUid(TaskKey(job.uid, ref.index, ref.attempt));
  meta.generation = 1;
  meta.created = now;
  meta.labels = {{labels::kAttempt, std::to_string(ref.attempt)},
                 {labels::kIndex, std::to_string(ref.index)},
                 {labels::kJobName, JobLabelValue(job.name)},
                 {labels::kJobUid, job.uid}};
  meta.finalizers = {labels::kTaskTracking};
  meta.owners = {{kGroupVersion, "Job", job.name, job.uid, true, true}};

  TaskSpec task_spec;
  task_spec.job_name = job.name;
  task_spec.job_uid = job.uid;
  task_spec.index = ref.index;
  task_spec.attempt = ref.attempt;
  task_spec.kind = spec.job_template.task_template.kind;
  SpecText text = TRY(Render(ref));
  task_spec.executor_spec = *text;
  task->spec = EncodeTaskSpec(task_spec);

  TaskStatus status;
  status.state = state;
  task->status = EncodeTaskStatus(status);
  return NewTask{std::move(task), std::move(text)};
}

}  // namespace detent
