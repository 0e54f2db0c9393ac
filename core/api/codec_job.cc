// Job's template, spec and status.

#include "core/api/codec.h"
#include "core/api/field_reader.h"
#include "core/base/json_writer.h"

namespace detent {
namespace {

JobTemplate ReadTemplate(FieldReader& outer, const Json& json, std::string where) {
  JobTemplate job_template;
  FieldReader reader(json, std::move(where));
  reader.Read("maxAttempts", job_template.max_attempts)
      .Read("retryDelaySeconds", job_template.retry_delay_seconds)
      .Read("taskPendingTimeoutSeconds", job_template.task_pending_timeout_seconds)
      .Read("forbidTaskForceDeletion", job_template.forbid_task_force_deletion);
  if (const Json* parallelism_json = reader.Object("parallelism")) {
    FieldReader parallelism(*parallelism_json, reader.Path("parallelism"));
    parallelism.Read("withCount", job_template.parallelism.emplace().with_count);
    reader.Merge(parallelism);
  }
  const Json* task_template = reader.Object("taskTemplate");
  if (task_template != nullptr && task_template->as_object().size() == 1) {
    const auto& [kind, spec] = task_template->as_object().front();
    job_template.task_template.kind = kind;
    AppendJson(job_template.task_template.spec, spec);
  } else {
    reader.Fail("taskTemplate", "must hold one executor");
  }
  outer.Merge(reader);
  return job_template;
}

}  // namespace

Result<JobTemplate> DecodeJobTemplate(std::string_view text) {
  const Json json = TRY(ParseJson(text));
  FieldReader reader(json, "template");
  if (auto result = reader.Finish(); !result) return result.error();
  JobTemplate job_template = ReadTemplate(reader, json, "template");
  if (auto result = reader.Finish(); !result) return result.error();
  return job_template;
}

Result<JobSpec> DecodeJobSpec(std::string_view text) {
  const Json json = TRY(ParseJson(text));
  JobSpec spec;
  FieldReader reader(json, "spec");
  reader.Read("type", spec.type, JobTypeFromName)
      .Read("substitutions", spec.substitutions)
      .Read("killTimestamp", spec.kill_timestamp)
      .Read("ttlSecondsAfterFinished", spec.ttl_seconds_after_finished);
  if (const Json* policy_json = reader.Object("startPolicy")) {
    FieldReader policy(*policy_json, reader.Path("startPolicy"));
    if (policy_json->Find("concurrencyPolicy") != nullptr) {
      policy.Read("concurrencyPolicy", spec.concurrency_policy.emplace(), PolicyFromName);
    }
    policy.Read("startAfter", spec.start_after);
    reader.Merge(policy);
  }
  if (const Json* job_template = reader.Object("template")) {
    spec.job_template = ReadTemplate(reader, *job_template, reader.Path("template"));
  } else {
    reader.Fail("template", "is required");
  }
  if (auto result = reader.Finish(); !result) return result.error();
  return spec;
}

std::string EncodeJobSpec(const JobSpec& spec, std::string_view template_json) {
  std::string out;
  out.reserve(160 + template_json.size());
  JsonWriter writer(out);
  writer.BeginObject().Member("type", NameOf(spec.type));
  if (spec.concurrency_policy || spec.start_after) {
    writer.Key("startPolicy").BeginObject();
    if (spec.concurrency_policy) {
      writer.Member("concurrencyPolicy", NameOf(*spec.concurrency_policy));
    }
    if (spec.start_after) writer.Member("startAfter", TimeText(*spec.start_after));
    writer.EndObject();
  }
  writer.Key("template").Raw(template_json);
  if (!spec.substitutions.empty()) {
    writer.Key("substitutions").BeginObject();
    for (const auto& [name, value] : spec.substitutions) writer.Member(name, value);
    writer.EndObject();
  }
  if (spec.kill_timestamp) writer.Member("killTimestamp", TimeText(*spec.kill_timestamp));
  if (spec.ttl_seconds_after_finished) {
    writer.Member("ttlSecondsAfterFinished", *spec.ttl_seconds_after_finished);
  }
  writer.EndObject();
  return out;
}

}  // namespace detent
