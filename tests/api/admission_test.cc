#include "core/api/admission.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/base/limits.h"
#include "tests/api/examples.h"

namespace detent {
namespace {

using testing::Context;
using testing::FromYaml;
using testing::GoodJobConfig;
using testing::Sentences;
using testing::With;

struct NewRow {
  const char* pointer;
  const char* yaml;  // Put there; empty: what is there is taken out.
  const char* sentence;
};

void ExpectNewSentences(const std::vector<NewRow>& rows, Kind kind, const Json& good) {
  for (const NewRow& row : rows) {
    const Admission admission = AdmitNew(kind, With(good, row.pointer, row.yaml), Context());
    EXPECT_EQ(Sentences(admission), row.sentence) << row.pointer << ": " << row.yaml;
  }
}

TEST(Admission, AGoodJobConfigIsAdmittedWithItsDefaults) {
  const Admission admission = AdmitNew(Kind::kJobConfig, GoodJobConfig(), Context());
  EXPECT_EQ(Sentences(admission), "");
  EXPECT_TRUE(admission.warnings.empty());
  const Object& object = admission.object;
  EXPECT_EQ(object.meta.name, "nightly");
  EXPECT_EQ(object.meta.uid, "");
  EXPECT_EQ(object.meta.generation, 1);
  EXPECT_EQ(object.meta.created, testing::Noon());
  EXPECT_EQ(object.status, "");
  const Json spec = *ParseJson(object.spec);
  EXPECT_EQ(*spec.At("/schedule/lastUpdated"), Json("2026-11-21T10:00:00Z"));
  EXPECT_EQ(*spec.At("/template/spec/maxAttempts"), Json(3));
  EXPECT_EQ(spec.At("/template/spec/taskPendingTimeoutSeconds"), nullptr)
      << "what the host is configured with is not frozen into objects";
}

TEST(Admission, NamesAndTypesOfFieldsAreChecked) {
  ExpectNewSentences(
      {
          {"/spec/shedule", "{}", "spec.shedule: unknown field (did you mean 'schedule'?)"},
          {"/spec/zzz", "1", "spec.zzz: unknown field"},
          {"/spec/schedule/cron/timezon", "UTC",
           "spec.schedule.cron.timezon: unknown field (did you mean 'timezone'?)"},
          {"/spec", "", "spec: is required"},
          {"/spec/template", "", "spec.template: is required"},
          {"/spec/concurrency/policy", "", "spec.concurrency.policy: is required"},
          {"/spec/schedule/cron", "", "spec.schedule.cron: is required"},
          {"/spec/template/spec/taskTemplate", "", "spec.template.spec.taskTemplate: is required"},
          {"/spec/template/spec/maxAttempts", "'3'",
           "spec.template.spec.maxAttempts: must be an integer, not the string '3'"},
          {"/spec/template/spec/maxAttempts", "1.5",
           "spec.template.spec.maxAttempts: must be an integer, not 1.5"},
          {"/spec/schedule/disabled", "yes",
           "spec.schedule.disabled: must be true or false, not the string 'yes'"},
          {"/spec/template", "[]", "spec.template: must be an object, not a list"},
          {"/spec/schedule/cron/expression", "5",
           "spec.schedule.cron.expression: must be a string, not 5"},
          {"/metadata/labels/a", "7", "metadata.labels.a: must be a string, not 7"},
          {"/spec/concurrency/policy", "forbid",
           "spec.concurrency.policy: must be one of: Allow, Forbid; not 'forbid' (did you mean "
           "'Forbid'?)"},
          {"/spec/schedule/constraints/notBefore", "tomorrow",
           "spec.schedule.constraints.notBefore: must be a time in RFC 3339 such as "
           "2026-01-31T08:00:00Z, not 'tomorrow'"},
          {"/kind", "Job", "kind: must be JobConfig, not 'Job'"},
          {"/apiVersion", "batch/v1",
           "apiVersion: must be execution.detent.dev/v1alpha1, not 'batch/v1'"},
      },
      Kind::kJobConfig, GoodJobConfig());
}

TEST(Admission, WhatIsNotOfferedIsRefusedAndNotIgnored) {
  const char* const kRefusal = ": is not offered by this version of Detent; remove it";
  for (const char* field :
       {"/spec/option", "/spec/template/spec/backoff", "/spec/template/spec/failureRules",
        "/spec/template/spec/activeDeadlineSeconds"}) {
    const Json document = With(GoodJobConfig(), field, "{a: 1}");
    const Admission admission = AdmitNew(Kind::kJobConfig, document, Context());
    EXPECT_EQ(Sentences(admission), FieldPath(field) + kRefusal);
    ASSERT_EQ(admission.mistakes.size(), 1u);
    EXPECT_EQ(admission.mistakes[0].reason, Diagnostic::Reason::kForbidden);
  }
  ExpectNewSentences(
      {{"/spec/concurrency/policy", "Enqueue",
        "spec.concurrency.policy: 'Enqueue' is not offered by this version of Detent; "
        "use one of: Allow, Forbid"}},
      Kind::kJobConfig, GoodJobConfig());
}

TEST(Admission, SchedulesAreRead) {
  ExpectNewSentences(
      {
          {"/spec/schedule/cron/expression", "'0 24 * * *'",
           "spec.schedule.cron.expression: '0 24 * * *' is no cron expression: column 3: hour: 24 "
           "is not in 0-23"},
          {"/spec/schedule/cron/expressions", "['* * * * *', '* * *']",
           "spec.schedule.cron: must have one of expression and expressions, not both; move "
           "expression into the list\nspec.schedule.cron.expressions[1]: '* * *' is no cron "
           "expression: column 6: expected 5 to 7 fields, found 3"},
          {"/spec/schedule/cron", "{timezone: UTC}",
           "spec.schedule.cron.expression: is required; or give expressions"},
          {"/spec/schedule/cron", "{expressions: []}",
           "spec.schedule.cron.expressions: must hold at least one expression"},
          {"/spec/schedule/constraints",
           "{notBefore: '2027-01-01T00:00:00Z', notAfter: '2026-01-01T00:00:00Z'}",
           "spec.schedule.constraints.notAfter: '2026-01-01T00:00:00Z' must not be earlier than "
           "notBefore, '2027-01-01T00:00:00Z'"},
          {"/spec/concurrency/maxConcurrency", "0",
           "spec.concurrency.maxConcurrency: must be at least 1, not 0"},
          {"/spec/concurrency", "{policy: Allow, maxConcurrency: 2}",
           "spec.concurrency.maxConcurrency: has no meaning with policy Allow; remove it, or use "
           "policy Forbid"},
      },
      Kind::kJobConfig, GoodJobConfig());
  for (const char* good : {"'H/15 * * * *'", "'*/10 * * * * * *'", "'@daily'"}) {
    ExpectNewSentences({{"/spec/schedule/cron/expression", good, ""}}, Kind::kJobConfig,
                       GoodJobConfig());
  }
}

TEST(Admission, AnUnknownZoneIsToldWithTheNearest) {
  const Json document = With(GoodJobConfig(), "/spec/schedule/cron/timezone", "Asia/Singapur");
  const Admission admission = AdmitNew(Kind::kJobConfig, document, Context());
  ASSERT_EQ(admission.mistakes.size(), 1u);
  EXPECT_EQ(admission.mistakes[0].pointer, "/spec/schedule/cron/timezone");
  EXPECT_NE(Sentences(admission).find("Asia/Singapur"), std::string::npos);
  EXPECT_NE(Sentences(admission).find("Asia/Singapore"), std::string::npos) << Sentences(admission);
}

TEST(Admission, AScheduleThatNeverFallsDueIsAWarning) {
  const Json document = With(GoodJobConfig(), "/spec/schedule/cron/expression", "'0 0 30 2 *'");
  const Admission admission = AdmitNew(Kind::kJobConfig, document, Context());
  EXPECT_EQ(Sentences(admission), "");
  ASSERT_EQ(admission.warnings.size(), 1u);
  EXPECT_EQ(admission.warnings[0],
            "spec.schedule.cron: there is no slot after 2026-11-21T10:00:00Z");
}

TEST(Admission, MetadataIsChecked) {
  const std::string long_name(50, 'a');
  const std::string big(300'000, 'x');
  ExpectNewSentences(
      {
          {"/metadata/name", "Nightly_Run",
           "metadata.name: 'Nightly_Run' must be lower case letters, digits, '-' or '.', and each "
           "part between dots must begin and end with a letter or digit"},
          {"/metadata/name", long_name.c_str(),
           "metadata.name: must be at most 49 characters, not 50"},
          {"/metadata/name", "", "metadata.name: is required; or give metadata.generateName"},
          {"/metadata", "", "metadata.name: is required; or give metadata.generateName"},
          {"/metadata", ("{generateName: " + std::string(45, 'b') + "}").c_str(),
           "metadata.generateName: must be at most 44 characters, not 45"},
          {"/metadata/namespace", "a.b",
           "metadata.namespace: 'a.b' must be lower case letters, digits or '-', and begin and end "
           "with a letter or digit"},
          {"/metadata/labels", "{'bad key': x}",
           "metadata.labels[bad key]: 'bad key' must be letters, digits, '-', '_' or '.', and "
           "begin and end with a letter or digit"},
          {"/metadata/labels", "{a: 'b c'}",
           "metadata.labels.a: 'b c' must be letters, digits, '-', '_' or '.', and begin and end "
           "with a letter or digit"},
          {"/metadata/finalizers", "[mine]",
           "metadata.finalizers[0]: 'mine' must have its owner's domain in front, as in "
           "example.com/mine"},
          {"/metadata/ownerReferences", "[{apiVersion: v1, kind: A, name: a}]",
           "metadata.ownerReferences[0].uid: is required"},
          {"/metadata/annotations", ("{a: " + big + "}").c_str(),
           "metadata.annotations: must be at most 262144 bytes in all, not 300001"},
          {"/spec/template/metadata/labels", "{a: '-'}",
           "spec.template.metadata.labels.a: '-' must be letters, digits, '-', '_' or '.', and "
           "begin and end with a letter or digit"},
      },
      Kind::kJobConfig, GoodJobConfig());
}

TEST(Admission, TwoControllersAreOneTooMany) {
  const Json document = With(GoodJobConfig(), "/metadata/ownerReferences",
                             "[{apiVersion: v1, kind: A, name: a, uid: '1', controller: true},"
                             " {apiVersion: v1, kind: A, name: b, uid: '2', controller: true}]");
  EXPECT_EQ(Sentences(AdmitNew(Kind::kJobConfig, document, Context())),
            "metadata.ownerReferences[1].controller: must be true for one owner only, and an owner "
            "before this one has it");
}

TEST(Admission, AllMistakesComeAtOnceWithTheirPointers) {
  const Json document = FromYaml(
      "{kind: JobConfig, metadata: {name: A}, spec: {concurrency: {policy: No}, schedule: {cron: "
      "{expression: x}}, template: {spec: {maxAttempts: -1, taskTemplate: {}, retries: 3}}}}");
  const Admission admission = AdmitNew(Kind::kJobConfig, document, Context());
  std::vector<std::string> pointers;
  for (const Diagnostic& mistake : admission.mistakes) pointers.push_back(mistake.pointer);
  std::sort(pointers.begin(), pointers.end());
  EXPECT_EQ(pointers, (std::vector<std::string>{
                          "/metadata/name", "/spec/concurrency/policy",
                          "/spec/schedule/cron/expression", "/spec/template/spec/maxAttempts",
                          "/spec/template/spec/retries", "/spec/template/spec/taskTemplate"}));
}

TEST(Admission, UnknownFieldsAreForgivenWhereThatIsAskedFor) {
  const Json document = With(GoodJobConfig(), "/spec/shedule", "{}");
  const Admission admission = AdmitNew(Kind::kJobConfig, document, Context(), false);
  EXPECT_EQ(Sentences(admission), "");
  EXPECT_EQ(admission.warnings,
            (std::vector<std::string>{"spec.shedule: unknown field (did you mean 'schedule'?)"}));
  EXPECT_EQ(ParseJson(admission.object.spec)->Find("shedule"), nullptr);
}

TEST(Admission, TooDeepAndTooLargeDocumentsAreRefused) {
  Json deep;
  for (int i = 0; i < 70; ++i) deep = Json(Json::Array{deep});
  Json document = GoodJobConfig();
  document.Find("spec")
      ->Find("template")
      ->Find("spec")
      ->Find("taskTemplate")
      ->Find("exec")
      ->Set("deep", deep);
  EXPECT_EQ(Sentences(AdmitNew(Kind::kJobConfig, document, Context())),
            "must not nest deeper than 64 levels");
  const std::string big = "{command: [" + std::string(limits::kObjectBytes, 'x') + "]}";
  const Json large = With(GoodJobConfig(), "/spec/template/spec/taskTemplate/exec", big);
  const Admission admission = AdmitNew(Kind::kJobConfig, large, Context());
  ASSERT_EQ(admission.mistakes.size(), 1u);
  EXPECT_EQ(admission.mistakes[0].reason, Diagnostic::Reason::kTooLong);
  EXPECT_EQ(Sentences(admission).substr(0, 43), "must be at most 1572864 bytes as JSON, not ");
  EXPECT_EQ(Sentences(AdmitNew(Kind::kJobConfig, Json(7), Context())), "must be an object, not 7");
}

TEST(Admission, FurikosGroupAndNullsAndStatusAreTaken) {
  Json document = With(GoodJobConfig(), "/apiVersion", "execution.furiko.io/v1alpha1");
  document = With(document, "/metadata/creationTimestamp", "null");
  document = With(document, "/spec/schedule/disabled", "null");
  document = With(document, "/status", "{whatever: 1}");
  const Admission admission = AdmitNew(Kind::kJobConfig, document, Context());
  EXPECT_EQ(Sentences(admission), "");
  EXPECT_EQ(admission.object.spec,
            AdmitNew(Kind::kJobConfig, GoodJobConfig(), Context()).object.spec);
  EXPECT_EQ(admission.object.status, "");
}

}  // namespace
}  // namespace detent
