#include "core/crd/printer_columns.h"

namespace detent {
namespace {

constexpr PrinterColumn kAge = {"Age", "date", ".metadata.creationTimestamp",
                                "How long ago the object was created."};

}  // namespace

const std::vector<PrinterColumn>& PrinterColumnsOf(Kind kind) {
  static const std::vector<PrinterColumn> job_config = {
      {"Policy", "string", ".spec.concurrency.policy",
       "What happens to a slot while a Job is active."},
      // Of the two the one that is there.
      {"Schedule", "string", ".spec.schedule.cron['expression','expressions']",
       "The cron expressions."},
      {"Timezone", "string", ".spec.schedule.cron.timezone",
       "The time zone that the expressions are read in."},
      {"State", "string", ".status.state",
       "Whether Jobs are queued or running, or slots come at all."},
      {"Active", "integer", ".status.active", "Jobs that have started and not ended."},
      {"Last Scheduled", "date", ".status.lastScheduled",
       "How long ago the newest slot was decided."},
      kAge,
      // A time to come has no age.
      {"Next", "string", ".status.nextScheduled", "The next slot.", 1}};
  static const std::vector<PrinterColumn> job = {
      {"Phase", "string", ".status.phase", "Where the Job is in its life."},
      {"Succeeded", "integer", ".status.succeeded", "Indexes that have succeeded."},
      {"Indexes", "integer", ".status.indexes", "How many indexes there are."},
      {"Failed", "integer", ".status.failed", "Indexes that have failed for good."},
      {"Started", "date", ".status.startTime", "How long ago the Job was admitted."},
      {"Finished", "date", ".status.finishTime", "How long ago the Job ended."},
      kAge,
      {"Reason", "string", ".status.reason", "Why the Job is where it is.", 1},
      {"Message", "string", ".status.message", "The same for a person.", 1}};
  static const std::vector<PrinterColumn> task = {
      {"Job", "string", ".spec.jobName", "The Job that this is an attempt of."},
      {"Index", "integer", ".spec.index", "The parallel lane of the Job."},
      {"Attempt", "integer", ".spec.attempt", "Which try at the index, from 1."},
      {"State", "string", ".status.state", "What is known of the attempt's life."},
      {"Result", "string", ".status.result", "How it ended."},
      {"Exit", "integer", ".status.exitCode", "The exit code, where there is one."},
      kAge,
      {"Reason", "string", ".status.reason", "Why the Task is where it is.", 1},
      {"Message", "string", ".status.message", "The same for a person.", 1}};
  if (kind == Kind::kJobConfig) return job_config;
  return kind == Kind::kJob ? job : task;
}

}  // namespace detent
