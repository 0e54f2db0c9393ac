#include "core/sched/outcome.h"

#include <gtest/gtest.h>

#include <string>

#include "core/base/limits.h"

namespace detent {
namespace {

const char* NameOf(OutcomeKind kind) {
  switch (kind) {
    case OutcomeKind::kSucceeded:
      return "Succeeded";
    case OutcomeKind::kFailed:
      return "Failed";
    case OutcomeKind::kFailedForGood:
      return "FailedForGood";
    case OutcomeKind::kUncounted:
      return "Uncounted";
    case OutcomeKind::kEndedByJob:
      return "EndedByJob";
  }
  return "";
}

JobTemplate Template(int64_t attempts, int64_t indexes = 1) {
  JobTemplate job;
  job.max_attempts = attempts;
  job.parallelism = Parallelism{indexes};
  return job;
}

TaskRecord Record(const std::string& name, TaskState state, TaskResult result = TaskResult::kNone) {
  TaskRecord record;
  record.name = name;
  record.state = state;
  record.result = result;
  return record;
}

TEST(Outcome, JudgesATaskByItsResultAndWhatItsExecutorKnows) {
  std::string drawn;
  for (const TaskResult result : {TaskResult::kSucceeded, TaskResult::kFailed, TaskResult::kKilled,
                                  TaskResult::kLost, TaskResult::kNone}) {
    drawn += std::string(result == TaskResult::kNone ? "None" : NameOf(result)) + ":";
    for (const bool rerun_safe : {false, true}) {
      for (const bool never_retry : {false, true}) {
        TaskStatus status;
        status.state = TaskState::kTerminated;
        status.result = result;
        status.rerun_safe = rerun_safe;
        status.never_retry = never_retry;
        drawn += std::string(" ") + NameOf(JudgeTask(status));
      }
    }
    drawn += "\n";
  }
  // Columns: plain, neverRetry, rerunSafe, both.
  EXPECT_EQ(drawn,
            "Succeeded: Succeeded Succeeded Succeeded Succeeded\n"
            "Failed: Failed FailedForGood Failed FailedForGood\n"
            "Killed: Failed FailedForGood Failed FailedForGood\n"
            "Lost: FailedForGood FailedForGood Uncounted Uncounted\n"
            "None: Failed FailedForGood Failed FailedForGood\n");
}

TEST(Outcome, RecordsEachEndOfAnAttemptOnce) {
  for (const OutcomeKind kind : {OutcomeKind::kSucceeded, OutcomeKind::kFailed,
                                 OutcomeKind::kFailedForGood, OutcomeKind::kUncounted}) {
    JobStatus status;
    const JobTemplate job = Template(3);
    EXPECT_FALSE(IsRecorded(status, 0, 1)) << NameOf(kind);
    EXPECT_TRUE(RecordOutcome(status, job, {0, 1, kind})) << NameOf(kind);
    EXPECT_TRUE(IsRecorded(status, 0, 1)) << NameOf(kind);
    const JobStatus once = status;
    EXPECT_FALSE(RecordOutcome(status, job, {0, 1, kind})) << NameOf(kind);
    EXPECT_EQ(status, once) << NameOf(kind);
  }
}

TEST(Outcome, KeepsTheFirstEndWhenTheSameAttemptIsToldDifferently) {
  JobStatus status;
  const JobTemplate job = Template(3);
  RecordOutcome(status, job, {0, 1, OutcomeKind::kFailed});
  EXPECT_FALSE(RecordOutcome(status, job, {0, 1, OutcomeKind::kSucceeded}));
  EXPECT_TRUE(status.succeeded_indexes.empty());
}

TEST(Outcome, RecordsASuccessAfterFailuresAsThatAttemptAlone) {
  JobStatus status;
  const JobTemplate job = Template(3);
  RecordOutcome(status, job, {4, 1, OutcomeKind::kFailed});
  RecordOutcome(status, job, {4, 2, OutcomeKind::kUncounted});
  RecordOutcome(status, job, {4, 3, OutcomeKind::kSucceeded});
  for (const int64_t attempt : {1, 2, 3}) EXPECT_TRUE(IsRecorded(status, 4, attempt)) << attempt;
  EXPECT_FALSE(IsRecorded(status, 3, 1));
  EXPECT_EQ(CountedFailures(status, 4), 1);
  EXPECT_TRUE(IsDecided(status, 4));
}

TEST(Outcome, GivesUpAnIndexAfterItsAttempts) {
  const struct {
    const char* because;
    int64_t max_attempts;
    std::vector<OutcomeKind> ends;
    bool decided;
    int64_t counted;
    int64_t next;
  } cases[] = {
      {"nothing has ended", 1, {}, false, 0, 1},
      {"the only attempt failed", 1, {OutcomeKind::kFailed}, true, 1, 2},
      {"one of two attempts failed", 2, {OutcomeKind::kFailed}, false, 1, 2},
      {"both attempts failed", 2, {OutcomeKind::kFailed, OutcomeKind::kFailed}, true, 2, 3},
      {"no other attempt can help", 9, {OutcomeKind::kFailedForGood}, true, 1, 2},
      {"an uncounted end costs no attempt", 1, {OutcomeKind::kUncounted}, false, 0, 2},
      {"uncounted ends number the attempts all the same",
       2,
       {OutcomeKind::kUncounted, OutcomeKind::kFailed, OutcomeKind::kUncounted},
       false,
       1,
       4},
      {"failures count whatever lies between them",
       2,
       {OutcomeKind::kFailed, OutcomeKind::kUncounted, OutcomeKind::kFailed},
       true,
       2,
       4},
  };
  for (const auto& c : cases) {
    JobStatus status;
    const JobTemplate job = Template(c.max_attempts);
    int64_t attempt = 0;
    for (const OutcomeKind end : c.ends) RecordOutcome(status, job, {0, ++attempt, end});
    EXPECT_EQ(IsDecided(status, 0), c.decided) << c.because;
    EXPECT_EQ(CountedFailures(status, 0), c.counted) << c.because;
    EXPECT_EQ(NextAttempt(status, 0), c.next) << c.because;
  }
}

TEST(Outcome, CountsEachIndexForItself) {
  JobStatus status;
  const JobTemplate job = Template(2, 3);
  for (const int64_t index : {0, 2}) {
    RecordOutcome(status, job, {index, 1, OutcomeKind::kFailed});
  }
  RecordOutcome(status, job, {2, 2, OutcomeKind::kFailed});
  EXPECT_EQ(status.failed_indexes.ToString(), "2");
  EXPECT_EQ(status.failed_attempts.at(1).ToString(), "0,2");
  EXPECT_EQ(NextAttempt(status, 0), 2);
  EXPECT_EQ(NextAttempt(status, 1), 1);
}

TEST(Outcome, JudgesAJobByItsIndexes) {
  const struct {
    const char* because;
    std::vector<OutcomeKind> ends;  // Of the indexes from 0 on.
    Verdict verdict;
  } cases[] = {
      {"nothing has ended", {}, Verdict::kOngoing},
      {"one index is still to come", {OutcomeKind::kSucceeded}, Verdict::kOngoing},
      {"every index succeeded",
       {OutcomeKind::kSucceeded, OutcomeKind::kSucceeded},
       Verdict::kSucceeded},
      {"one failed index decides", {OutcomeKind::kFailedForGood}, Verdict::kFailed},
      {"a failed index outweighs the others",
       {OutcomeKind::kSucceeded, OutcomeKind::kFailedForGood},
       Verdict::kFailed},
      {"a failed attempt is not a failed index", {OutcomeKind::kFailed}, Verdict::kOngoing},
  };
  for (const auto& c : cases) {
    JobStatus status;
    const JobTemplate job = Template(2, 2);
    int64_t index = 0;
    for (const OutcomeKind end : c.ends) RecordOutcome(status, job, {index++, 1, end});
    EXPECT_EQ(JudgeJob(status, job), c.verdict) << c.because;
  }
}

TEST(Outcome, KeepsARecordInTheListOfItsState) {
  JobStatus status;
  KeepRecord(status, Record("a", TaskState::kRunning));
  KeepRecord(status, Record("b", TaskState::kRunning));
  KeepRecord(status, Record("c", TaskState::kRunning));
  KeepRecord(status, Record("a", TaskState::kTerminated, TaskResult::kSucceeded));
  KeepRecord(status, Record("b", TaskState::kTerminated, TaskResult::kLost));
  ASSERT_EQ(status.active.size(), 1U);
  EXPECT_EQ(status.active[0].name, "c");
  ASSERT_EQ(status.succeeded.size(), 1U);
  EXPECT_EQ(status.succeeded[0].name, "a");
  ASSERT_EQ(status.failed.size(), 1U);
  EXPECT_EQ(status.failed[0].name, "b");
}

TEST(Outcome, ReplacesARecordOfTheSameName) {
  JobStatus status;
  TaskRecord record = Record("a", TaskState::kTerminated, TaskResult::kFailed);
  KeepRecord(status, record);
  record.reason = "Again";
  KeepRecord(status, record);
  ASSERT_EQ(status.failed.size(), 1U);
  EXPECT_EQ(status.failed[0].reason, "Again");
}

TEST(Outcome, BoundsEachListAndKeepsTheNewest) {
  JobStatus status;
  const size_t count = limits::kStatusTaskRecords + 5;
  for (size_t i = 0; i < count; ++i) {
    const std::string name = std::to_string(i);
    KeepRecord(status, Record("active-" + name, TaskState::kRunning));
    KeepRecord(status, Record("good-" + name, TaskState::kTerminated, TaskResult::kSucceeded));
    KeepRecord(status, Record("bad-" + name, TaskState::kTerminated, TaskResult::kFailed));
  }
  for (const auto* list : {&status.active, &status.succeeded, &status.failed}) {
    ASSERT_EQ(list->size(), limits::kStatusTaskRecords);
  }
  EXPECT_EQ(status.failed.front().name, "bad-5");
  EXPECT_EQ(status.failed.back().name, "bad-24");
}

}  // namespace
}  // namespace detent
