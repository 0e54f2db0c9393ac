// What trying a spec out before it is stored does to the answer of the API.

#include <gtest/gtest.h>

#include "core/base/random.h"
#include "core/http/api.h"
#include "core/store/memory_store.h"

namespace detent {
namespace {

class AnyKind final : public SpecValidator {
 public:
  std::vector<std::string> Kinds() const override { return {"pod"}; }
  Diagnostics Validate(std::string_view, std::string_view) const override { return {}; }
};

// Finds the same in every spec.
class FakeLive final : public LiveValidator {
 public:
  LiveFindings CheckLive(const LiveQuestion& question) const override {
    asked.push_back(std::string(question.kind) + " " + std::string(question.ns) + " " +
                    std::string(question.spec_json));
    return findings;
  }
  LiveFindings findings;
  mutable std::vector<std::string> asked;
};

class LiveApiTest : public ::testing::Test {
 protected:
  LiveApiTest() {
    context_.store = &store_;
    context_.clock = &clock_;
    context_.random = &random_;
    context_.validator = &validator_;
    context_.metrics = &metrics_;
    context_.live = &live_;
  }
  Response Ask(const std::string& method, const std::string& target, const std::string& body) {
    Request request;
    request.method = method;
    request.body = body;
    if (method == "PATCH")
      request.headers.emplace_back("content-type", "application/merge-patch+json");
    EXPECT_TRUE(SetTarget(request, "/apis/execution.detent.dev/v1alpha1/namespaces/n" + target));
    return MakeApi(context_)(request);
  }
  static std::string JobOf(const std::string& task_template) {
    return R"({"apiVersion":"execution.detent.dev/v1alpha1","kind":"Job",)"
           R"("metadata":{"generateName":"j-"},"spec":{"template":)" +
           task_template + "}}";
  }
  static std::string ConfigOf(const std::string& schedule, const std::string& pod) {
    return R"({"apiVersion":"execution.detent.dev/v1alpha1","kind":"JobConfig",)"
           R"("metadata":{"name":"c"},"spec":{"concurrency":{"policy":"Forbid"},"schedule":)"
           R"({"cron":{"expression":")" +
           schedule + R"("}},"template":{"spec":{"taskTemplate":{"pod":)" + pod + "}}}}}";
  }
  static std::vector<std::string> Warnings(const Response& response) {
    std::vector<std::string> warnings;
    for (const auto& [name, value] : response.headers) {
      if (name == "Warning") warnings.push_back(value);
    }
    return warnings;
  }
  static Diagnostic Finding(const std::string& pointer) {
    return {pointer, Diagnostic::Reason::kInvalid, "is bad", ""};
  }

  MemoryStore store_;
  SystemClock clock_;
  SystemRandom random_;
  AnyKind validator_;
  FakeLive live_;
  Metrics metrics_;
  ApiContext context_;
};

const char* const kJobTemplate = R"({"taskTemplate":{"pod":{"a":1}}})";

TEST_F(LiveApiTest, WarnsAndStores) {
  live_.findings.warnings = {Finding("/spec/containers/0/image")};
  const Response response = Ask("POST", "/jobs", JobOf(kJobTemplate));
  EXPECT_EQ(response.status, 201) << response.body;
  EXPECT_EQ(Warnings(response),
            (std::vector<std::string>{
                R"(299 - "spec.template.taskTemplate.pod.spec.containers[0].image: is bad")"}));
  EXPECT_EQ(live_.asked, (std::vector<std::string>{R"(pod n {"a":1})"}));
}

TEST_F(LiveApiTest, PointsIntoTheOlderForm) {
  live_.findings.warnings = {Finding("/spec")};
  const Response response = Ask("POST", "/jobs", JobOf(R"({"task":{"template":{"pod":{"a":1}}}})"));
  EXPECT_EQ(Warnings(response),
            (std::vector<std::string>{R"(299 - "spec.template.task.template.pod.spec: is bad")"}));
}

TEST_F(LiveApiTest, RefusesWhatTheOperatorWantsRefused) {
  live_.findings.mistakes = {Finding("/spec")};
  const Response response = Ask("POST", "/jobs", JobOf(kJobTemplate));
  EXPECT_EQ(response.status, 422);
  EXPECT_NE(response.body.find(R"("field":"spec.template.taskTemplate.pod.spec")"),
            std::string::npos)
      << response.body;
  EXPECT_EQ(Ask("POST", "/jobs?dryRun=All", JobOf(kJobTemplate)).status, 422);
}

TEST_F(LiveApiTest, NotesThatNothingWasLearned) {
  live_.findings.not_checked = "the API server is away";
  const Response response = Ask("POST", "/jobs", JobOf(kJobTemplate));
  EXPECT_EQ(response.status, 201);
  ASSERT_EQ(Warnings(response).size(), 1u);
  EXPECT_EQ(Warnings(response)[0],
            R"(299 - "spec.template.taskTemplate.pod: could not be tried out, and is taken as it )"
            R"(is: the API server is away")");
}

TEST_F(LiveApiTest, AsksAboutNewSpecsOnly) {
  EXPECT_EQ(Ask("POST", "/jobconfigs", ConfigOf("0 1 * * *", "{}")).status, 201);
  EXPECT_EQ(Ask("PUT", "/jobconfigs/c", ConfigOf("0 2 * * *", "{}")).status, 200);
  EXPECT_EQ(Ask("PATCH", "/jobconfigs/c", R"({"metadata":{"labels":{"a":"b"}}})").status, 200);
  EXPECT_EQ(live_.asked.size(), 1u) << "the schedule is not the executor's";
  EXPECT_EQ(Ask("PUT", "/jobconfigs/c", ConfigOf("0 2 * * *", R"({"b":2})")).status, 200);
  ASSERT_EQ(live_.asked.size(), 2u);
  EXPECT_EQ(live_.asked[1], R"(pod n {"b":2})");
  EXPECT_EQ(Ask("POST", "/jobs", "{}").status, 400);
  EXPECT_EQ(live_.asked.size(), 2u) << "a mistake is told without a look";
}

}  // namespace
}  // namespace detent
