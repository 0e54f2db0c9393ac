#include "tests/api/examples.h"

#include <gtest/gtest.h>

#include "core/base/yaml.h"

namespace detent::testing {

WallTime Noon() {
  return *ParseTime("2026-11-21T10:00:00Z");
}

Json FromYaml(std::string_view yaml) {
  auto documents = ParseYaml(yaml);
  if (!documents || documents->size() != 1) {
    ADD_FAILURE() << "no single document: " << yaml;
    return {};
  }
  return documents->front().value;
}

Json With(Json document, const std::string& pointer, std::string_view yaml) {
  Json* parent = &document;
  size_t begin = 1;
  for (size_t slash; (slash = pointer.find('/', begin)) != pointer.npos; begin = slash + 1) {
    const std::string step = pointer.substr(begin, slash - begin);
    if (parent->Find(step) == nullptr) parent->Set(step, Json(Json::Object{}));
    parent = parent->Find(step);
  }
  const std::string name = pointer.substr(begin);
  if (yaml.empty()) {
    parent->Remove(name);
  } else {
    // A YAML document that is null alone counts as empty.
    parent->Set(name, yaml == "null" ? Json() : FromYaml(yaml));
  }
  return document;
}

Json GoodJobConfig() {
  return FromYaml(R"(
apiVersion: execution.detent.dev/v1alpha1
kind: JobConfig
metadata: {name: nightly, namespace: default}
spec:
  concurrency: {policy: Forbid}
  schedule:
    cron: {expression: "30 2 * * *", timezone: Asia/Singapore}
  template:
    metadata: {labels: {team: storage}, annotations: {example.com/page: "yes"}}
    spec:
      maxAttempts: 3
      taskTemplate:
        exec: {command: [backup, "${job.name}"]}
)");
}

Json GoodJob() {
  return FromYaml(R"(
apiVersion: execution.detent.dev/v1alpha1
kind: Job
metadata: {name: once, namespace: default}
spec:
  template:
    parallelism: {withCount: 4}
    taskTemplate:
      exec: {command: [echo, hi]}
)");
}

Diagnostics TwoKinds::Validate(std::string_view kind, std::string_view spec_json) const {
  const auto spec = ParseJson(spec_json);
  if (kind != "exec" || (spec && spec->Find("command") != nullptr)) return {};
  return {{"/command", Diagnostic::Reason::kRequired, "must be there", ""}};
}

AdmissionContext Context() {
  static const TwoKinds validator;
  AdmissionContext context;
  context.validator = &validator;
  context.now = Noon();
  return context;
}

std::string Sentences(const Admission& admission) {
  std::string text;
  for (const Diagnostic& mistake : admission.mistakes) {
    text += (text.empty() ? "" : "\n") + Sentence(mistake);
  }
  return text;
}

}  // namespace detent::testing
