#include <gtest/gtest.h>

#include "core/api/admission.h"
#include "core/api/codec.h"
#include "core/api/labels.h"
#include "tests/api/examples.h"

namespace detent {
namespace {

using testing::Context;
using testing::FromYaml;
using testing::GoodJob;
using testing::Sentences;
using testing::With;

struct Row {
  const char* pointer;
  const char* yaml;  // Put there; empty: what is there is taken out.
  const char* sentence;
};

void ExpectSentences(const std::vector<Row>& rows, Kind kind, const Json& good) {
  for (const Row& row : rows) {
    const Admission admission = AdmitNew(kind, With(good, row.pointer, row.yaml), Context());
    EXPECT_EQ(Sentences(admission), row.sentence) << row.pointer << ": " << row.yaml;
  }
}

TEST(AdmissionOfJobs, AGoodJobIsAdmittedWithItsDefaults) {
  const Admission admission = AdmitNew(Kind::kJob, GoodJob(), Context());
  EXPECT_EQ(Sentences(admission), "");
  EXPECT_EQ(admission.object.meta.finalizers,
            (std::vector<std::string>{labels::kDeleteDependents}));
  const Json spec = *ParseJson(admission.object.spec);
  EXPECT_EQ(*spec.Find("type"), Json("Adhoc"));
  EXPECT_EQ(*spec.At("/template/maxAttempts"), Json(1));
  EXPECT_EQ(*spec.At("/template/parallelism/completionStrategy"), Json("AllSuccessful"));
  EXPECT_EQ(spec.Find("ttlSecondsAfterFinished"), nullptr);
  const auto decoded = DecodeJobSpec(admission.object.spec);
  ASSERT_TRUE(decoded);
  EXPECT_EQ(decoded->job_template.index_count(), 4);
  EXPECT_EQ(decoded->job_template.task_template.spec, R"({"command":["echo","hi"]})");
}

TEST(AdmissionOfJobs, OneExecutorMustBeNamed) {
  ExpectSentences(
      {
          {"/spec/template/taskTemplate", "{}",
           "spec.template.taskTemplate: must name an executor, and has none; configured are: exec, "
           "http"},
          {"/spec/template/taskTemplate", "{exec: {command: [a]}, http: {}}",
           "spec.template.taskTemplate: must name one executor, not 2 (exec, http); remove all but "
           "one"},
          {"/spec/template/taskTemplate", "{pod: {}}",
           "spec.template.taskTemplate.pod: no plugin of kind 'pod' is configured; configured are: "
           "exec, http"},
          {"/spec/template/taskTemplate", "{exce: {}}",
           "spec.template.taskTemplate.exce: unknown executor kind 'exce'; configured are: exec, "
           "http (did you mean 'exec'?)"},
          {"/spec/template/taskTemplate", "{htpp: {}}",
           "spec.template.taskTemplate.htpp: unknown executor kind 'htpp'; configured are: exec, "
           "http (did you mean 'http'?)"},
          {"/spec/template/taskTemplate", "{exec: run}",
           "spec.template.taskTemplate.exec: must be an object, not the string 'run'"},
          {"/spec/template/taskTemplate", "{exec: {}}",
           "spec.template.taskTemplate.exec.command: must be there"},
      },
      Kind::kJob, GoodJob());
}

TEST(AdmissionOfJobs, NumbersStayInTheirRanges) {
  ExpectSentences(
      {
          {"/spec/template/parallelism/withCount", "0",
           "spec.template.parallelism.withCount: must be at least 1, not 0"},
          {"/spec/template/parallelism/withCount", "100001",
           "spec.template.parallelism.withCount: must be at most 100000, not 100001"},
          {"/spec/template/parallelism/withCount", "100000", ""},
          {"/spec/template/maxAttempts", "0",
           "spec.template.maxAttempts: must be at least 1, not 0"},
          {"/spec/template/maxAttempts", "51",
           "spec.template.maxAttempts: must be at most 50, not 51"},
          {"/spec/template/retryDelaySeconds", "-3",
           "spec.template.retryDelaySeconds: must be at least 0, not -3"},
          {"/spec/template/taskPendingTimeoutSeconds", "-1",
           "spec.template.taskPendingTimeoutSeconds: must be at least 0, not -1"},
          {"/spec/ttlSecondsAfterFinished", "3000000000",
           "spec.ttlSecondsAfterFinished: must be at most 2147483647, not 3000000000"},
          {"/spec/template/parallelism", "{}",
           "spec.template.parallelism.withCount: is required; or remove parallelism for a single "
           "index"},
          {"/spec/killTimestamp", "'5m'",
           "spec.killTimestamp: must be a time in RFC 3339 such as 2026-01-31T08:00:00Z, not '5m'"},
      },
      Kind::kJob, GoodJob());
}

TEST(AdmissionOfJobs, OtherFieldsAreChecked) {
  const std::string long_name(61, 'j');
  ExpectSentences(
      {
          {"/metadata/name", long_name.c_str(),
           "metadata.name: must be at most 60 characters, not 61"},
          {"/spec/template", "",
           "spec.template: is required; or give spec.configName, the name of a JobConfig"},
          {"/spec/type", "Manual", "spec.type: must be one of: Adhoc, Scheduled; not 'Manual'"},
          {"/spec/optionValues", "'a: b'",
           "spec.optionValues: is not offered by this version of Detent; remove it"},
          {"/spec/template/parallelism/completionStrategy", "AnySuccessful",
           "spec.template.parallelism.completionStrategy: 'AnySuccessful' is not offered by this "
           "version of Detent; use one of: AllSuccessful"},
          {"/spec/template/parallelism/maxParallel", "4",
           "spec.template.parallelism.maxParallel: is not offered by this version of Detent; "
           "remove it"},
          {"/spec/template/parallelism", "{withKeys: [a, b]}",
           "spec.template.parallelism.withKeys: is not offered by this version of Detent; remove "
           "it"},
          {"/spec/startPolicy/concurrencyPolicy", "Enqueue",
           "spec.startPolicy.concurrencyPolicy: 'Enqueue' is not offered by this version of "
           "Detent; use one of: Allow, Forbid"},
          {"/spec/substitutions", "{name: x}",
           "spec.substitutions.name: 'name' must be a variable's full name, which begins with "
           "job., jobconfig., task. or option."},
      },
      Kind::kJob, GoodJob());
}

TEST(AdmissionOfJobs, AVariableThatNobodySetsIsAWarning) {
  const Json document = With(GoodJob(), "/spec/template/taskTemplate/exec/command",
                             "[echo, '${job.nam}', '${HOME}']");
  const Admission admission = AdmitNew(Kind::kJob, document, Context());
  EXPECT_EQ(Sentences(admission), "");
  ASSERT_EQ(admission.warnings.size(), 1u);
  EXPECT_EQ(admission.warnings[0],
            "spec.template.taskTemplate.exec.command[1]: unknown variable 'job.nam' (did you mean "
            "'job.name'?)");
}

TEST(AdmissionOfJobs, TheOlderFormOfATaskIsTheSame) {
  Json document = With(GoodJob(), "/spec/template/taskTemplate", "");
  document = With(document, "/spec/template/task", "{template: {exec: {command: [echo, hi]}}}");
  const Admission admission = AdmitNew(Kind::kJob, document, Context());
  EXPECT_EQ(Sentences(admission), "");
  EXPECT_EQ(DecodeJobSpec(admission.object.spec)->job_template.task_template.kind, "exec");
  document = With(document, "/spec/template/task", "{template: {pod: {}}}");
  EXPECT_EQ(Sentences(AdmitNew(Kind::kJob, document, Context())),
            "spec.template.task.template.pod: no plugin of kind 'pod' is configured; configured "
            "are: exec, http");
}

TEST(AdmissionOfJobs, WithoutAValidatorAStrangeKindIsAWarning) {
  AdmissionContext context = Context();
  context.validator = nullptr;
  const Json pod = With(GoodJob(), "/spec/template/taskTemplate", "{pod: {}}");
  EXPECT_EQ(Sentences(AdmitNew(Kind::kJob, pod, context)), "");
  const Json slip = With(GoodJob(), "/spec/template/taskTemplate", "{htttp: {}}");
  const Admission admission = AdmitNew(Kind::kJob, slip, context);
  EXPECT_EQ(Sentences(admission), "");
  ASSERT_EQ(admission.warnings.size(), 1u);
  EXPECT_EQ(admission.warnings[0],
            "spec.template.taskTemplate.htttp: executor kind 'htttp' comes from no plugin of "
            "Detent's own (did you mean 'http'?)");
}

TEST(AdmissionOfTasks, OnlyAJobMakesThem) {
  const Json task = FromYaml(
      "{kind: Task, metadata: {name: t}, spec: {jobName: j, index: 0, attempt: 1, exec: {command: "
      "[a]}}}");
  EXPECT_EQ(Sentences(AdmitNew(Kind::kTask, task, Context())),
            "kind: a Task is made by its Job and cannot be created by hand; create a Job with this "
            "executor in spec.template.taskTemplate");
}

}  // namespace
}  // namespace detent
