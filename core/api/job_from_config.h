// Makes a Job from a JobConfig: for a slot, or because somebody asks for a run. Pure; any thread.
//
// The cron controller calls JobFromConfig thousands of times a second, with a spec that it has
// decoded once; nothing is parsed here. What comes out needs no admission.

#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/api/job.h"
#include "core/api/job_config.h"
#include "core/api/object.h"
#include "core/base/clock.h"
#include "core/base/json.h"
#include "core/base/result.h"

namespace detent {

// What one run has of its own.
struct JobOverrides {
  std::optional<WallTime> slot = {};  // Set: a Scheduled Job, named after the slot. Absent: Adhoc.
  std::string name = {};              // Of an Adhoc Job; empty: generateName "<job config>-".
  std::optional<ConcurrencyPolicy> concurrency_policy = {};
  std::optional<WallTime> start_after = {};
  StringMap substitutions = {};
  StringMap labels = {};  // Win over those of the JobConfig's template, as annotations do.
  StringMap annotations = {};
  std::optional<int64_t> ttl_seconds_after_finished = {};
};

// The Job, with the JobConfig as its controller, the labels that say so, the finalizer of a Job,
// generation 1, and no UID yet. `spec` is the decoded job_config.spec.
// kForbidden: the JobConfig is being deleted.
Result<Object> JobFromConfig(const ObjectMeta& job_config, const JobConfigSpec& spec,
                             const JobOverrides& overrides, WallTime now);

// The document of a Job with spec.configName replaced by what that JobConfig gives: template,
// labels, annotations, owner and, where it has neither name nor generateName, the latter. What the
// document says itself wins. Then AdmitNew has its say; it refuses a document that has a template
// beside configName, which is therefore left alone here.
// kForbidden: the JobConfig is being deleted. kInvalid: its spec cannot be read.
Result<Json> ResolveConfigName(Json job_document, const Object& job_config);

}  // namespace detent
