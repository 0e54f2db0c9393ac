#include "core/crd/constraints.h"

#include <limits>

#include "core/api/schema.h"
#include "core/base/limits.h"

namespace detent {
namespace {

using Reason = Diagnostic::Reason;
using Bounds = std::vector<FieldBound>;
using Rules = std::vector<FieldRule>;

constexpr int64_t kMost32 = std::numeric_limits<int32_t>::max();
constexpr int64_t kSuffixLength = 5;  // What a generateName gets.
constexpr int64_t kLabelLength = 63;
constexpr int64_t kSubdomainLength = 253;
constexpr const char* kLabelValue = "^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$";
constexpr const char* kSubdomain =
    "^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$";

std::string TemplatePointer(Kind kind) {
  return kind == Kind::kJobConfig ? "/spec/template/spec" : "/spec/template";
}

void AddRange(Bounds& bounds, const std::string& pointer, int64_t least, int64_t most) {
  bounds.push_back({pointer, "minimum", least});
  bounds.push_back({pointer, "maximum", most});
}

void AddNameBounds(Bounds& bounds, int64_t most) {
  bounds.push_back({"/metadata/name", "maxLength", most});
  bounds.push_back({"/metadata/generateName", "maxLength", most - kSuffixLength});
}

void AddTemplateBounds(Bounds& bounds, const std::string& pointer) {
  bounds.push_back({pointer + "/taskTemplate", "minProperties", 1});
  bounds.push_back({pointer + "/taskTemplate", "maxProperties", 1});
  AddRange(bounds, pointer + "/parallelism/withCount", 1, limits::kIndexesPerJob);
  bounds.push_back({pointer + "/parallelism/completionStrategy", "default", "AllSuccessful"});
  AddRange(bounds, pointer + "/maxAttempts", 1, limits::kAttemptsPerIndex);
  bounds.push_back({pointer + "/maxAttempts", "default", 1});
  AddRange(bounds, pointer + "/retryDelaySeconds", 0, kMost32);
  AddRange(bounds, pointer + "/taskPendingTimeoutSeconds", 0, kMost32);
}

Bounds JobConfigBounds() {
  Bounds bounds;
  AddNameBounds(bounds, limits::kJobConfigNameLength);
  AddRange(bounds, "/spec/concurrency/maxConcurrency", 1, kMost32);
  bounds.push_back({"/spec/schedule/cron/expression", "minLength", 1});
  bounds.push_back({"/spec/schedule/cron/expressions", "minItems", 1});
  bounds.push_back({"/spec/schedule/cron/expressions/*", "minLength", 1});
  bounds.push_back({"/spec/template/metadata/labels/*", "maxLength", kLabelLength});
  bounds.push_back({"/spec/template/metadata/labels/*", "pattern", kLabelValue});
  AddTemplateBounds(bounds, TemplatePointer(Kind::kJobConfig));
  return bounds;
}

Bounds JobBounds() {
  Bounds bounds;
  AddNameBounds(bounds, limits::kJobNameLength);
  bounds.push_back({"/spec/configName", "maxLength", kSubdomainLength});
  bounds.push_back({"/spec/configName", "pattern", kSubdomain});
  bounds.push_back({"/spec/type", "default", "Adhoc"});
  AddRange(bounds, "/spec/ttlSecondsAfterFinished", 0, kMost32);
  AddTemplateBounds(bounds, TemplatePointer(Kind::kJob));
  return bounds;
}

// In CEL: that a field is as it was, or absent as it was.
std::string Same(const std::string& self, const std::string& old_self, const std::string& field) {
  const std::string now = self + "." + field;
  const std::string before = old_self + "." + field;
  return "has(" + now + ") == has(" + before + ") && (!has(" + now + ") || " + now +
         " == " + before + ")";
}

std::string SameField(std::string_view field) {
  return Same("self", "oldSelf", std::string(field));
}

void AddTemplateRules(Rules& rules, const std::string& pointer) {
  rules.push_back({pointer + "/parallelism",
                   "has(self.withCount) || has(self.withKeys) || has(self.withMatrix)",
                   ".withCount", Reason::kRequired,
                   "is required; or remove parallelism for a single index"});
}

Rules JobConfigRules() {
  Rules rules = {
      {"/spec/concurrency", "self.policy != 'Allow' || !has(self.maxConcurrency)",
       ".maxConcurrency", Reason::kForbidden,
       "has no meaning with policy Allow; remove it, or use policy Forbid"},
      {"/spec/schedule/cron", "!has(self.expression) || !has(self.expressions)", "",
       Reason::kInvalid,
       "must have one of expression and expressions, not both; move expression into the list"},
      {"/spec/schedule/cron", "has(self.expression) || has(self.expressions)", ".expression",
       Reason::kRequired, "is required; or give expressions"},
      {"/spec/schedule/constraints",
       "!has(self.notBefore) || !has(self.notAfter) || self.notBefore <= self.notAfter",
       ".notAfter", Reason::kInvalid, "must not be earlier than notBefore"},
  };
  AddTemplateRules(rules, TemplatePointer(Kind::kJobConfig));
  return rules;
}

// A Job of a configName gets its template when the host resolves the name, and loses the name with
// it. So the name may go, and a template may come; from then on neither changes.
Rules JobRules() {
  const std::string again = "is immutable; to change it delete the Job and create it again";
  const std::string job_template = TemplatePointer(Kind::kJob);
  Rules rules = {
      {"/spec", "has(self.template) || has(self.configName)", ".template", Reason::kRequired,
       "is required; or give spec.configName, the name of a JobConfig"},
      {"/spec", "!has(self.template) || !has(self.configName)", ".configName", Reason::kForbidden,
       "cannot be given beside spec.template, which comes from the JobConfig; remove one of them"},
      {"/spec",
       "!has(self.configName) || (has(oldSelf.configName) && "
       "self.configName == oldSelf.configName)",
       ".configName", Reason::kInvalid, again},
      {"/spec", SameField("type"), ".type", Reason::kInvalid, again},
      {"/spec", SameField("substitutions"), ".substitutions", Reason::kInvalid, again},
      {"/spec/substitutions",
       "self.all(name, name.startsWith('job.') || name.startsWith('jobconfig.') || "
       "name.startsWith('task.') || name.startsWith('option.'))",
       "", Reason::kInvalid,
       "must have variables' full names, which begin with job., jobconfig., task. or option."},
      {job_template + "/taskTemplate", "self == oldSelf", "", Reason::kInvalid, again},
      {job_template, SameField("parallelism"), ".parallelism", Reason::kInvalid, again},
      {job_template, SameField("maxAttempts"), ".maxAttempts", Reason::kInvalid, again},
      {job_template,
       "(has(self.retryDelaySeconds) ? self.retryDelaySeconds : 0) == "
       "(has(oldSelf.retryDelaySeconds) ? oldSelf.retryDelaySeconds : 0)",
       ".retryDelaySeconds", Reason::kInvalid, again},
      {"",
       "!has(oldSelf.status) || !has(oldSelf.status.startTime) || (" +
           Same("self.spec", "oldSelf.spec", "startPolicy") + ")",
       ".spec.startPolicy", Reason::kInvalid, "is immutable once the Job has started"},
  };
  AddTemplateRules(rules, job_template);
  return rules;
}

// Of the executors those that are known by name: CEL does not see members without a description.
Rules TaskRules() {
  Rules rules;
  for (const Field& top : FieldsOf(Kind::kTask)) {
    if (top.name != "spec") continue;
    for (const Field& field : top.fields) {
      if (field.name == "*" || field.name == "killTimestamp" || !field.offered) continue;
      rules.push_back({"/spec", SameField(field.name), "." + std::string(field.name),
                       Reason::kInvalid, "is immutable, as all of a Task is but killTimestamp"});
    }
  }
  return rules;
}

}  // namespace

std::vector<FieldBound> BoundsOf(Kind kind) {
  switch (kind) {
    case Kind::kJobConfig:
      return JobConfigBounds();
    case Kind::kJob:
      return JobBounds();
    case Kind::kTask:
      break;
  }
  Bounds bounds;
  AddNameBounds(bounds, kLabelLength);
  return bounds;
}

std::vector<FieldRule> RulesOf(Kind kind) {
  switch (kind) {
    case Kind::kJobConfig:
      return JobConfigRules();
    case Kind::kJob:
      return JobRules();
    case Kind::kTask:
      break;
  }
  return TaskRules();
}

}  // namespace detent
