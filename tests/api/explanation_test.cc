#include "core/api/explanation.h"

#include <gtest/gtest.h>

namespace detent {
namespace {

using explanation::Lines;

TEST(Explanation, SaysOfAJobWhereItIsAndWhatFailed) {
  JobStatus status;
  status.phase = JobPhase::kRetryBackoff;
  status.reason = "RetryBackoff";
  status.message = "the next attempt begins soon";
  status.failed_attempts[1].Insert(3);
  TaskRecord last;
  last.name = "j-3-1";
  last.reason = "ExitCode";
  last.message = "exit code 3";
  status.failed.push_back(last);
  EXPECT_EQ(explanation::OfJob("j", status),
            "job j is RetryBackoff: RetryBackoff, the next attempt begins soon");
  Lines lines;
  explanation::AddFailures(status, lines);
  EXPECT_EQ(lines, (Lines{"  attempt 1 failed at indexes 3",
                          "  last error: task j-3-1: ExitCode, exit code 3"}));
}

TEST(Explanation, ATimeToComeSaysHowFarOffItIs) {
  const WallTime now = *ParseTime("2026-11-21T10:00:00Z");
  EXPECT_EQ(explanation::OfNextAttempt(2, now + std::chrono::seconds(90), now),
            "  next attempt: index 2 at 2026-11-21T10:01:30Z (in 90s)");
  EXPECT_EQ(explanation::InTime(now, now), "2026-11-21T10:00:00Z (now)");
}

TEST(Explanation, AJobConfigWithoutASlotSaysSoOnlyWhereItHasNoSchedule) {
  JobConfigStatus status;
  Lines scheduled, never;
  explanation::AddSlots(status, true, WallTime{}, scheduled);
  explanation::AddSlots(status, false, WallTime{}, never);
  EXPECT_TRUE(scheduled.empty()) << "a host has not said which slot is next";
  EXPECT_EQ(never.size(), 1u);
  EXPECT_EQ(explanation::OfConfig("c", status), "jobconfig c is new");
}

TEST(Explanation, ATaskThatHasEndedSaysHow) {
  TaskStatus status;
  status.state = TaskState::kTerminated;
  status.result = TaskResult::kLost;
  status.message = "the node is gone";
  EXPECT_EQ(explanation::OfStoredTask("t", status), "task t is Terminated, Lost: the node is gone");
}

}  // namespace
}  // namespace detent
