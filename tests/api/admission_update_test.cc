#include <gtest/gtest.h>

#include "core/api/admission.h"
#include "core/api/codec.h"
#include "core/api/labels.h"
#include "tests/api/examples.h"

namespace detent {
namespace {

using testing::Context;
using testing::FromYaml;
using testing::Noon;
using testing::Sentences;
using testing::With;

Object Stored(Kind kind, const Json& document) {
  Object object = AdmitNew(kind, document, Context()).object;
  object.meta.uid = "0001";
  object.meta.resource_version = 7;
  return object;
}

Json DocumentOf(const Object& object) {
  return *ParseJson(EncodeObject(object));
}

struct UpdateRow {
  const char* pointer;
  const char* yaml;
  const char* sentence;
};

void ExpectUpdateSentences(const std::vector<UpdateRow>& rows, const Object& old) {
  for (const UpdateRow& row : rows) {
    const Json changed = With(DocumentOf(old), row.pointer, row.yaml);
    EXPECT_EQ(Sentences(AdmitUpdate(old, changed, Context())), row.sentence)
        << row.pointer << ": " << row.yaml;
  }
}

TEST(AdmissionOfUpdates, TheGenerationCountsChangesOfTheSpecAlone) {
  const Object old = Stored(Kind::kJobConfig, testing::GoodJobConfig());
  const Admission same = AdmitUpdate(old, DocumentOf(old), Context());
  EXPECT_EQ(Sentences(same), "");
  EXPECT_EQ(same.object, old);
  const Json labelled = With(DocumentOf(old), "/metadata/labels/a", "b");
  EXPECT_EQ(AdmitUpdate(old, labelled, Context()).object.meta.generation, 1);
  const Json changed = With(DocumentOf(old), "/spec/template/spec/maxAttempts", "4");
  EXPECT_EQ(AdmitUpdate(old, changed, Context()).object.meta.generation, 2);
}

TEST(AdmissionOfUpdates, WhatTheServerSetsIsKept) {
  Object old = Stored(Kind::kJobConfig, testing::GoodJobConfig());
  old.status = R"({"active":1})";
  const Json document = With(testing::GoodJobConfig(), "/status", "{active: 9}");
  const Admission admission = AdmitUpdate(old, document, Context());
  EXPECT_EQ(Sentences(admission), "");
  EXPECT_EQ(admission.object, old);
}

TEST(AdmissionOfUpdates, LastUpdatedRisesWithTheScheduleAlone) {
  const Object old = Stored(Kind::kJobConfig, testing::GoodJobConfig());
  AdmissionContext later = Context();
  later.now += std::chrono::hours(1);
  const auto last_updated = [&](const Json& document) {
    const Admission admission = AdmitUpdate(old, document, later);
    return ParseJson(admission.object.spec)->At("/schedule/lastUpdated")->as_string();
  };
  const Json replaced = testing::GoodJobConfig();
  EXPECT_EQ(last_updated(replaced), "2026-11-21T10:00:00Z");
  EXPECT_EQ(last_updated(With(replaced, "/spec/schedule/disabled", "true")),
            "2026-11-21T11:00:00Z");
  const Json future =
      With(replaced, "/spec/schedule",
           "{cron: {expression: '* * * * *'}, lastUpdated: '2027-01-01T00:00:00Z'}");
  EXPECT_EQ(last_updated(future), "2027-01-01T00:00:00Z");
}

TEST(AdmissionOfUpdates, ARunStaysTheRunThatWasAskedFor) {
  const char* const again = ": is immutable; to change it delete the Job and create it again";
  const Object old = Stored(Kind::kJob, testing::GoodJob());
  const std::pair<const char*, const char*> fields[] = {
      {"/spec/type", "Scheduled"},
      {"/spec/substitutions", "{job.name: a}"},
      {"/spec/template/taskTemplate", "{exec: {command: [other]}}"},
      {"/spec/template/parallelism", "{withCount: 5}"},
      {"/spec/template/maxAttempts", "2"},
      {"/spec/template/retryDelaySeconds", "2"},
      {"/spec/configName", "x"}};
  for (const auto& [pointer, yaml] : fields) {
    ExpectUpdateSentences({{pointer, yaml, (FieldPath(pointer) + again).c_str()}}, old);
  }
  ExpectUpdateSentences({{"/spec/template/retryDelaySeconds", "0", ""},
                         {"/spec/template/taskPendingTimeoutSeconds", "9", ""},
                         {"/spec/startPolicy", "{startAfter: '2027-01-01T00:00:00Z'}", ""},
                         {"/spec/killTimestamp", "'2026-11-21T09:00:00Z'", ""},
                         {"/spec/ttlSecondsAfterFinished", "1", ""}},
                        old);
}

TEST(AdmissionOfUpdates, AStartedJobKeepsItsStartPolicyAndAKilledOneItsTime) {
  Object old =
      Stored(Kind::kJob, With(testing::GoodJob(), "/spec/killTimestamp", "'2026-11-21T09:00:00Z'"));
  old.status = R"({"phase":"Running","startTime":"2026-11-21T09:30:00Z"})";
  ExpectUpdateSentences(
      {
          {"/spec/startPolicy", "{startAfter: '2027-01-01T00:00:00Z'}",
           "spec.startPolicy: is immutable once the Job has started"},
          {"/spec/killTimestamp", "",
           "spec.killTimestamp: is immutable once it has passed, and '2026-11-21T09:00:00Z' has"},
          {"/spec/killTimestamp", "'2026-11-21T17:00:00+08:00'", ""},
          {"/metadata/labels", ("{" + std::string(labels::kJobConfigUid) + ": x}").c_str(),
           "metadata.labels[execution.detent.dev/job-config-uid]: is immutable; it says which "
           "JobConfig made the Job"},
          {"/metadata/name", "other", "metadata.name: is immutable: must be 'once', not 'other'"},
          {"/metadata/uid", "'0002'", "metadata.uid: is immutable: must be '0001', not '0002'"},
      },
      old);
}

TEST(AdmissionOfUpdates, ADyingObjectGetsNoNewFinalizer) {
  Object old = Stored(Kind::kJob, testing::GoodJob());
  old.meta.deleted = Noon();
  const std::string have = labels::kDeleteDependents;
  ExpectUpdateSentences(
      {{"/metadata/finalizers", ("[" + have + ", example.com/more]").c_str(),
        "metadata.finalizers[1]: 'example.com/more' cannot be added, since the object "
        "is being deleted"},
       {"/metadata/finalizers", "", ""}},
      old);
}

TEST(AdmissionOfUpdates, OfATaskOnlyTheKillTimestampChanges) {
  Object old;
  old.kind = Kind::kTask;
  old.meta.name = "t";
  // No plugin of this kind is configured: its tasks can be killed all the same.
  old.spec = R"({"jobName":"j","index":0,"attempt":1,"gone":{"command":["a"]}})";
  ExpectUpdateSentences({{"/spec/killTimestamp", "'2026-11-21T09:00:00Z'", ""},
                         {"/spec/index", "1", "spec: is immutable but for killTimestamp"},
                         {"/metadata/finalizers", "[detent.dev/task-tracking]", ""}},
                        old);
}

TEST(AdmissionOfUpdates, AStatusIsReplacedAloneAndChecked) {
  const Object old = Stored(Kind::kJob, testing::GoodJob());
  Json document = With(DocumentOf(old), "/status", "{phase: Running, indexes: 4}");
  document = With(document, "/spec/type", "Scheduled");
  const Admission admission = AdmitStatus(old, document);
  EXPECT_EQ(Sentences(admission), "");
  EXPECT_EQ(admission.object.status, R"({"phase":"Running","indexes":4})");
  EXPECT_EQ(admission.object.spec, old.spec);
  EXPECT_EQ(admission.object.meta, old.meta);
  EXPECT_EQ(Sentences(AdmitStatus(old, With(document, "/status", "{indexes: many}"))),
            "status.indexes: must be an integer, not the string 'many'");
  EXPECT_EQ(Sentences(AdmitStatus(old, With(document, "/status", "{succeededIndexes: '2,1'}"))),
            "status: status.succeededIndexes: '1' is no interval of a set of indexes such as "
            "\"0-4,7\"");
}

TEST(AdmissionOfUpdates, WhatTheHostWritesAsStatusIsAdmitted) {
  const Object old = Stored(Kind::kJob, testing::GoodJob());
  JobStatus status;
  status.phase = JobPhase::kFailed;
  status.finished = Noon();
  status.failed_attempts[1].Insert(3);
  status.failed = {{"t", 3, 1, TaskState::kTerminated, TaskResult::kFailed, "ExitCode", "", 2,
                    Noon(), Noon(), Noon()}};
  Object written = old;
  written.status = EncodeJobStatus(status);
  const Admission admission = AdmitStatus(old, DocumentOf(written));
  EXPECT_EQ(Sentences(admission), "");
  EXPECT_EQ(*DecodeJobStatus(admission.object.status), status);
}

}  // namespace
}  // namespace detent
