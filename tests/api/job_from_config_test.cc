#include "core/api/job_from_config.h"

#include <gtest/gtest.h>

#include "core/api/codec.h"
#include "core/api/labels.h"
#include "tests/api/examples.h"

namespace detent {
namespace {

using testing::Context;
using testing::FromYaml;
using testing::Noon;

Object StoredJobConfig() {
  Object config = AdmitNew(Kind::kJobConfig, testing::GoodJobConfig(), Context()).object;
  config.meta.uid = "0001";
  return config;
}

TEST(JobFromConfig, AScheduledJobIsNamedAfterItsSlot) {
  const Object config = StoredJobConfig();
  const auto spec = DecodeJobConfigSpec(config.spec);
  ASSERT_TRUE(spec);
  const auto job = JobFromConfig(config.meta, *spec, {.slot = Noon()}, Noon());
  ASSERT_TRUE(job);
  EXPECT_EQ(job->meta.name, "nightly-1795255200");
  EXPECT_EQ(job->meta.ns, "default");
  EXPECT_EQ(job->meta.annotations.at(labels::kSlot), "2026-11-21T10:00:00Z");
  EXPECT_EQ(job->meta.annotations.at("example.com/page"), "yes");
  EXPECT_EQ(job->meta.labels, (StringMap{{"team", "storage"},
                                         {labels::kJobConfigUid, "0001"},
                                         {labels::kJobConfigName, "nightly"}}));
  ASSERT_NE(ControllerOf(job->meta), nullptr);
  EXPECT_EQ(*ControllerOf(job->meta),
            (OwnerReference{kGroupVersion, "JobConfig", "nightly", "0001", true, true}));
  EXPECT_TRUE(HasFinalizer(job->meta, labels::kDeleteDependents));
  EXPECT_EQ(job->meta.generation, 1);
  const auto job_spec = DecodeJobSpec(job->spec);
  ASSERT_TRUE(job_spec) << job_spec.error().message();
  EXPECT_EQ(job_spec->type, JobType::kScheduled);
  EXPECT_EQ(job_spec->job_template.max_attempts, 3);
}

TEST(JobFromConfig, WhatItMakesNeedsNoAdmission) {
  const Object config = StoredJobConfig();
  const auto spec = DecodeJobConfigSpec(config.spec);
  const auto job = JobFromConfig(config.meta, *spec, {.slot = Noon()}, Noon());
  const auto document = ParseJson(EncodeObject(*job));
  ASSERT_TRUE(document);
  const Admission admission = AdmitNew(Kind::kJob, *document, Context());
  EXPECT_EQ(testing::Sentences(admission), "");
  EXPECT_EQ(admission.object, *job);
}

TEST(JobFromConfig, AnAdhocJobTakesWhatIsAskedForItself) {
  const Object config = StoredJobConfig();
  JobOverrides overrides;
  overrides.labels = {{"team", "other"}};
  overrides.substitutions = {{"job.name", "x"}};
  overrides.concurrency_policy = ConcurrencyPolicy::kAllow;
  const auto job = JobFromConfig(config.meta, *DecodeJobConfigSpec(config.spec), overrides, Noon());
  ASSERT_TRUE(job);
  EXPECT_EQ(job->meta.name, "");
  EXPECT_EQ(job->meta.generate_name, "nightly-");
  EXPECT_EQ(job->meta.labels.at("team"), "other");
  const auto spec = DecodeJobSpec(job->spec);
  EXPECT_EQ(spec->type, JobType::kAdhoc);
  EXPECT_EQ(spec->substitutions, overrides.substitutions);
  EXPECT_EQ(spec->concurrency_policy, ConcurrencyPolicy::kAllow);
}

TEST(JobFromConfig, ADyingJobConfigMakesNoJobs) {
  Object config = StoredJobConfig();
  config.meta.deleted = Noon();
  const auto job = JobFromConfig(config.meta, *DecodeJobConfigSpec(config.spec), {}, Noon());
  ASSERT_FALSE(job);
  EXPECT_EQ(job.error().code(), Code::kForbidden);
  EXPECT_EQ(job.error().message(),
            "jobconfig default/nightly is being deleted and makes no more Jobs");
}

TEST(JobFromConfig, ADocumentThatNamesAJobConfigIsCompleted) {
  const Json document = FromYaml(
      "{kind: Job, metadata: {namespace: default, labels: {team: mine}}, "
      "spec: {configName: nightly, ttlSecondsAfterFinished: 5}}");
  EXPECT_EQ(testing::Sentences(
                AdmitNew(Kind::kJob, testing::With(document, "/metadata/name", "a"), Context())),
            "")
      << "may be checked before it is completed";
  const auto resolved = ResolveConfigName(document, StoredJobConfig());
  ASSERT_TRUE(resolved);
  const Admission admission = AdmitNew(Kind::kJob, *resolved, Context());
  EXPECT_EQ(testing::Sentences(admission), "");
  const ObjectMeta& meta = admission.object.meta;
  EXPECT_EQ(meta.generate_name, "nightly-");
  EXPECT_EQ(meta.labels.at("team"), "mine");
  EXPECT_EQ(meta.labels.at(labels::kJobConfigUid), "0001");
  EXPECT_EQ(meta.annotations.at("example.com/page"), "yes");
  EXPECT_EQ(ControllerOf(meta)->uid, "0001");
  EXPECT_EQ(ParseJson(admission.object.spec)->Find("configName"), nullptr);
  EXPECT_EQ(DecodeJobSpec(admission.object.spec)->ttl_seconds_after_finished, 5);
}

TEST(JobFromConfig, ATemplateBesideConfigNameIsRefused) {
  const Json document = testing::With(testing::GoodJob(), "/spec/configName", "nightly");
  const auto resolved = ResolveConfigName(document, StoredJobConfig());
  ASSERT_TRUE(resolved);
  EXPECT_EQ(testing::Sentences(AdmitNew(Kind::kJob, *resolved, Context())),
            "spec.configName: cannot be given beside spec.template, which comes from the "
            "JobConfig; remove one of them");
}

}  // namespace
}  // namespace detent
