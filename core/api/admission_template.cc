// The job template, which a JobConfig and a Job share, and the executor inside it.

#include <algorithm>
#include <array>

#include "core/api/admission_steps.h"
#include "core/base/limits.h"
#include "core/base/spelling.h"
#include "core/expr/substitute.h"

namespace detent {
namespace {

using Reason = Diagnostic::Reason;

// Kinds that Detent knows by name: their plugin may be missing, but the word is no slip.
constexpr std::array<std::string_view, 7> kKnownKinds = {
    "exec", "http", "pod", "workflow", "customResource", "podGroup", "knative"};

bool IsKnownKind(std::string_view kind) {
  return std::find(kKnownKinds.begin(), kKnownKinds.end(), kind) != kKnownKinds.end();
}

std::string Listed(const std::vector<std::string>& kinds) {
  if (kinds.empty()) return "none";
  std::string text;
  for (const std::string& kind : kinds) text += (text.empty() ? "" : ", ") + kind;
  return text;
}

void CheckKind(Review& review, const std::string& kind, const std::string& pointer) {
  std::vector<std::string> candidates(kKnownKinds.begin(), kKnownKinds.end());
  if (review.context.validator == nullptr) {
    if (IsKnownKind(kind)) return;
    review.warnings.push_back(FieldPath(pointer) + ": executor kind '" + kind +
                              "' comes from no plugin of Detent's own" +
                              DidYouMean(kind, candidates));
    return;
  }
  const std::vector<std::string> configured = review.context.validator->Kinds();
  if (std::find(configured.begin(), configured.end(), kind) != configured.end()) return;
  const std::string listed = "; configured are: " + Listed(configured);
  if (IsKnownKind(kind)) {
    review.Add(pointer, Reason::kNotSupported,
               "no plugin of kind '" + kind + "' is configured" + listed);
    return;
  }
  candidates.insert(candidates.begin(), configured.begin(), configured.end());
  const std::string nearest = NearestWord(kind, candidates);
  review.Add(pointer, Reason::kNotSupported, "unknown executor kind '" + kind + "'" + listed,
             nearest.empty() ? "" : "did you mean '" + nearest + "'?");
}

void CheckVariables(Review& review, const std::string& spec_json, const std::string& pointer) {
  const auto compiled = SpecTemplate::Compile(spec_json);
  if (!compiled) {
    review.Add(pointer, Reason::kInvalid, compiled.error().message());
    return;
  }
  for (const SpecTemplate::Use& use : compiled->uses()) {
    const std::string sentence = ExplainVariable(use.name);
    if (sentence.empty()) continue;
    review.warnings.push_back(FieldPath(pointer + use.pointer) + ": " + sentence);
  }
}

void CheckExecutorSpec(Review& review, const Json::Member& executor, const std::string& pointer) {
  const auto& [kind, spec] = executor;
  if (!spec.is_object()) return;
  const std::string spec_json = DumpJson(spec);
  if (review.context.validator != nullptr) {
    for (Diagnostic& mistake : review.context.validator->Validate(kind, spec_json)) {
      mistake.pointer = pointer + mistake.pointer;
      review.mistakes.push_back(std::move(mistake));
    }
  }
  CheckVariables(review, spec_json, pointer);
}

void CheckParallelism(Review& review, const Json& parallelism, const std::string& pointer) {
  CheckRange(review, parallelism, pointer, {"withCount", 1, limits::kIndexesPerJob});
  size_t given = 0;
  for (const char* type : {"withCount", "withKeys", "withMatrix"}) {
    given += parallelism.Find(type) != nullptr ? 1 : 0;
  }
  if (given == 0) {
    review.Add(pointer + "/withCount", Reason::kRequired,
               "is required; or remove parallelism for a single index");
  } else if (given > 1) {
    review.Add(pointer, Reason::kForbidden,
               "must have one of withCount, withKeys and withMatrix, not " + std::to_string(given));
  }
}

// The members of `holder` are named after executors: there must be one.
void CheckExecutors(Review& review, const Json& holder, const std::string& pointer) {
  std::vector<std::string> kinds;
  for (const auto& [name, value] : holder.as_object()) {
    if (!value.is_null()) kinds.push_back(name);
  }
  if (kinds.empty()) {
    std::string message = "must name an executor, and has none";
    if (review.context.validator != nullptr) {
      message += "; configured are: " + Listed(review.context.validator->Kinds());
    }
    review.Add(pointer, Reason::kRequired, std::move(message));
  } else if (kinds.size() > 1) {
    review.Add(pointer, Reason::kForbidden,
               "must name one executor, not " + std::to_string(kinds.size()) + " (" +
                   Listed(kinds) + "); remove all but one");
  }
  for (const Json::Member& member : holder.as_object()) {
    if (member.second.is_null()) continue;
    const std::string inner = pointer + PointerToken(member.first);
    CheckKind(review, member.first, inner);
    CheckExecutorSpec(review, member, inner);
  }
}

}  // namespace

void CheckJobTemplate(Review& review, const Json& job_template, const std::string& pointer) {
  if (const Json* task_template = ObjectIn(&job_template, "taskTemplate")) {
    CheckExecutors(review, *task_template, pointer + "/taskTemplate");
  }
  if (const Json* parallelism = ObjectIn(&job_template, "parallelism")) {
    CheckParallelism(review, *parallelism, pointer + "/parallelism");
  }
  CheckRange(review, job_template, pointer, {"maxAttempts", 1, limits::kAttemptsPerIndex});
  CheckRange(review, job_template, pointer, {"retryDelaySeconds", 0, kMostSeconds});
  CheckRange(review, job_template, pointer, {"taskPendingTimeoutSeconds", 0, kMostSeconds});
}

}  // namespace detent
