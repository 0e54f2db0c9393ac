// The life of a Pod task, through the border: it starts, is followed, ends, and is let go of.

#include "core/plugin/host_table.h"
#include "detent/services/expr.h"
#include "tests/plugins/pod/pod_fixture.h"

namespace detent::testing {
namespace {

std::string WithOptions(const std::string& options) {
  return std::string(kPlain).insert(1, options + ",");
}

TEST_F(PodRun, MakesOnePodAndFollowsItToItsEnd) {
  const detent_task task = Started("job-0-1");
  EXPECT_EQ(Marks("job-0-1"), "tracked held");
  EXPECT_EQ(Is(task), "Starting");
  EXPECT_EQ(last(task).object_ref, "default/job-0-1");

  server().Schedule("job-0-1");
  server().Run("job-0-1");
  Settle();
  EXPECT_EQ(Is(task), "Running");
  EXPECT_EQ(last(task).running_ns, server().now_ns);

  server().Advance(7);
  server().End("job-0-1", 0, R"({"rows":17})");
  Settle();
  EXPECT_EQ(Is(task), "Succeeded");
  EXPECT_EQ(last(task).output, R"({"rows":17})");
  EXPECT_EQ(last(task).finished_ns, server().now_ns);
  EXPECT_EQ(last(task).exit_code, 0);
  EXPECT_NE(last(task).extra.find(R"("node":"node-1")"), std::string::npos);
  EXPECT_EQ(Marks("job-0-1"), "tracked held") << "the outcome is not durable yet";

  Release(task);
  EXPECT_EQ(Marks("job-0-1"), "free") << "it stays for whoever wants to look at it";
}

TEST_F(PodRun, SaysNothingTwice) {
  const detent_task task = Started("job-0-1");
  server().Run("job-0-1");
  Settle();
  const size_t updates = host().updates(task).size();
  server().Edit("job-0-1", [](Json& pod) { pod.Find("metadata")->Set("annotations", Json()); });
  Settle();
  EXPECT_EQ(host().updates(task).size(), updates);
}

TEST_F(PodRun, KeepsTheFirstStartOfAContainerThatIsRestarted) {
  const detent_task task = Started("job-0-1");
  server().Run("job-0-1");
  Settle();
  const int64_t first = server().now_ns;
  server().Advance(60);
  server().Run("job-0-1");
  Settle();
  EXPECT_EQ(last(task).running_ns, first);
}

TEST_F(PodRun, RefusesAtStartWhatOnlyTheValuesShow) {
  const std::string spec = R"({"spec":{"containers":[{"name":"${x}","image":"i"}]}})";
  Started("job-0-1", spec, DETENT_E_INVALID);
  EXPECT_EQ(kube().count(KubeAct::kCreate), 0u);
}

TEST_F(PodRun, DeletesThePodAsTheSpecSays) {
  struct Row {
    const char* delete_pods;
    int exit_code;
    const char* left;
  };
  const Row rows[] = {{"Never", 0, "free"},  {"Never", 1, "free"},     {"OnSuccess", 0, "gone"},
                      {"Always", 0, "gone"}, {"OnSuccess", 1, "free"}, {"Always", 1, "gone"}};
  int number = 0;
  for (const Row& row : rows) {
    const std::string name = "job-" + std::to_string(number++) + "-1";
    const std::string option = "\"deletePods\":\"" + std::string(row.delete_pods) + "\"";
    const detent_task task = Started(name, WithOptions(option));
    server().End(name, row.exit_code);
    Settle();
    EXPECT_EQ(Marks(name), "tracked held");
    Release(task);
    EXPECT_EQ(Marks(name), row.left) << row.delete_pods << " " << row.exit_code;
  }
}

TEST_F(PodRun, TakesTheOutputFromTheTerminationMessage) {
  struct Row {
    const char* message;
    const char* output;
    const char* because;
  };
  const Row rows[] = {
      {"", "", "none"},
      {" {\"a\": [1]}\n", "{\"a\": [1]}", "JSON as it stands"},
      {"plain \"text\"", R"("plain \"text\"")", "no JSON"},
      {"{\"a\":1,\"a\":2}", R"("{\"a\":1,\"a\":2}")", "two members of one name mean nothing"},
      {"42", "42", "a number is JSON"},
  };
  int number = 0;
  for (const Row& row : rows) {
    const std::string name = "job-" + std::to_string(number++) + "-1";
    const detent_task task = Started(name);
    server().End(name, 1, row.message);
    Settle();
    EXPECT_EQ(last(task).output, row.output) << row.because;
  }
}

TEST_F(PodRun, SelectsTheOutputByAPath) {
  FakeHost::SetPureService(DETENT_SVC_EXPR, ExprService());
  struct Row {
    const char* path;
    const char* message;
    const char* output;
    uint32_t flags;
  };
  std::string many = "{\"a\":[\"x\"";
  for (int i = 0; i < 20'000; ++i) many += ",\"x\"";
  many += "]}";
  const Row rows[] = {{".a", R"({"a":{"b":1}})", R"({"b":1})", 0},
                      {".a[*]", R"({"a":[1,2]})", "[1,2]", 0},
                      {".a[*]", R"({"a":[1]})", "1", 0},
                      {"$..b", R"({"a":[{"b":1},{"b":2}]})", "[1,2]", 0},
                      {".b", R"({"a":1})", "null", 0},
                      {".a", "no JSON", R"("no JSON")", 0},
                      {".a[*]", many.c_str(), nullptr, DETENT_TASK_OUTPUT_TRUNCATED}};
  int number = 0;
  for (const Row& row : rows) {
    const std::string name = "job-" + std::to_string(number++) + "-1";
    const std::string option = "\"resultJsonPath\":\"" + std::string(row.path) + "\"";
    const detent_task task = Started(name, WithOptions(option));
    server().End(name, 0, row.message);
    Settle();
    EXPECT_EQ(Is(task), "Succeeded");
    if (row.output != nullptr) {
      EXPECT_EQ(last(task).output, row.output);
    }
    EXPECT_EQ(last(task).flags & DETENT_TASK_OUTPUT_TRUNCATED, row.flags);
  }
  FakeHost::SetPureService(DETENT_SVC_EXPR, nullptr);
}

TEST_F(PodRun, NeedsACluster) {
  FakeHost alone(DETENT_POD_PLUGIN, "pod");
  ASSERT_EQ(alone.Create("/nonexistent", "{}"), DETENT_OK);
  const Answer answer = alone.Open();
  EXPECT_EQ(answer.code, DETENT_E_UNSUPPORTED);
  EXPECT_EQ(answer.reason, "NoCluster");
}

TEST_F(PodRun, SendsNoMoreAtATimeThanTheHostLetsThroughAndKillsFirst) {
  kube().capacity = 2;
  std::vector<detent_op> starts;
  std::vector<detent_task> tasks;
  for (int i = 0; i < 6; ++i) {
    tasks.push_back(host().NewTask("job-" + std::to_string(i) + "-1", kPlain));
    starts.push_back(host().Start(tasks.back()));
  }
  EXPECT_EQ(kube().count(KubeAct::kCreate), 2u);
  const detent_op kill = host().Kill(tasks[5], 0);
  EXPECT_TRUE(host().answer(kill).given) << "it was not sent, and never will be";
  EXPECT_EQ(Is(tasks[5]), "Killed UserRequested");
  Settle();
  for (const detent_op start : starts) EXPECT_EQ(host().answer(start).code, DETENT_OK);
  EXPECT_EQ(kube().count(KubeAct::kCreate), 5u);
  EXPECT_EQ(Marks("job-5-1"), "gone");
}

}  // namespace
}  // namespace detent::testing
