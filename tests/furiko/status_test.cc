#include "core/furiko/furiko_status.h"

#include <gtest/gtest.h>

#include "core/api/codec.h"
#include "core/api/schema_fields.h"
#include "core/crd/furiko_crd.h"

namespace detent {
namespace {

KnownObject Ours(const std::string& status, const std::string& spec = "{}") {
  auto known = ReadKnownObject(R"({"metadata": {"name": "x", "uid": "u-1"}, "spec": )" + spec +
                               R"(, "status": )" + status + "}");
  EXPECT_TRUE(known);
  return known ? *std::move(known) : KnownObject();
}

// What the definition does not have the API server would drop, and then it would be written again
// and again.
void ExpectKnown(Kind kind, const Json& status) {
  Diagnostics mistakes;
  CheckObject(FurikoStatusFieldsOf(kind), status, "", mistakes);
  for (const Diagnostic& mistake : mistakes) ADD_FAILURE() << Sentence(mistake);
}

std::string Text(const Json& json, std::string_view pointer) {
  const Json* found = json.At(pointer);
  return found != nullptr && found->is_string() ? found->as_string() : "";
}

JobStatus WholeStatus(JobPhase phase) {
  JobStatus status;
  status.phase = phase;
  status.reason = "Reason";
  status.message = "message";
  status.started = FromUnixSeconds(1'000);
  if (IsFinished(phase)) status.finished = FromUnixSeconds(2'000);
  status.indexes = 3;
  status.created_tasks = 4;
  TaskRecord held;
  held.name = "x-0-1";
  held.state = TaskState::kHeld;
  held.created = FromUnixSeconds(1'002);
  TaskRecord lost;
  lost.name = "x-1-2";
  lost.index = 1;
  lost.attempt = 2;
  lost.state = TaskState::kTerminated;
  lost.result = TaskResult::kLost;
  lost.created = FromUnixSeconds(1'001);
  lost.exit_code = 3;
  status.active = {held};
  status.failed = {lost};
  return status;
}

TEST(FurikoStatus, OfAJobHasNothingThatTheDefinitionDoesNotHave) {
  for (const JobPhase phase : {JobPhase::kQueued, JobPhase::kPending, JobPhase::kRunning,
                               JobPhase::kTerminating, JobPhase::kSucceeded, JobPhase::kKilled}) {
    const KnownObject ours = Ours(EncodeJobStatus(WholeStatus(phase)),
                                  R"({"template": {"parallelism": {"withCount": 3}}})");
    ExpectKnown(Kind::kJob, FurikoJobStatus(ours));
  }
  ExpectKnown(Kind::kJob, QueuedFurikoJobStatus({"A", "b"}));
  ExpectKnown(Kind::kJob, RefusedFurikoJobStatus({"A", "b"}, FromUnixSeconds(1)));
}

TEST(FurikoStatus, OfAJobConfigHasNothingThatTheDefinitionDoesNotHave) {
  JobConfigStatus status;
  status.state = "Executing";
  status.active = 1;
  status.active_jobs = {{"j", "u", "Running", FromUnixSeconds(5)}};
  status.last_scheduled = status.last_executed = status.next_scheduled = FromUnixSeconds(9);
  status.last_skipped = SkippedSlot{FromUnixSeconds(3), "Forbid", "m"};
  const KnownObject ours = Ours(EncodeJobConfigStatus(status));
  ExpectKnown(Kind::kJobConfig, FurikoJobConfigStatus(ours));
  ExpectKnown(Kind::kJobConfig, RefusedFurikoJobConfigStatus({"A", "b"}, &ours));
  EXPECT_EQ(Text(FurikoJobConfigStatus(ours), "/state"), "Executing");
  EXPECT_EQ(Text(FurikoJobConfigStatus(ours), "/activeJobs/0/name"), "j");
}

TEST(FurikoStatus, TasksAreOneListInFurikosWords) {
  const Json status = FurikoJobStatus(Ours(EncodeJobStatus(WholeStatus(JobPhase::kRunning)),
                                           R"({"template": {"parallelism": {"withCount": 3}}})"));
  ASSERT_NE(status.At("/tasks/1"), nullptr);
  EXPECT_EQ(Text(status, "/tasks/0/name"), "x-1-2") << "the older stands first";
  EXPECT_EQ(*status.At("/tasks/0/retryIndex"), Json(1)) << "counted from 0";
  EXPECT_EQ(*status.At("/tasks/0/parallelIndex/indexNumber"), Json(1));
  EXPECT_EQ(Text(status, "/tasks/0/status/state"), "DeletedFinalStateUnknown");
  EXPECT_EQ(status.At("/tasks/0/status/result"), nullptr) << "nobody knows it";
  EXPECT_EQ(*status.At("/tasks/0/containerStates/0/exitCode"), Json(3));
  EXPECT_EQ(Text(status, "/tasks/1/status/state"), "Starting") << "Furiko has no Held";
  EXPECT_EQ(*status.At("/parallelStatus/complete"), Json(false));
}

TEST(FurikoStatus, AJobWithoutAStatusIsQueued) {
  const Json status = FurikoJobStatus(Ours("{}"));
  EXPECT_EQ(Text(status, "/phase"), "Queued");
  EXPECT_EQ(Text(status, "/state"), "Queued");
  EXPECT_NE(status.At("/condition/queueing"), nullptr);
  EXPECT_EQ(Text(status, "/detentUID"), "u-1");
}

TEST(FurikoStatus, TheUnionAndTheListSayTheEnd) {
  const Json status = FurikoJobStatus(Ours(EncodeJobStatus(WholeStatus(JobPhase::kSucceeded)),
                                           R"({"template": {"parallelism": {"withCount": 3}}})"));
  EXPECT_EQ(Text(status, "/condition/finished/result"), "Success");
  EXPECT_EQ(Text(status, "/conditions/0/type"), "Complete");
  EXPECT_EQ(*status.At("/parallelStatus/successful"), Json(true));
}

}  // namespace
}  // namespace detent
