// Fields of the statuses of Furiko's kinds, as far as ours say something for them; and those few of
// ours that Furiko has no place for.

#include "core/api/schema_fields.h"
#include "core/crd/furiko_crd.h"

namespace detent {
namespace {

Fields FurikoReasonFields() {
  return {Text("reason", "One word for why it is so."), Text("message", "The same for a person.")};
}

Fields FurikoTaskStateFields() {
  return {
      Text("state", "Starting, Running, Killing, Terminated or DeletedFinalStateUnknown."),
      Text("result", "Succeeded, Failed or Killed, once it has ended."),
      Text("reason", "One word for the result."),
      Text("message", "The same for a person."),
  };
}

Fields FurikoTaskFields() {
  return {
      Text("name", "Name of the task."),
      Moment("creationTimestamp", "When the attempt began."),
      Moment("runningTimestamp", "When it was first seen running."),
      Moment("finishTimestamp", "When it ended."),
      Number("retryIndex", "Which attempt at the index it is, from 0."),
      Struct("parallelIndex", "The index that it works on.",
             {Number("indexNumber", "Number of the index, from 0.")}),
      Struct("status", "How the task stands.", FurikoTaskStateFields()),
      Structs("containerStates", "How its containers ended.", {Number("exitCode", "Exit code.")}),
  };
}

Fields FurikoConditionFields() {
  return {
      Struct("queueing", "The Job has not started.", FurikoReasonFields()),
      Struct("waiting", "The Job waits for tasks.", FurikoReasonFields()),
      Struct("running", "The Job runs.",
             {
                 Moment("latestTaskCreationTimestamp", "When the newest of its attempts began."),
                 Moment("latestRunningTimestamp", "When one was last seen to begin to run."),
                 Number("terminatingTasks", "Tasks that are being ended."),
             }),
      Struct("finished", "The Job has ended.",
             {
                 Moment("latestCreationTimestamp", "When the newest of its attempts began."),
                 Moment("latestRunningTimestamp", "When one was last seen to begin to run."),
                 Moment("finishTime", "When it ended."),
                 Text("result", "Success, Failed, Killed or AdmissionError."),
                 Text("reason", "One word for why it is so."),
                 Text("message", "The same for a person."),
             }),
  };
}

Fields FurikoJobStatusFields() {
  return {
      Text("phase",
           "Queued, Starting, Pending, Running, RetryBackoff, Retrying, Terminating, Killing, "
           "Succeeded, Failed, Killed or AdmissionError."),
      Text("state", "Queued, Waiting, Running or Finished: which member condition has."),
      Struct("condition", "How the Job stands: one member.", FurikoConditionFields()),
      Moment("startTime", "When the Job was let start. Absent while it is queued."),
      Number("createdTasks", "Attempts begun."),
      Number("runningTasks", "Attempts seen running and not ended."),
      Structs("tasks", "Some of the tasks: of each sort the newest 20.", FurikoTaskFields()),
      Struct("parallelStatus", "How the indexes stand, where there is parallelism.",
             {
                 Truth("complete", "Whether the Job's result is certain."),
                 Truth("successful", "Whether every index has succeeded, once it is complete."),
             }),
      Number("succeeded", "Number of indexes that have succeeded."),
      Number("failed", "Number of indexes that have failed."),
      Structs("conditions", "Complete or Failed, once the Job has ended.",
              {
                  Text("type", "Complete or Failed."),
                  Text("status", "True."),
                  Text("reason", "One word for it."),
                  Text("message", "The same for a person."),
                  Moment("lastTransitionTime", "When the Job ended."),
              }),
      Text("detentUID", "UID of the Job of Detent that does the work, from when there was one."),
  };
}

Fields FurikoJobConfigStatusFields() {
  return {
      Text("state",
           "Ready, ReadyEnabled, ReadyDisabled, JobQueued or Executing; AdmissionError where what "
           "is written cannot be done."),
      Text("reason", "Of AdmissionError: one word for it."),
      Text("message", "The same for a person."),
      Number("queued", "Jobs that wait to start."),
      Number("active", "Jobs that have started and not ended."),
      Structs("activeJobs", "The oldest of the active Jobs, at most 20.",
              {
                  Text("name", "Name of the Job."),
                  Text("uid", "UID of the Job of Detent that does the work."),
                  Text("phase", "Phase of the Job."),
                  Moment("creationTimestamp", "When the Job was created."),
              }),
      Moment("lastScheduled", "The newest slot that was decided, run or skipped."),
      Moment("lastExecuted", "When a Job last started."),
  };
}

}  // namespace

std::vector<Field> FurikoStatusFieldsOf(Kind kind) {
  return kind == Kind::kJobConfig ? FurikoJobConfigStatusFields() : FurikoJobStatusFields();
}

}  // namespace detent
