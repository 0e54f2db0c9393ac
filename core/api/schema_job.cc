// Fields of a Job.

#include "core/api/schema_fields.h"

namespace detent {
namespace {

Fields JobSpecFields() {
  return {
      Text("configName",
           "Name of a JobConfig to make this Job from. Resolved when the Job is created, and not "
           "kept; the labels and the owner say where the Job came from."),
      OneOf("type", "Who asked for it: a slot (Scheduled) or a person (Adhoc, the default).",
            {"Adhoc", "Scheduled"}),
      Struct("startPolicy", "When the Job may start.",
             {
                 ConcurrencyPolicyField("concurrencyPolicy",
                                        "In place of the JobConfig's concurrency.policy."),
                 Moment("startAfter", "Do not start before this time."),
             }),
      Struct("template", "What the Job does. Required unless configName is given.",
             JobTemplateFields()),
      TextMap("substitutions",
              "Values of variables by their full name, such as job.name; they win over all "
              "others."),
      Moment("killTimestamp", "Kill all tasks at this time. Cannot be changed once it has passed."),
      Number("ttlSecondsAfterFinished",
             "Seconds to keep the Job after it has ended; 0 deletes it at once. Default: the "
             "host's jobs.defaultTTLSecondsAfterFinished."),
      NotOffered(Text("optionValues", "Values for the options of the JobConfig.")),
  };
}

Fields RecordFields() {
  return {
      Text("name", "Name of the task."),
      Number("index", "Index that it works on."),
      Number("attempt", "Which attempt at the index it is, from 1."),
      Text("state", "Held, Starting, Running, Killing or Terminated."),
      Text("result", "Succeeded, Failed, Killed or Lost, once it has ended."),
      Text("reason", "One word for the result."),
      Text("message", "The same for a person."),
      Number("exitCode", "Exit code, where the executor has one."),
      Moment("creationTimestamp", "When the attempt began."),
      Moment("runningTimestamp", "When it was first seen running."),
      Moment("finishTimestamp", "When it ended."),
  };
}

Field AttemptsField(std::string_view name, std::string_view description) {
  return Structs(name, description,
                 {
                     Number("attempt", "Number of the attempt, from 1."),
                     Text("indexes", "Indexes as intervals, such as 0-41,43."),
                 });
}

Fields ConditionFields() {
  const Field reason = Text("reason", "One word for why the Job is where it is.");
  const Field message = Text("message", "The same for a person.");
  return {
      Struct("queueing", "The Job has not started.", {reason, message}),
      Struct("waiting", "The Job waits for tasks.", {reason, message}),
      Struct("running", "The Job runs.",
             {
                 Moment("latestTaskCreationTimestamp", "When the newest of its attempts began."),
                 Moment("latestRunningTimestamp", "When one was last seen to begin to run."),
                 Number("terminatingTasks", "Tasks that are being ended."),
             }),
      Struct("finished", "The Job has ended.",
             {
                 Moment("finishTime", "When it ended."),
                 Text("result", "Success, Failed, Killed or AdmissionError."),
                 reason,
                 message,
             }),
  };
}

Fields JobStatusFields() {
  return {
      Text("phase",
           "Queued, Starting, Pending, Running, RetryBackoff, Retrying, Terminating, Killing, "
           "Succeeded, Failed, Killed or AdmissionError."),
      Text("state", "Queued, Waiting, Running or Finished: which member condition has."),
      Text("reason", "One word for why the Job is where it is."),
      Text("message", "The same for a person."),
      Moment("startTime", "When the Job was let start. Absent while it is queued."),
      Moment("finishTime", "When the Job ended."),
      Number("indexes", "Number of indexes."),
      Number("createdTasks", "Attempts begun."),
      Number("activeTasks", "Attempts begun and not ended."),
      Number("runningTasks", "Attempts seen running and not ended."),
      Number("succeeded", "Number of indexes that have succeeded."),
      Number("failed", "Number of indexes that have failed."),
      Text("succeededIndexes", "Indexes that have succeeded, as intervals: 0-41,43-99."),
      Text("failedIndexes", "Indexes that have failed for good, as intervals."),
      Number("reservedIndexes",
             "Where no Tasks are stored, because the executor's own objects are the record: "
             "attempts may have begun at indexes below."),
      Text("activeIndexes", "Of these, the ones whose object was seen and has not ended."),
      AttemptsField("failedAttempts", "Indexes whose attempt of this number failed."),
      AttemptsField("uncountedAttempts",
                    "Indexes whose attempt of this number ended without counting against "
                    "maxAttempts."),
      Struct("tasks", "Records of some tasks: of each sort the newest 20.",
             {
                 Structs("active", "Tasks that have not ended.", RecordFields()),
                 Structs("failed", "Tasks that did not succeed.", RecordFields()),
                 Structs("succeeded", "Tasks that succeeded.", RecordFields()),
             }),
      Struct("condition", "How the Job stands: one member.", ConditionFields()),
      Structs("conditions", "Complete or Failed, once the Job has ended.",
              {
                  Text("type", "Complete or Failed."),
                  Text("status", "True."),
                  Text("reason", "One word for it."),
                  Text("message", "The same for a person."),
                  Moment("lastTransitionTime", "When the Job ended."),
              }),
  };
}

}  // namespace

Fields JobFields() {
  return ObjectFields("What this run does.", JobSpecFields(), JobStatusFields());
}

}  // namespace detent
