// What needs no host: `next` and `validate`.

#include <gtest/gtest.h>

#include "tests/cli/fake_server.h"

namespace detent {
namespace {

using testing::Outcome;
using testing::Session;

TEST(Next, ShowsSlotsInTheZoneAndInUtc) {
  struct Row {
    std::vector<std::string> args;
    const char* out;
  };
  const Row rows[] = {
      {{"0 9 * * mon-fri", "--count", "1"},
       "2026-11-23T09:00:00+00:00   2026-11-23T09:00:00Z   in 47h\n"},
      {{"@hourly", "--count", "2"},
       "2026-11-21T11:00:00+00:00   2026-11-21T11:00:00Z   in 60m\n"
       "2026-11-21T12:00:00+00:00   2026-11-21T12:00:00Z   in 120m\n"},
      {{"0 0 * * *", "--count", "1", "--timezone", "Asia/Singapore"},
       "2026-11-22T00:00:00+08:00   2026-11-21T16:00:00Z   in 6h\n"},
      {{"0 0 * * *", "--count", "1", "--timezone", "UTC-03:30"},
       "2026-11-22T00:00:00-03:30   2026-11-22T03:30:00Z   in 17h\n"},
      // Clocks in Berlin jump over 02:30 on that day.
      {{"30 2 * * *", "--count", "1", "--timezone", "Europe/Berlin", "--from",
        "2027-03-28T00:00:00Z"},
       "2027-03-29T02:30:00+02:00   2027-03-29T00:30:00Z   in 24h\n"},
  };
  for (const Row& row : rows) {
    std::vector<std::string> args = {"next"};
    args.insert(args.end(), row.args.begin(), row.args.end());
    const Outcome outcome = Session().Run(args);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(outcome.out, row.out);
  }
}

TEST(Next, MistakesAndEmptySchedulesAreSaid) {
  EXPECT_NE(Session().Run({"next", "0 25 * * *"}).err.find("25 is not in 0-23"), std::string::npos);
  EXPECT_EQ(Session().Run({"next", "0 25 * * *"}).code, 1);
  EXPECT_EQ(Session().Run({"next", "H H * * *"}).code, 1);
  EXPECT_EQ(Session().Run({"next", "H H * * *", "--hash-id", "default/x"}).code, 0);
  EXPECT_EQ(Session().Run({"next", "0 0 30 2 *"}).err, "No slot will come before the year 2100.\n");
}

TEST(Next, ReadsAFileAndAStoredJobConfig) {
  Session file;
  file.input = R"(apiVersion: execution.furiko.io/v1alpha1
kind: JobConfig
metadata: {name: x}
spec:
  concurrency: {policy: Allow}
  schedule: {cron: {expression: "0 12 * * *", timezone: UTC}}
  template: {spec: {task: {template: {exec: {command: [a]}}}}}
)";
  const Outcome outcome = file.Run({"next", "-f", "-", "--count", "1"});
  EXPECT_EQ(outcome.out, "2026-11-21T12:00:00+00:00   2026-11-21T12:00:00Z   in 120m\n")
      << outcome.err;
  Session stored;
  stored.Expect({"GET /apis/execution.detent.dev/v1alpha1/namespaces/default/jobconfigs/x", 200,
                 R"({"metadata":{"name":"x","namespace":"default"},"spec":{"concurrency":{"policy":
                 "Allow"},"schedule":{"cron":{"expressions":["0 12 * * *"]}},"template":{"spec":{}}
                 }})"});
  stored.Expect({"GET /detent/v1/settings", 404, "{}"});
  EXPECT_EQ(stored.Run({"next", "x", "--count", "1"}).out, outcome.out);
}

// The slot of a stored JobConfig on a host with these settings.
std::string FirstSlot(const std::string& name, const std::string& expression,
                      const std::string& settings) {
  Session session;
  session.Expect({"GET /apis/execution.detent.dev/v1alpha1/namespaces/default/jobconfigs/" + name,
                  200,
                  R"({"metadata":{"name":")" + name +
                      R"(","namespace":"default"},"spec":{"concurrency":{"policy":"Allow"},)"
                      R"("schedule":{"cron":{"expressions":[")" +
                      expression + R"("]}},"template":{"spec":{}}}})"});
  session.Expect({"GET /detent/v1/settings", 200, R"({"cron":)" + settings + "}"});
  return session.Run({"next", name, "--count", "1"}).out;
}

TEST(Next, AsksTheHostForWhatAJobConfigLeavesOpen) {
  EXPECT_EQ(FirstSlot("x", "0 12 * * *", R"({"defaultTimezone":"Asia/Tokyo"})"),
            "2026-11-22T12:00:00+09:00   2026-11-22T03:00:00Z   in 17h\n");
  const std::string hashed = R"({"hashNames":true})";
  const std::string equal = R"({"hashNames":false})";
  EXPECT_NE(FirstSlot("x", "H H * * *", hashed), FirstSlot("y", "H H * * *", hashed));
  EXPECT_EQ(FirstSlot("x", "H H * * *", equal), FirstSlot("y", "H H * * *", equal));
}

constexpr const char* kBad = R"(apiVersion: execution.detent.dev/v1alpha1
kind: JobConfig
metadata: {name: nightly}
spec:
  concurrency: {policy: Forbid}
  schedule: {cron: {expression: "0 25 * * *", timezne: UTC}}
  template:
    spec: {taskTemplate: {exec: {command: [backup]}}}
)";

TEST(Validate, FindsEveryMistakeWithItsPlace) {
  Session session;
  session.input = kBad;
  const Outcome outcome = session.Run({"validate", "-f", "-"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(outcome.out, "");
  EXPECT_NE(outcome.err.find("<stdin>:6:47: spec.schedule.cron.timezne: unknown field (did you "
                             "mean 'timezone'?)\n"),
            std::string::npos)
      << outcome.err;
  EXPECT_NE(outcome.err.find("hour: 25 is not in 0-23\n2 mistakes\n"), std::string::npos)
      << outcome.err;
}

TEST(Validate, AsksTheServerWhereItIsToldTo) {
  Session session;
  session.input = R"(apiVersion: execution.detent.dev/v1alpha1
kind: Job
metadata: {name: x}
spec: {template: {taskTemplate: {exec: {command: [a]}}}}
)";
  EXPECT_EQ(session.Run({"validate", "-f", "-"}).out, "<stdin>: job/x is valid\n");
  session.Expect(
      {"POST /apis/execution.detent.dev/v1alpha1/namespaces/default/jobs"
       "?fieldValidation=Strict&dryRun=All",
       422,
       R"({"message":"m","reason":"Invalid","details":{"causes":[{"field":)"
       R"("spec.template.taskTemplate.exec.command","message":"must be a path"}]}})"});
  EXPECT_EQ(session.Run({"validate", "-f", "-", "--server-side"}).err,
            "<stdin>:4:41: spec.template.taskTemplate.exec.command: must be a path\n1 mistake\n");
}

}  // namespace
}  // namespace detent
