#include "core/api/scale.h"

#include <gtest/gtest.h>

#include "tests/api/examples.h"

namespace detent {
namespace {

using testing::Context;
using testing::FromYaml;
using testing::Sentences;
using testing::With;

// As stored, with this concurrency.
Object ConfigWith(std::string_view concurrency, std::string status = "") {
  const Json document = With(testing::GoodJobConfig(), "/spec/concurrency", concurrency);
  Object object = AdmitNew(Kind::kJobConfig, document, Context()).object;
  object.meta.uid = "0001";
  object.meta.resource_version = 7;
  object.status = std::move(status);
  return object;
}

Json LimitOf(const Object& config) {
  const auto spec = ParseJson(config.spec);
  const Json* limit = spec->At("/concurrency/maxConcurrency");
  return limit == nullptr ? Json() : *limit;
}

TEST(Scale, ShowsTheLimitThatHoldsAndHowManyJobsAreActive) {
  struct Row {
    const char* concurrency;
    const char* status;
    const char* spec;
    const char* replicas;
    const char* because;
  };
  const Row rows[] = {
      {"{policy: Forbid, maxConcurrency: 3}", R"({"active":2})", R"({"replicas":3})", "2", "both"},
      {"{policy: Forbid}", "", R"({"replicas":1})", "0", "the default, and no status yet"},
      {"{policy: Allow}", R"({"active":5})", "{}", "5", "no limit: nothing to scale"},
  };
  for (const Row& row : rows) {
    const auto scale = ScaleOf(ConfigWith(row.concurrency, row.status));
    ASSERT_TRUE(scale) << row.because;
    EXPECT_EQ(DumpJson(*scale->Find("spec")), row.spec) << row.because;
    EXPECT_EQ(DumpJson(*scale->At("/status/replicas")), row.replicas) << row.because;
    EXPECT_EQ(*scale->Find("apiVersion"), Json("autoscaling/v1"));
    EXPECT_EQ(*scale->Find("kind"), Json("Scale"));
    EXPECT_EQ(DumpJson(*scale->Find("metadata")),
              R"({"name":"nightly","namespace":"default","uid":"0001","resourceVersion":"7",)"
              R"("creationTimestamp":"2026-11-21T10:00:00Z"})");
  }
}

TEST(Scale, OfWhatCannotBeReadIsAnError) {
  Object damaged = ConfigWith("{policy: Forbid}");
  damaged.spec = "{}";
  EXPECT_FALSE(ScaleOf(damaged));
}

TEST(Scale, SetsTheLimitAndNothingElse) {
  const Object old = ConfigWith("{policy: Forbid}", R"({"active":1})");
  const Json scale = FromYaml(
      "{spec: {replicas: 4}, status: {replicas: 9}, metadata: {name: nightly, labels: {a: b}}}");
  const Admission admission = AdmitScale(old, scale, Context());
  EXPECT_EQ(Sentences(admission), "");
  EXPECT_EQ(LimitOf(admission.object), Json(4));
  EXPECT_EQ(admission.object.status, old.status);
  EXPECT_EQ(admission.object.meta.labels, old.meta.labels);
  EXPECT_EQ(admission.object.meta.generation, 2);
  const auto again = ScaleOf(admission.object);
  EXPECT_EQ(*again->At("/spec/replicas"), Json(4));
}

TEST(Scale, IsRefusedAsTheSameChangeOfTheJobConfigIs) {
  const Object limited = ConfigWith("{policy: Forbid, maxConcurrency: 3}");
  struct Row {
    const char* scale;
    const char* sentence;
  };
  const Row rows[] = {
      {"{spec: {replicas: 0}}", "spec.concurrency.maxConcurrency: must be at least 1, not 0"},
      {"{spec: {}}", "spec.concurrency.maxConcurrency: must be at least 1, not 0"},
      {"{spec: {replicas: null}}", "spec.concurrency.maxConcurrency: must be at least 1, not 0"},
      {"{spec: {replicas: 2147483648}}",
       "spec.concurrency.maxConcurrency: must be at most 2147483647, not 2147483648"},
      {"{spec: {replicas: two}}", "spec.replicas: must be an integer, not the string 'two'"},
      {"{spec: {replica: 2}}", "spec.replica: unknown field (did you mean 'replicas'?)"},
  };
  for (const Row& row : rows) {
    const Admission admission = AdmitScale(limited, FromYaml(row.scale), Context());
    EXPECT_EQ(Sentences(admission), row.sentence) << row.scale;
  }
  const Admission unlimited =
      AdmitScale(ConfigWith("{policy: Allow}"), FromYaml("{spec: {replicas: 2}}"), Context());
  EXPECT_EQ(Sentences(unlimited),
            "spec.concurrency.maxConcurrency: has no meaning with policy Allow; remove it, or use "
            "policy Forbid");
}

TEST(Scale, ForgivesAnUnknownFieldWithAWarningWhereItIsAsked) {
  const Object old = ConfigWith("{policy: Forbid}");
  const Admission admission =
      AdmitScale(old, FromYaml("{spec: {replicas: 2, more: 1}}"), Context(), false);
  EXPECT_EQ(Sentences(admission), "");
  EXPECT_EQ(LimitOf(admission.object), Json(2));
  ASSERT_EQ(admission.warnings.size(), 1u);
  EXPECT_EQ(admission.warnings.front(), "spec.more: unknown field");
}

}  // namespace
}  // namespace detent
