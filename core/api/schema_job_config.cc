// Fields of a JobConfig.

#include "core/api/schema_fields.h"

namespace detent {
namespace {

Fields ScheduleFields() {
  return {
      Required(Struct(
          "cron", "Slots by cron expressions.",
          {
              Text("expression",
                   "One cron expression of 5 to 7 fields: with 6 a year comes last, with 7 seconds "
                   "come first as well. H stands for a value made from the JobConfig's name."),
              Texts("expressions",
                    "Several cron expressions, in place of expression; slots that fall together "
                    "count once."),
              Text("timezone",
                   "Time zone of the expressions: a name of the tz database such as "
                   "Asia/Singapore, or an offset such as UTC+08:00. Default: the host's "
                   "cron.defaultTimezone."),
          })),
      Truth("disabled",
            "No slots until it is false again. Jobs by hand still run. Default: false."),
      Struct("constraints", "Bounds of the schedule.",
             {
                 Moment("notBefore", "No slot before this time; the time itself may be one."),
                 Moment("notAfter", "No slot after this time; the time itself may be one."),
             }),
      Moment("lastUpdated",
             "Slots before this time are not caught up on. Set by the host when the schedule "
             "changes."),
  };
}

Fields JobConfigSpecFields() {
  return {
      Required(Struct(
          "concurrency", "How many Jobs of this JobConfig may run at the same time.",
          {
              Required(ConcurrencyPolicyField(
                  "policy",
                  "Allow: as many as there are. Forbid: maxConcurrency, and a slot that comes "
                  "while they run is skipped.")),
              Number("maxConcurrency",
                     "Of policy Forbid: at least 1. Default: 1. kubectl scale sets it."),
          })),
      Struct("schedule", "When Jobs start by themselves. Default: only by hand.", ScheduleFields()),
      Required(Struct(
          "template", "What each Job is made from.",
          {
              Struct("metadata", "Copied to each Job.",
                     {
                         TextMap("labels", "Labels of each Job."),
                         TextMap("annotations", "Annotations of each Job."),
                     }),
              Required(Struct("spec", "Becomes spec.template of each Job.", JobTemplateFields())),
          })),
      NotOffered(Struct("option", "Values that a Job may be given when it is created.", {})),
  };
}

Fields JobConfigStatusFields() {
  return {
      Text("state", "Ready, ReadyEnabled, ReadyDisabled, JobQueued or Executing."),
      Number("active", "Jobs that have started and not ended."),
      Number("queued", "Jobs that wait to start."),
      Structs("activeJobs", "The oldest of the active Jobs, at most 20.",
              {
                  Text("name", "Name of the Job."),
                  Text("uid", "UID of the Job."),
                  Text("phase", "Phase of the Job."),
                  Moment("creationTimestamp", "When the Job was created."),
              }),
      Moment("lastScheduled", "The newest slot that was decided, run or skipped."),
      Moment("lastExecuted", "When a Job last started."),
      Moment("nextScheduled", "The next slot."),
      Number("skipped", "Slots skipped so far."),
      Struct("lastSkipped", "The newest slot that was skipped, and why.",
             {
                 Moment("slot", "The slot."),
                 Text("reason", "One word for it."),
                 Text("message", "The same for a person."),
             }),
  };
}

}  // namespace

Fields JobConfigFields() {
  return ObjectFields("What to run, and when.", JobConfigSpecFields(), JobConfigStatusFields());
}

}  // namespace detent
