// JobConfig's spec and status.

#include "core/api/codec.h"
#include "core/api/field_reader.h"
#include "core/base/json_writer.h"

namespace detent {
namespace {

void ReadExpressions(FieldReader& cron, ScheduleSpec& schedule) {
  std::string single;
  cron.Read("expression", single);
  if (!single.empty()) schedule.expressions.push_back(std::move(single));
  if (const Json* several = cron.Array("expressions")) {
    for (const Json& entry : several->as_array()) {
      if (entry.is_string()) {
        schedule.expressions.push_back(entry.as_string());
      } else {
        cron.Fail("expressions", std::string("must hold strings, not ") + entry.type_name());
      }
    }
  }
  if (schedule.expressions.empty()) cron.Fail("expression", "is required");
}

ScheduleSpec ReadSchedule(FieldReader& outer, const Json& json) {
  ScheduleSpec schedule;
  FieldReader reader(json, outer.Path("schedule"));
  reader.Read("disabled", schedule.disabled).Read("lastUpdated", schedule.last_updated);
  if (const Json* cron_json = reader.Object("cron")) {
    FieldReader cron(*cron_json, reader.Path("cron"));
    cron.Read("timezone", schedule.timezone);
    ReadExpressions(cron, schedule);
    reader.Merge(cron);
  } else {
    reader.Fail("cron", "is required");
  }
  if (const Json* constraints_json = reader.Object("constraints")) {
    FieldReader constraints(*constraints_json, reader.Path("constraints"));
    constraints.Read("notBefore", schedule.not_before).Read("notAfter", schedule.not_after);
    reader.Merge(constraints);
  }
  outer.Merge(reader);
  return schedule;
}

void ReadTemplate(FieldReader& outer, JobConfigSpec& spec) {
  const Json* json = outer.Object("template");
  if (json == nullptr) return outer.Fail("template", "is required");
  FieldReader reader(*json, outer.Path("template"));
  if (const Json* metadata_json = reader.Object("metadata")) {
    FieldReader metadata(*metadata_json, reader.Path("metadata"));
    metadata.Read("labels", spec.template_labels).Read("annotations", spec.template_annotations);
    reader.Merge(metadata);
  }
  if (const Json* inner = reader.Object("spec")) {
    AppendJson(spec.template_spec, *inner);
  } else {
    reader.Fail("spec", "is required");
  }
  outer.Merge(reader);
}

}  // namespace

Result<JobConfigSpec> DecodeJobConfigSpec(std::string_view text) {
  const Json json = TRY(ParseJson(text));
  JobConfigSpec spec;
  FieldReader reader(json, "spec");
  if (const Json* concurrency_json = reader.Object("concurrency")) {
    FieldReader concurrency(*concurrency_json, reader.Path("concurrency"));
    concurrency.Read("policy", spec.policy, PolicyFromName)
        .Read("maxConcurrency", spec.max_concurrency);
    reader.Merge(concurrency);
  }
  if (const Json* schedule = reader.Object("schedule")) {
    spec.schedule = ReadSchedule(reader, *schedule);
  }
  ReadTemplate(reader, spec);
  if (auto result = reader.Finish(); !result) return result.error();
  return spec;
}

namespace {

void ReadActiveJobs(FieldReader& outer, JobConfigStatus& status) {
  const Json* jobs = outer.Array("activeJobs");
  if (jobs == nullptr) return;
  for (const Json& entry : jobs->as_array()) {
    JobReference job;
    FieldReader reader(entry, outer.Path("activeJobs"));
    reader.Read("name", job.name)
        .Read("uid", job.uid)
        .Read("phase", job.phase)
        .Read("creationTimestamp", job.created);
    outer.Merge(reader);
    status.active_jobs.push_back(std::move(job));
  }
}

}  // namespace

Result<JobConfigStatus> DecodeJobConfigStatus(std::string_view text) {
  JobConfigStatus status;
  if (text.empty()) return status;
  const Json json = TRY(ParseJson(text));
  FieldReader reader(json, "status");
  reader.Read("state", status.state)
      .Read("active", status.active)
      .Read("queued", status.queued)
      .Read("lastScheduled", status.last_scheduled)
      .Read("lastExecuted", status.last_executed)
      .Read("nextScheduled", status.next_scheduled)
      .Read("skipped", status.skipped);
  ReadActiveJobs(reader, status);
  if (const Json* skipped_json = reader.Object("lastSkipped")) {
    SkippedSlot& skipped = status.last_skipped.emplace();
    FieldReader inner(*skipped_json, reader.Path("lastSkipped"));
    inner.Read("slot", skipped.slot)
        .Read("reason", skipped.reason)
        .Read("message", skipped.message);
    reader.Merge(inner);
  }
  if (auto result = reader.Finish(); !result) return result.error();
  return status;
}

std::string EncodeJobConfigStatus(const JobConfigStatus& status) {
  std::string out;
  JsonWriter writer(out);
  writer.BeginObject()
      .MemberIfSet("state", status.state)
      .Member("active", status.active)
      .Member("queued", status.queued);
  if (!status.active_jobs.empty()) {
    writer.Key("activeJobs").BeginArray();
    for (const JobReference& job : status.active_jobs) {
      writer.BeginObject()
          .Member("name", job.name)
          .MemberIfSet("uid", job.uid)
          .MemberIfSet("phase", job.phase);
      if (job.created != WallTime{}) writer.Member("creationTimestamp", TimeText(job.created));
      writer.EndObject();
    }
    writer.EndArray();
  }
  if (status.last_scheduled) writer.Member("lastScheduled", TimeText(*status.last_scheduled));
  if (status.last_executed) writer.Member("lastExecuted", TimeText(*status.last_executed));
  if (status.next_scheduled) writer.Member("nextScheduled", TimeText(*status.next_scheduled));
  if (status.skipped != 0) writer.Member("skipped", status.skipped);
  if (status.last_skipped) {
    writer.Key("lastSkipped")
        .BeginObject()
        .Member("slot", TimeText(status.last_skipped->slot))
        .MemberIfSet("reason", status.last_skipped->reason)
        .MemberIfSet("message", status.last_skipped->message)
        .EndObject();
  }
  writer.EndObject();
  return out;
}

}  // namespace detent
