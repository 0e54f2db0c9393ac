// Between stored JSON texts and typed values. Pure; any thread.
//
// Decoding is of what admission let through, so an error here means a damaged store or an object
// written by a newer host; it names the field. Encoding has a fixed order of members and leaves
// empty ones out.

#pragma once

#include <string>
#include <string_view>

#include "core/api/job.h"
#include "core/api/job_config.h"
#include "core/api/object.h"
#include "core/api/task.h"
#include "core/base/json.h"
#include "core/base/result.h"

namespace detent {

// The whole object as the API shows it: apiVersion, kind, metadata, spec, status. JSON text.
std::string EncodeObject(const Object& object);
void AppendObject(std::string& out, const Object& object);

// metadata alone, as JSON text; and what is read back from it. Unknown members are ignored here:
// admission has its say about them before.
void AppendMeta(std::string& out, const ObjectMeta& meta);
Result<ObjectMeta> DecodeMeta(const Json& metadata);

Result<JobConfigSpec> DecodeJobConfigSpec(std::string_view spec);
Result<JobTemplate> DecodeJobTemplate(std::string_view template_spec);
Result<JobSpec> DecodeJobSpec(std::string_view spec);
Result<TaskSpec> DecodeTaskSpec(std::string_view spec);

// `template_json` stands verbatim as the spec's template.
std::string EncodeJobSpec(const JobSpec& spec, std::string_view template_json);
std::string EncodeTaskSpec(const TaskSpec& spec);

// An empty status decodes to the default value.
Result<JobConfigStatus> DecodeJobConfigStatus(std::string_view status);
Result<JobStatus> DecodeJobStatus(std::string_view status);
Result<TaskStatus> DecodeTaskStatus(std::string_view status);

std::string EncodeJobConfigStatus(const JobConfigStatus& status);
// Writes also what is derived: state, condition (Furiko's union) and conditions (Kubernetes' list:
// Complete, Failed, so that `kubectl wait --for=condition=Complete` works).
std::string EncodeJobStatus(const JobStatus& status);
std::string EncodeTaskStatus(const TaskStatus& status);

}  // namespace detent
