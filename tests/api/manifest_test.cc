#include "core/api/manifest.h"

#include <gtest/gtest.h>

#include "core/api/admission.h"
#include "tests/api/examples.h"

namespace detent {
namespace {

constexpr const char* kTwo = R"(# nightly.yaml
apiVersion: execution.detent.dev/v1alpha1
kind: JobConfig
metadata:
  name: nightly
spec:
  concurrency: {policy: Forbid}
  schedule:
    cron:
      expression: "0 25 * * *"
      timezne: UTC
  template:
    spec:
      taskTemplate:
        exec: {command: [backup]}
---
apiVersion: execution.furiko.io/v1alpha1
kind: Job
metadata: {name: once}
spec:
  template:
    maxAttempts: -1
    taskTemplate: {exec: {command: [echo]}}
)";

std::vector<std::string> MistakesIn(const std::vector<Manifest>& manifests) {
  std::vector<std::string> found;
  for (const Manifest& manifest : manifests) {
    const Admission admission = AdmitNew(manifest.kind, manifest.document, testing::Context());
    for (const Diagnostic& mistake : admission.mistakes) {
      found.push_back(Locate(manifest, mistake));
    }
  }
  return found;
}

TEST(Manifest, EveryMistakeHasItsLineAndColumn) {
  const auto manifests = ReadManifests(kTwo, "nightly.yaml");
  ASSERT_TRUE(manifests) << manifests.error().message();
  ASSERT_EQ(manifests->size(), 2u);
  EXPECT_EQ((*manifests)[0].kind, Kind::kJobConfig);
  EXPECT_EQ((*manifests)[1].kind, Kind::kJob);
  EXPECT_EQ(
      MistakesIn(*manifests),
      (std::vector<std::string>{
          "nightly.yaml:11:7: spec.schedule.cron.timezne: unknown field (did you mean 'timezone'?)",
          "nightly.yaml:10:7: spec.schedule.cron.expression: '0 25 * * *' is no cron expression: "
          "column 3: hour: 25 is not in 0-23",
          "nightly.yaml:22:5: spec.template.maxAttempts: must be at least 1, not -1"}));
}

TEST(Manifest, AListIsTakenApartAndKeepsItsLines) {
  const auto manifests = ReadManifests(R"(apiVersion: v1
kind: List
items:
- apiVersion: execution.detent.dev/v1alpha1
  kind: Job
  metadata: {name: a}
  spec: {template: {taskTemplate: {exec: {command: [x]}}}}
- apiVersion: execution.detent.dev/v1alpha1
  kind: Job
  metadata: {name: b}
  spec:
    template: {taskTemplate: {exec: {command: [x]}}}
    ttlSecondsAfterFinished: -5
)",
                                       "<stdin>");
  ASSERT_TRUE(manifests) << manifests.error().message();
  ASSERT_EQ(manifests->size(), 2u);
  EXPECT_EQ(MistakesIn(*manifests),
            (std::vector<std::string>{
                "<stdin>:13:5: spec.ttlSecondsAfterFinished: must be at least 0, not -5"}));
}

TEST(Manifest, JsonIsAManifestToo) {
  const auto manifests = ReadManifests(
      R"({"apiVersion":"execution.detent.dev/v1alpha1","kind":"Job","metadata":{"name":"a"},)"
      R"("spec":{"template":{"taskTemplate":{"exec":{"command":["x"]}}}}})",
      "a.json");
  ASSERT_TRUE(manifests) << manifests.error().message();
  EXPECT_TRUE(MistakesIn(*manifests).empty());
}

TEST(Manifest, WhatIsNoObjectOfOursIsToldWithItsPlace) {
  std::string deep = "apiVersion: v1\nkind: ";
  deep += std::string(100, '[') + std::string(100, ']');
  struct Row {
    std::string text;
    const char* message;
  };
  const Row rows[] = {
      {"", "f.yaml:1:1: there is no object in it"},
      {"[1]", "f.yaml:1:1: must be an object with apiVersion and kind, not a list"},
      {"a: 1", "f.yaml:1:1: kind: is required and must be one of: JobConfig, Job, Task"},
      {"kind: Job",
       "f.yaml:1:1: apiVersion: is required and must be execution.detent.dev/v1alpha1"},
      {"apiVersion: batch/v1\nkind: Job",
       "f.yaml:1:1: apiVersion: must be execution.detent.dev/v1alpha1, not 'batch/v1'"},
      {"apiVersion: execution.detent.dev/v1alpha1\nkind: JobConfg",
       "f.yaml:2:1: kind: 'JobConfg' is not offered by this version of Detent; there are: "
       "JobConfig, Job, Task (did you mean 'JobConfig'?)"},
      {"apiVersion: execution.detent.dev/v1alpha1\nkind: TaskCluster",
       "f.yaml:2:1: kind: 'TaskCluster' is not offered by this version of Detent; there are: "
       "JobConfig, Job, Task"},
  };
  for (const Row& row : rows) {
    const auto manifests = ReadManifests(row.text, "f.yaml");
    ASSERT_FALSE(manifests) << row.text;
    EXPECT_EQ(manifests.error().code(), Code::kInvalid);
    EXPECT_EQ(manifests.error().message(), row.message);
  }
  for (const std::string& broken : {deep, std::string("a: [1"), std::string("a: 1\na: 2")}) {
    const auto manifests = ReadManifests(broken, "f.yaml");
    ASSERT_FALSE(manifests);
    EXPECT_EQ(manifests.error().message().substr(0, 7), "f.yaml:");
    EXPECT_EQ(manifests.error().message().find("line "), std::string::npos)
        << manifests.error().message();
  }
}

}  // namespace
}  // namespace detent
