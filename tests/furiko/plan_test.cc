// What is done for a name, from what both groups show of it: one row for each state that a host may
// be killed in.

#include "core/furiko/furiko_plan.h"

#include <gtest/gtest.h>

#include "core/api/labels.h"

namespace detent {
namespace {

constexpr const char* kPod = R"({"taskTemplate": {"pod": {"spec": {}}}})";

class World : public ::testing::Test {
 protected:
  void Put(FurikoSide side, Kind kind, const std::string& json) {
    auto known = ReadKnownObject(json);
    ASSERT_TRUE(known) << known.error().message();
    const ObjectKey key{kind, "default", known->meta.name};
    state_.Of(side)[key] = *std::move(known);
  }
  // `more` begins with a comma.
  void Theirs(const std::string& spec, const std::string& status = "{}",
              const std::string& more = "") {
    Put(FurikoSide::kTheirs, Kind::kJob,
        R"({"metadata": {"name": "x", "namespace": "default", "uid": "t-1", "resourceVersion": "7"
            )" +
            more + R"(}, "spec": )" + spec + R"(, "status": )" + status + "}");
  }
  void Ours(const std::string& more, const std::string& spec = "{}",
            const std::string& status = "{}") {
    Put(FurikoSide::kOurs, Kind::kJob,
        R"({"metadata": {"name": "x", "namespace": "default", "uid": "o-1")" + more +
            R"(}, "spec": )" + spec + R"(, "status": )" + status + "}");
  }
  void Configs(const std::string& mark = "ct-1") {
    Put(FurikoSide::kTheirs, Kind::kJobConfig,
        R"({"metadata": {"name": "c", "namespace": "default", "uid": "ct-1"}, "spec": )" +
            Config() + "}");
    Put(FurikoSide::kOurs, Kind::kJobConfig,
        R"({"metadata": {"name": "c", "namespace": "default", "uid": "co-1", "resourceVersion": "9",
            "labels": {"detent.dev/furiko-uid": ")" +
            mark + R"("}}, "spec": )" + Config() + "}");
  }
  static std::string Config() {
    return R"({"concurrency": {"policy": "Allow"}, "template": {"spec": {"taskTemplate":
               {"pod": {"spec": {}}}, "maxAttempts": 1}}})";
  }

  // "POST jobs" and the like, with the body; empty: nothing.
  std::string Next(Kind kind = Kind::kJob, const std::string& name = "x") {
    FurikoPlanContext context;
    context.admission.now = FromUnixSeconds(1'800'000'000);
    context.refusal = refusal_;
    const auto step = NextFurikoStep(state_, {kind, "default", name}, context);
    body_ = Json();
    if (!step) return "";
    auto body = ParseJson(step->request.body);
    if (body) body_ = *std::move(body);
    const std::string& path = step->request.path;
    const std::string group = path.find("furiko") == path.npos ? "ours" : "theirs";
    const bool status = path.find("/status?") != path.npos;
    return step->request.method + " " + group + (status ? " status" : "");
  }
  std::string Text(std::string_view pointer) const {
    const Json* found = body_.At(pointer);
    return found != nullptr && found->is_string() ? found->as_string() : "";
  }

  static std::string Spec() { return std::string(R"({"template": )") + kPod + "}"; }
  static std::string Held() {
    return std::string(R"({"startPolicy": {"startAfter": "2100-01-01T00:00:00Z"}, "template": )") +
           kPod + "}";
  }
  static constexpr const char* kMade = R"(, "labels": {"detent.dev/furiko-uid": "t-1"})";
  static constexpr const char* kOfConfig =
      R"(, "ownerReferences": [{"apiVersion": "execution.detent.dev/v1alpha1", "kind": "JobConfig",
          "name": "c", "uid": "co-1", "controller": true}])";
  static constexpr const char* kView =
      R"(, "labels": {"detent.dev/furiko-view": "o-1"}, "finalizers": ["detent.dev/furiko-view"],
          "ownerReferences": [{"apiVersion": "execution.detent.dev/v1alpha1", "kind": "Job",
          "name": "x", "uid": "o-1", "controller": true}])";
  static constexpr const char* kDying = R"(, "deletionTimestamp": "2026-01-01T00:00:00Z")";

  FurikoState state_;
  std::string refusal_;
  Json body_;
};

using FurikoPlan = World;

TEST_F(FurikoPlan, OursIsCreatedHeldAndOwnedByTheOrigin) {
  Theirs(Spec());
  EXPECT_EQ(Next(), "POST ours");
  EXPECT_EQ(Text("/apiVersion"), "execution.detent.dev/v1alpha1");
  EXPECT_EQ(Text("/metadata/labels/detent.dev~1furiko-uid"), "t-1");
  EXPECT_EQ(Text("/metadata/ownerReferences/0/uid"), "t-1");
  EXPECT_EQ(Text("/metadata/ownerReferences/0/apiVersion"), "execution.furiko.io/v1alpha1");
  EXPECT_EQ(Text("/spec/startPolicy/startAfter"), "2100-01-01T00:00:00Z");
}

TEST_F(FurikoPlan, TheOlderFormOfATaskIsTaken) {
  Theirs(R"({"template": {"task": {"template": {"pod": {"spec": {}}}}}})");
  EXPECT_EQ(Next(), "POST ours");
  EXPECT_NE(body_.At("/spec/template/taskTemplate/pod"), nullptr);
}

TEST_F(FurikoPlan, AHeldJobIsFirstNotedInTheOriginAndOnlyThenLetGo) {
  Theirs(Spec());
  Ours(kMade, Held());
  EXPECT_EQ(Next(), "PATCH theirs status");
  EXPECT_EQ(Text("/1/value/detentUID"), "o-1");
  EXPECT_EQ(Text("/1/value/phase"), "Queued");
  Theirs(Spec(), R"({"detentUID": "o-1"})");
  EXPECT_EQ(Next(), "PATCH ours");
  EXPECT_EQ(Text("/0/value"), "o-1") << "the UID is tested";
  EXPECT_EQ(Text("/1/op"), "remove");
  EXPECT_EQ(Text("/1/path"), "/spec/startPolicy");
}

TEST_F(FurikoPlan, AJobIsLetGoWithTheStartPolicyOfItsOrigin) {
  Theirs(R"({"startPolicy": {"startAfter": "2027-01-01T00:00:00Z"}})", R"({"detentUID": "o-1"})");
  Ours(kMade, Held());
  EXPECT_EQ(Next(), "PATCH ours");
  EXPECT_EQ(Text("/1/value/startAfter"), "2027-01-01T00:00:00Z");
}

TEST_F(FurikoPlan, AnOriginWhoseJobIsGoneGoesAndIsNeverRunAgain) {
  Theirs(Spec(), R"({"detentUID": "o-1", "phase": "Running"})");
  EXPECT_EQ(Next(), "DELETE theirs");
  EXPECT_EQ(Text("/preconditions/uid"), "t-1");
  Put(FurikoSide::kOurs, Kind::kJob, R"({"metadata": {"name": "x", "uid": "another"}})");
  EXPECT_EQ(Next(), "DELETE theirs") << "what has its name now is another";
}

TEST_F(FurikoPlan, AStatusIsWrittenOnlyIfItIsDifferent) {
  Theirs(Spec(), R"({"detentUID": "o-1"})");
  Ours(kMade, Spec(), R"({"phase": "Running", "state": "Running", "createdTasks": 1})");
  EXPECT_EQ(Next(), "PATCH theirs status");
  EXPECT_EQ(Text("/1/value/phase"), "Running");
  Theirs(Spec(), DumpJson(*body_.At("/1/value")));
  EXPECT_EQ(Next(), "");
}

TEST_F(FurikoPlan, AKillGoesFromTheOriginToOurs) {
  Theirs(R"({"killTimestamp": "2026-01-01T00:00:00Z"})", R"({"detentUID": "o-1"})");
  Ours(kMade, Spec(), R"({"phase": "Running", "state": "Running"})");
  EXPECT_EQ(Next(), "PATCH ours");
  EXPECT_EQ(Text("/1/path"), "/spec/killTimestamp");
  Ours(kMade, Spec(), R"({"phase": "Succeeded", "state": "Finished"})");
  EXPECT_EQ(Next(), "PATCH theirs status") << "it has ended already";
}

TEST_F(FurikoPlan, WhatAdmissionRefusesIsSaidAndMakesNothing) {
  Theirs(R"({"template": {"taskTemplate": {"pod": {}, "http": {}}}})");
  EXPECT_EQ(Next(), "PATCH theirs status");
  EXPECT_EQ(Text("/1/value/phase"), "AdmissionError");
  EXPECT_NE(Text("/1/value/condition/finished/message").find("must name one executor"),
            std::string::npos);
  Theirs(Spec(), R"({"phase": "AdmissionError"})");
  EXPECT_EQ(Next(), "") << "what was refused stays so";
}

TEST_F(FurikoPlan, WhatTheApiServerRefusesIsSaid) {
  Theirs(Spec());
  refusal_ = "spec: is wrong";
  EXPECT_EQ(Next(), "PATCH theirs status");
  EXPECT_EQ(Text("/1/value/condition/finished/message"), "spec: is wrong");
}

TEST_F(FurikoPlan, ATakenNameIsSaidAndWaitedFor) {
  Theirs(Spec());
  Ours("", Spec());
  EXPECT_EQ(Next(), "PATCH theirs status");
  EXPECT_EQ(Text("/1/value/phase"), "Queued");
  EXPECT_EQ(Text("/1/value/condition/queueing/reason"), "NameTaken");
  EXPECT_EQ(Text("/1/value/detentUID"), "");
}

TEST_F(FurikoPlan, AJobOfAConfigIsMadeWholeAndOwnedByOurConfig) {
  Theirs(R"({"configName": "c"})");
  EXPECT_EQ(Next(), "PATCH theirs status");
  EXPECT_EQ(Text("/1/value/condition/queueing/reason"), "NoJobConfig");
  Configs();
  EXPECT_EQ(Next(), "POST ours");
  EXPECT_EQ(Text("/metadata/ownerReferences/0/uid"), "co-1");
  EXPECT_EQ(body_.At("/metadata/ownerReferences/1"), nullptr);
  EXPECT_NE(body_.At("/spec/template/taskTemplate/pod"), nullptr);
  EXPECT_EQ(body_.At("/spec/configName"), nullptr);
}

TEST_F(FurikoPlan, AJobOfAConfigWhoseOriginIsGoneIsDeleted) {
  Configs();
  Ours(std::string(kMade) + kOfConfig);
  EXPECT_EQ(Next(), "DELETE ours");
  EXPECT_EQ(Text("/preconditions/uid"), "o-1");
  Ours(kMade);
  EXPECT_EQ(Next(), "") << "the collector takes what the origin owned";
}

TEST_F(FurikoPlan, AJobOfOurScheduleIsShown) {
  Configs();
  Ours(std::string(R"(, "annotations": {"execution.detent.dev/slot": "1970-01-01T00:01:40Z"})") +
           kOfConfig,
       Spec());
  EXPECT_EQ(Next(), "POST theirs");
  EXPECT_EQ(Text("/metadata/labels/detent.dev~1furiko-view"), "o-1");
  EXPECT_EQ(Text("/metadata/labels/execution.furiko.io~1job-config-uid"), "ct-1");
  EXPECT_EQ(Text("/metadata/annotations/execution.furiko.io~1schedule-time"), "100");
  EXPECT_EQ(Text("/metadata/finalizers/0"), "detent.dev/furiko-view");
  EXPECT_EQ(Text("/metadata/ownerReferences/0/uid"), "o-1");
}

TEST_F(FurikoPlan, AJobOfAConfigThatIsNotFurikosIsNotShown) {
  Configs("somebody-else");
  Ours(kOfConfig, Spec());
  EXPECT_EQ(Next(), "");
}

TEST_F(FurikoPlan, AViewIsNoOriginByEitherOfItsMarks) {
  for (const char* mark :
       {R"(, "labels": {"detent.dev/furiko-view": "gone"})",
        R"(, "ownerReferences": [{"apiVersion": "execution.detent.dev/v1alpha1", "kind": "Job",
            "name": "x", "uid": "gone"}])"}) {
    Theirs(Spec(), "{}", mark);
    EXPECT_EQ(Next(), "PATCH theirs status");
    EXPECT_EQ(Text("/1/value/condition/queueing/reason"), "NotAnOrigin");
    Theirs(Spec(), R"({"detentUID": "gone"})", mark);
    EXPECT_EQ(Next(), "") << "the collector takes it";
  }
}

TEST_F(FurikoPlan, AViewFollowsOursAndAsksForAKill) {
  const std::string killed = R"({"killTimestamp": "2026-01-01T00:00:00Z"})";
  Theirs(killed, "{}", kView);
  Ours(kOfConfig, Spec());
  EXPECT_EQ(Next(), "PATCH ours");
  EXPECT_EQ(Text("/1/path"), "/spec/killTimestamp");
  Ours(kOfConfig, R"({"killTimestamp": "2025-01-01T00:00:00Z"})");
  EXPECT_EQ(Next(), "PATCH theirs status") << "ours is killed already";
}

TEST_F(FurikoPlan, ADeletedViewDeletesOursAndThenLetsGo) {
  Theirs(Spec(), "{}", std::string(kView) + kDying);
  Ours(kOfConfig, Spec());
  EXPECT_EQ(Next(), "DELETE ours");
  Ours(std::string(kOfConfig) + kDying, Spec());
  EXPECT_EQ(Next(), "") << "until it is gone";
  state_.Of(FurikoSide::kOurs).clear();
  EXPECT_EQ(Next(), "PATCH theirs");
  EXPECT_EQ(Text("/1/path"), "/metadata/resourceVersion");
  EXPECT_EQ(Text("/2/path"), "/metadata/finalizers");
}

TEST_F(FurikoPlan, ConfigsAreMadeFollowedAndRefused) {
  Configs();
  state_.Of(FurikoSide::kOurs).clear();
  EXPECT_EQ(Next(Kind::kJobConfig, "c"), "POST ours");
  EXPECT_EQ(Text("/metadata/ownerReferences/0/uid"), "ct-1");
  Configs();
  EXPECT_EQ(Next(Kind::kJobConfig, "c"), "") << "they are alike";
  Put(FurikoSide::kTheirs, Kind::kJobConfig,
      R"({"metadata": {"name": "c", "namespace": "default", "uid": "ct-1"}, "spec":
          {"concurrency": {"policy": "Forbid"}, "template": {"spec": {"taskTemplate":
          {"pod": {"spec": {}}}}}}})");
  EXPECT_EQ(Next(Kind::kJobConfig, "c"), "PATCH ours");
  EXPECT_EQ(Text("/1/value"), "9") << "in the version that was read";
  EXPECT_EQ(Text("/2/value/concurrency/policy"), "Forbid");
  Put(FurikoSide::kTheirs, Kind::kJobConfig,
      R"({"metadata": {"name": "c", "namespace": "default", "uid": "ct-1"}, "spec":
          {"concurrency": {"policy": "Forbid"}, "schedule": {"cron": {"expression": "x"}},
           "template": {"spec": {"taskTemplate": {"pod": {"spec": {}}}}}}})");
  EXPECT_EQ(Next(Kind::kJobConfig, "c"), "PATCH theirs status");
  EXPECT_EQ(Text("/1/value/state"), "AdmissionError");
  EXPECT_NE(Text("/1/value/message").find("is no cron expression"), std::string::npos);
  Configs("somebody-else");
  EXPECT_EQ(Next(Kind::kJobConfig, "c"), "PATCH theirs status");
  EXPECT_EQ(Text("/1/value/reason"), "NameTaken");
}

TEST_F(FurikoPlan, TheHostsOwnTimeInAScheduleIsLeftAlone) {
  const std::string spec = R"({"concurrency": {"policy": "Allow"}, "schedule": {"cron":
      {"expression": "0 * * * *"}LAST}, "template": {"spec": {"taskTemplate": {"pod": {"spec": {}}},
      "maxAttempts": 1}}})";
  const auto with = [&](const std::string& last) {
    std::string text = spec;
    return text.replace(text.find("LAST"), 4, last);
  };
  Put(FurikoSide::kTheirs, Kind::kJobConfig,
      R"({"metadata": {"name": "c", "namespace": "default", "uid": "ct-1"}, "spec": )" +
          with(R"(, "lastUpdated": "2020-01-01T00:00:00Z")") + "}");
  Put(FurikoSide::kOurs, Kind::kJobConfig,
      R"({"metadata": {"name": "c", "namespace": "default", "uid": "co-1",
          "labels": {"detent.dev/furiko-uid": "ct-1"}}, "spec": )" +
          with(R"(, "lastUpdated": "2026-06-01T00:00:00Z")") + "}");
  EXPECT_EQ(Next(Kind::kJobConfig, "c"), "");
}

}  // namespace
}  // namespace detent
