#include "core/webhook/admission_review.h"

#include <gtest/gtest.h>

#include "core/api/labels.h"
#include "tests/api/examples.h"

namespace detent {
namespace {

using testing::Context;
using testing::GoodJob;
using testing::GoodJobConfig;
using testing::With;

constexpr const char* kHost = "system:serviceaccount:detent:detent";

// What the API server adds to what a user writes.
Json Stored(Json object) {
  for (const auto& [field, yaml] :
       {std::pair{"uid", "8c1f0000-0000-4000-8000-000000000001"},
        {"resourceVersion", "'41'"},
        {"generation", "1"},
        {"creationTimestamp", "'2026-11-21T09:00:00Z'"},
        {"managedFields", "[{manager: kubectl, fieldsV1: {'f:a': {}}}]"}}) {
    object = With(std::move(object), std::string("/metadata/") + field, yaml);
  }
  return object;
}

Json Asked(const std::string& operation, const Json& object, const Json& old = {}) {
  const std::string kind = object.Find("kind") != nullptr ? object.Find("kind")->as_string() : "";
  const std::string resource = kind == "JobConfig" ? "jobconfigs" : "jobs";
  Json request(Json::Object{
      {"uid", "705ab4f5"},
      {"operation", operation},
      {"resource",
       Json::Object{{"group", kApiGroup}, {"version", "v1alpha1"}, {"resource", resource}}},
      {"namespace", "default"},
      {"userInfo", Json::Object{{"username", "alice"}}},
      {"object", object},
      {"oldObject", old},
      {"options", Json::Object{{"fieldValidation", "Strict"}}}});
  if (const Json* name = object.At("/metadata/name")) request.Set("name", *name);
  return Json::Object{{"apiVersion", "admission.k8s.io/v1"},
                      {"kind", "AdmissionReview"},
                      {"request", std::move(request)}};
}

class AdmissionReviewTest : public ::testing::Test {
 protected:
  AdmissionReviewTest() { context_ = {Context(), kHost, nullptr}; }

  // The answer's "response".
  Json Answered(const Json& review) {
    const auto answer = AnswerReview(DumpJson(review), context_);
    if (!answer) {
      ADD_FAILURE() << answer.error().message();
      return {};
    }
    const Json whole = *ParseJson(*answer);
    EXPECT_EQ(*whole.Find("kind"), Json("AdmissionReview"));
    EXPECT_EQ(*whole.Find("apiVersion"), Json("admission.k8s.io/v1"));
    EXPECT_EQ(*whole.At("/response/uid"), Json("705ab4f5"));
    return *whole.Find("response");
  }
  // "FIELD REASON" of each cause, or empty: it is allowed.
  std::string Causes(const Json& review) {
    const Json response = Answered(review);
    const Json* allowed = response.Find("allowed");
    const Json* causes = response.At("/status/details/causes");
    EXPECT_EQ(allowed != nullptr && *allowed == Json(true), causes == nullptr);
    std::string text;
    if (causes == nullptr) return text;
    for (const Json& cause : causes->as_array()) {
      const Json* field = cause.Find("field");  // Absent: the object as a whole.
      text += (text.empty() ? "" : "; ") + (field == nullptr ? "-" : field->as_string()) + " " +
              cause.Find("reason")->as_string();
    }
    return text;
  }
  static std::string Warnings(const Json& response) {
    const Json* warnings = response.Find("warnings");
    return warnings == nullptr ? "" : DumpJson(*warnings);
  }

  ReviewContext context_;
};

const std::string kJobUidLabel = "/metadata/labels" + PointerToken(labels::kJobConfigUid);

Json Relabelled(const Json& job) {
  return With(With(job, "/metadata/labels", "{}"), "/metadata/labels",
              "{execution.detent.dev/job-config-uid: other}");
}

TEST_F(AdmissionReviewTest, GoodObjectsAreAllowedWithAllThatTheServerAdds) {
  for (const Json& object : {GoodJobConfig(), GoodJob()}) {
    EXPECT_EQ(Causes(Asked("CREATE", Stored(object))), "");
    EXPECT_EQ(Causes(Asked("UPDATE", Stored(object), Stored(object))), "");
  }
}

TEST_F(AdmissionReviewTest, AllMistakesAreToldAtOnceAsKubernetesTellsThem) {
  Json bad = With(GoodJobConfig(), "/spec/schedule/cron/expression", "'61 * * * *'");
  bad = With(bad, "/spec/schedule/cron/timezone", "Mars/Olympus");
  bad = With(bad, "/spec/template/spec/maxAttempts", "0");
  bad = With(bad, "/spec/template/spec/taskTemplate/exec", "{}");
  const Json response = Answered(Asked("CREATE", bad));
  EXPECT_EQ(*response.Find("allowed"), Json(false));
  const Json status = *response.Find("status");
  EXPECT_EQ(*status.Find("code"), Json(422));
  EXPECT_EQ(*status.Find("reason"), Json("Invalid"));
  EXPECT_EQ(*status.At("/details/kind"), Json("JobConfig"));
  EXPECT_EQ(*status.At("/details/name"), Json("nightly"));
  const std::string message = status.Find("message")->as_string();
  EXPECT_TRUE(message.starts_with(R"(JobConfig.execution.detent.dev "nightly" is invalid: [)"))
      << message;
  EXPECT_EQ(Causes(Asked("CREATE", bad)),
            "spec.schedule.cron.expression FieldValueInvalid; "
            "spec.schedule.cron.timezone FieldValueInvalid; "
            "spec.template.spec.taskTemplate.exec.command FieldValueRequired; "
            "spec.template.spec.maxAttempts FieldValueInvalid");
}

TEST_F(AdmissionReviewTest, WhatIsImmutableMayNotChange) {
  const Json changed = With(GoodJob(), "/spec/template/taskTemplate/exec/command", "[echo, bye]");
  EXPECT_EQ(Causes(Asked("UPDATE", Stored(changed), Stored(GoodJob()))),
            "spec.template.taskTemplate FieldValueInvalid");
}

TEST_F(AdmissionReviewTest, OnlyWhatUsersWriteIsJudged) {
  Json bad = With(GoodJob(), "/spec/template/taskTemplate/exec", "{}");
  const Json old = Stored(GoodJob());
  const auto changed = [&](const std::string& pointer, const char* yaml) {
    return With(Asked("UPDATE", bad, old), pointer, yaml);
  };
  const Json dying = With(bad, "/metadata/deletionTimestamp", "'2026-11-21T09:30:00Z'");
  struct Row {
    Json review;
    bool judged;
    const char* because;
  };
  const Row rows[] = {
      {Asked("UPDATE", bad, old), true, "a user's change"},
      {Asked("CREATE", bad), true, "a user's creation"},
      {Asked("DELETE", Json(), bad), false, "deletions are always allowed"},
      {Asked("UPDATE", dying, With(old, "/metadata/deletionTimestamp", "'2026-11-21T09:30:00Z'")),
       false, "its finalizers must come off"},
      {changed("/request/subResource", "status"), false, "the status is the host's"},
      {changed("/request/resource/resource", "tasks"), false, "tasks are the host's"},
      {changed("/request/resource/group", "apps"), false, "another's kind"},
      {changed("/request/userInfo/username", kHost), false, "the host knows what it does"},
      {changed("/request/userInfo/username", "system:serviceaccount:other:detent"), true,
       "somebody of the same name elsewhere"},
      {changed("/request/dryRun", "true"), true, "a dry run is a run"},
  };
  for (const Row& row : rows) EXPECT_EQ(!Causes(row.review).empty(), row.judged) << row.because;
}

TEST_F(AdmissionReviewTest, AMistakeOfOldDoesNotStandInTheWayOfAnotherChange) {
  const Json old = Stored(With(GoodJob(), "/spec/template/taskTemplate", "{pod: {}}"));
  const Json annotated = With(old, "/metadata/annotations", "{a: b}");
  const Json response = Answered(Asked("UPDATE", annotated, old));
  EXPECT_EQ(*response.Find("allowed"), Json(true));
  EXPECT_NE(Warnings(response).find("no plugin of kind 'pod'"), std::string::npos);
  // But a new one does, and is the only one told.
  EXPECT_EQ(Causes(Asked("UPDATE", With(annotated, "/spec/ttlSecondsAfterFinished", "-1"), old)),
            "spec.ttlSecondsAfterFinished FieldValueInvalid");
  EXPECT_EQ(Causes(Asked("UPDATE", Relabelled(old), old)),
            FieldPath(kJobUidLabel) + " FieldValueInvalid");
}

TEST_F(AdmissionReviewTest, UnknownFieldsAreTreatedAsTheWriterAsked) {
  const Json odd = With(GoodJob(), "/spec/priority", "3");
  Json review = Asked("CREATE", odd);
  EXPECT_NE(Causes(review), "");
  review = With(review, "/request/options/fieldValidation", "Warn");
  EXPECT_EQ(Causes(review), "");
  EXPECT_NE(Warnings(Answered(review)).find("spec.priority: unknown field"), std::string::npos);
  review = With(review, "/request/options/fieldValidation", "Ignore");
  EXPECT_EQ(Warnings(Answered(review)), "");
}

TEST_F(AdmissionReviewTest, AJobIsJudgedWithTheJobConfigThatItNames) {
  const Json job = With(With(GoodJob(), "/spec/template", ""), "/spec/configName", "nightly");
  EXPECT_EQ(Causes(Asked("CREATE", job)), "") << "nobody to ask";
  Result<Object> answer = Error(Code::kNotFound, "no");
  std::string asked;
  context_.find_job_config = [&](const std::string& ns, const std::string& name) {
    asked = ns + "/" + name;
    return answer;
  };
  EXPECT_EQ(Causes(Asked("CREATE", job)), "spec.configName FieldValueNotFound");
  EXPECT_EQ(asked, "default/nightly");
  EXPECT_EQ(Causes(Asked("CREATE", With(job, "/spec/ttlSecondsAfterFinished", "-1"))),
            "spec.configName FieldValueNotFound; spec.ttlSecondsAfterFinished FieldValueInvalid");
  answer = Error(Code::kUnavailable, "the API server is busy");
  const Json response = Answered(Asked("CREATE", job));
  EXPECT_EQ(*response.Find("allowed"), Json(true));
  EXPECT_NE(Warnings(response).find("the API server is busy"), std::string::npos);
  answer = ObjectFromCluster(Kind::kJobConfig, Stored(GoodJobConfig()));
  EXPECT_EQ(Causes(Asked("CREATE", job)), "");
  answer->meta.deleted = testing::Noon();
  EXPECT_EQ(Causes(Asked("CREATE", job)), "spec.configName FieldValueForbidden");
  asked.clear();
  EXPECT_EQ(Causes(Asked("UPDATE", Stored(job), Stored(job))), "");
  EXPECT_EQ(asked, "") << "a Job that is there has been judged";
}

TEST_F(AdmissionReviewTest, AnObjectThatIsTooDeepIsRefusedByAdmission) {
  Json deep("x");
  for (int i = 0; i < 100; ++i) deep = Json(Json::Object{{"a", std::move(deep)}});
  Json job = GoodJob();
  job.Set("metadata", Json::Object{{"name", "once"}, {"annotations", std::move(deep)}});
  EXPECT_EQ(Causes(Asked("CREATE", job)), "- FieldValueTooLong");
}

TEST_F(AdmissionReviewTest, WhatIsNoReviewIsAnErrorThatSaysWhy) {
  const Json good = Asked("UPDATE", GoodJob(), GoodJob());
  struct Row {
    std::string body;
    const char* part;
  };
  const Row rows[] = {
      {"", "no AdmissionReview"},
      {"[]", "apiVersion is ''"},
      {"{", "no AdmissionReview"},
      {DumpJson(With(good, "/apiVersion", "admission.k8s.io/v1beta1")), "admission.k8s.io/v1beta1"},
      {DumpJson(With(good, "/kind", "Pod")), "kind 'Pod'"},
      {DumpJson(With(good, "/request", "")), "request is missing"},
      {DumpJson(With(good, "/request/uid", "")), "request.uid is missing"},
      {DumpJson(With(good, "/request/operation", "")), "request.operation is missing"},
      {DumpJson(With(good, "/request/resource", "")), "request.resource.resource is missing"},
      {DumpJson(With(good, "/request/object", "null")), "request.object is missing"},
      {DumpJson(With(good, "/request/oldObject", "null")), "request.oldObject is missing"},
      {DumpJson(With(good, "/request/oldObject/metadata", "")), "metadata is missing"},
  };
  for (const Row& row : rows) {
    const auto answer = AnswerReview(row.body, context_);
    ASSERT_FALSE(answer) << row.body;
    EXPECT_EQ(answer.error().code(), Code::kInvalid);
    EXPECT_NE(answer.error().message().find(row.part), std::string::npos)
        << answer.error().message();
  }
}

// Finds what it is told to in every spec.
class ToldLive final : public LiveValidator {
 public:
  LiveFindings CheckLive(const LiveQuestion& question) const override {
    ++asked;
    EXPECT_EQ(question.ns, "default");
    EXPECT_EQ(question.patience, std::chrono::milliseconds(700));
    return findings;
  }
  LiveFindings findings;
  mutable int asked = 0;
};

TEST_F(AdmissionReviewTest, TellsWhatATryOfTheSpecFinds) {
  ToldLive live;
  context_.live = &live;
  context_.live_patience = std::chrono::milliseconds(700);
  EXPECT_EQ(Warnings(Answered(Asked("CREATE", GoodJob()))), "");
  live.findings.warnings = {{"/x", Diagnostic::Reason::kInvalid, "is bad", ""}};
  const Json warned = Answered(Asked("CREATE", GoodJob()));
  EXPECT_EQ(*warned.Find("allowed"), Json(true));
  EXPECT_NE(Warnings(warned).find("spec.template.taskTemplate."), std::string::npos);
  EXPECT_NE(Warnings(warned).find(".x: is bad"), std::string::npos);
  live.findings = {};
  live.findings.not_checked = "nobody answers";
  EXPECT_EQ(Causes(Asked("CREATE", GoodJobConfig())), "");
  live.findings.mistakes = {{"/x", Diagnostic::Reason::kInvalid, "is bad", ""}};
  EXPECT_NE(Causes(Asked("CREATE", GoodJobConfig())).find(".x FieldValueInvalid"),
            std::string::npos);
  const int asked = live.asked;
  const Json stored = Stored(GoodJobConfig());
  EXPECT_EQ(Causes(Asked("UPDATE", With(stored, "/metadata/labels/a", "b"), stored)), "");
  EXPECT_EQ(live.asked, asked) << "the executor's spec is as it was";
}

}  // namespace
}  // namespace detent
