// The life of an HTTP task, through the border, with answers that the test gives.

#include <gtest/gtest.h>

#include "core/plugin/buffer.h"
#include "tests/plugins/fake_host.h"
#include "tests/plugins/http/fake_http.h"

namespace detent::testing {
namespace {

constexpr const char* kGet = R"({"request":{"url":"http://h/"}})";
constexpr const char* kPost = R"({"request":{"method":"POST","url":"http://h/","postData":)"
                              R"({"mimeType":"text/plain","text":"hi"}}})";

class HttpRun : public ::testing::Test {
 protected:
  void SetUp() override { NewHost("{}"); }
  void TearDown() override {
    host_.reset();
    EXPECT_EQ(LiveBuffers(), 0u);
  }
  void NewHost(std::string_view config) {
    host_ = std::make_unique<FakeHost>(DETENT_HTTP_PLUGIN, "http");
    host_->AddService(DETENT_SVC_HTTP, http_.table(), [this] { http_.AnswerAllClosing(); });
    ASSERT_EQ(host_->Create("/nonexistent", config), DETENT_OK);
    ASSERT_EQ(host_->Open().code, DETENT_OK);
  }
  detent_task Started(const char* spec, detent_status code = DETENT_OK) {
    const detent_task task = host_->NewTask("k" + std::to_string(++keys_), spec);
    const detent_op op = host_->Start(task);
    EXPECT_TRUE(host_->answer(op).given);
    EXPECT_EQ(host_->answer(op).code, code) << host_->answer(op).message;
    return task;
  }
  FakeHost& host() { return *host_; }

  FakeHttp http_;
  std::unique_ptr<FakeHost> host_;
  int keys_ = 0;
};

TEST_F(HttpRun, SendsOnceAndEndsWithOneUpdate) {
  const detent_task task = Started(kPost);
  ASSERT_EQ(http_.count(), 1u);
  EXPECT_EQ(http_.sent(0).method, "POST");
  EXPECT_EQ(http_.sent(0).url, "http://h/");
  EXPECT_EQ(http_.sent(0).body, "hi");
  EXPECT_EQ(http_.sent(0).headers[0].first, "Content-Type");
  EXPECT_EQ(http_.sent(0).headers[1].second, "detent-http/0.1");
  EXPECT_EQ(http_.sent(0).total_timeout_ms, 30'000u);
  EXPECT_EQ(http_.sent(0).task, task);
  EXPECT_TRUE(host().updates(task).empty());

  http_.Answer(0, {.body = R"({"id":7})"});
  ASSERT_EQ(host().updates(task).size(), 1u);
  const Update& end = host().last(task);
  EXPECT_EQ(end.result, DETENT_RESULT_SUCCEEDED);
  EXPECT_GT(end.running_ns, 0);
  EXPECT_GE(end.finished_ns, end.running_ns);
  EXPECT_NE(end.output.find(R"("body":{"id":7})"), std::string::npos) << end.output;
}

TEST_F(HttpRun, KeepsABodyThatIsNoJsonAsText) {
  const detent_task task = Started(kGet);
  http_.Answer(0, {.status = 502, .body = R"({"a":1,"a":2)"});
  EXPECT_EQ(host().last(task).reason, "UnexpectedStatus");
  EXPECT_NE(host().last(task).output.find(R"("body":"{\"a\":1)"), std::string::npos);
}

TEST_F(HttpRun, RefusesAtStartWhatOnlyTheValuesShow) {
  const detent_task task = Started(R"({"request":{"url":"${option.x}/p"}})", DETENT_E_INVALID);
  EXPECT_EQ(http_.count(), 0u);
  host().Release(task);
}

TEST_F(HttpRun, StartsOnceHoweverOftenItIsTold) {
  const detent_task task = Started(kPost);
  EXPECT_EQ(host().answer(host().Start(task)).code, DETENT_OK);
  EXPECT_EQ(http_.count(), 1u);
  EXPECT_EQ(host().answer(host().Recover(task)).code, DETENT_ADOPTED);
  http_.Answer(0, {});
  EXPECT_EQ(host().answer(host().Recover(task)).code, DETENT_TERMINATED);
  EXPECT_EQ(host().answer(host().Start(task)).code, DETENT_OK);
  EXPECT_EQ(http_.count(), 1u);
}

TEST_F(HttpRun, SaysThatItRunsOnlyWhenItLasts) {
  const detent_task task = Started(kGet);
  ASSERT_TRUE(host().AwaitPhase(task, DETENT_PHASE_RUNNING));
  http_.Answer(0, {});
  EXPECT_EQ(host().updates(task).size(), 2u);
}

TEST_F(HttpRun, IsKilledWhenTheConnectionIsClosed) {
  const detent_task task = Started(kPost);
  EXPECT_EQ(host().answer(host().Kill(task, 0)).code, DETENT_OK);
  EXPECT_TRUE(http_.sent(0).cancelled);
  EXPECT_EQ(host().last(task).phase, DETENT_PHASE_KILLING);
  EXPECT_EQ(host().answer(host().KillNow(task)).code, DETENT_OK);
  http_.Answer(0, {.code = DETENT_E_CANCELLED, .flags = DETENT_HTTP_CONNECTION_CLOSED});
  EXPECT_EQ(host().last(task).result, DETENT_RESULT_KILLED);
  EXPECT_EQ(host().last(task).reason, "UserRequested");
  EXPECT_NE(host().last(task).message.find("connection was closed"), std::string::npos);
  EXPECT_EQ(host().answer(host().Kill(task, 0)).code, DETENT_OK);
}

TEST_F(HttpRun, KeepsAResponseThatCameBeforeTheKill) {
  const detent_task good = Started(kPost);
  const detent_task bad = Started(kPost);
  host().Kill(good, 0);
  host().Kill(bad, 0);
  http_.Answer(0, {});
  http_.Answer(1, {.status = 500});
  EXPECT_EQ(host().last(good).result, DETENT_RESULT_SUCCEEDED);
  EXPECT_EQ(host().last(bad).result, DETENT_RESULT_FAILED);
}

TEST_F(HttpRun, DoesNotEndItsTasksWhenTheInstanceEnds) {
  const detent_task task = Started(kPost);
  host().Close();
  EXPECT_TRUE(http_.sent(0).answered) << "close waits for no answer";
  EXPECT_TRUE(host().updates(task).empty());
}

TEST_F(HttpRun, IsLostWithTheHostAndRepeatedOnlyIfThatDoesNoHarm) {
  const std::string idempotent = std::string(R"({"idempotent":true,)") + (kPost + 1);
  const std::string careful = std::string(R"({"idempotent":false,)") + (kGet + 1);
  const std::pair<std::string, bool> rows[] = {
      {kGet, true}, {kPost, false}, {idempotent, true}, {careful, false}, {"{}", false}};
  for (const auto& [spec, safe] : rows) {
    const detent_task task = host().NewTask("r" + std::to_string(++keys_), spec);
    EXPECT_EQ(host().answer(host().Recover(task)).code, DETENT_LOST) << spec;
    EXPECT_EQ((host().last(task).flags & DETENT_TASK_RERUN_SAFE) != 0, safe) << spec;
  }
  EXPECT_EQ(http_.count(), 0u) << "recover starts nothing";
}

TEST_F(HttpRun, LetsTasksWaitForTheirTurn) {
  NewHost(R"({"maxConnections":1,"maxQueued":2})");
  const size_t before = http_.count();
  Started(kGet);
  const detent_task second = host().NewTask("second", kGet);
  const detent_task third = host().NewTask("third", kGet);
  const detent_op start_second = host().Start(second);
  const detent_op start_third = host().Start(third);
  EXPECT_FALSE(host().answer(start_second).given);
  EXPECT_EQ(http_.count(), before + 1);
  Started(kGet, DETENT_E_BUSY);

  EXPECT_EQ(host().answer(host().Kill(second, 0)).code, DETENT_OK);
  EXPECT_EQ(host().answer(start_second).code, DETENT_OK);
  EXPECT_EQ(host().last(second).result, DETENT_RESULT_KILLED);

  http_.Answer(before, {});
  EXPECT_EQ(host().answer(start_third).code, DETENT_OK);
  ASSERT_EQ(http_.count(), before + 2);
  EXPECT_EQ(http_.sent(before + 1).task, third);
}

TEST_F(HttpRun, WaitsForTheHostsOwnLimitToo) {
  Started(kGet);
  http_.RefuseWith(DETENT_E_BUSY);
  const detent_task second = host().NewTask("second", kGet);
  const detent_op start = host().Start(second);
  EXPECT_FALSE(host().answer(start).given);
  http_.RefuseWith(DETENT_OK);
  http_.Answer(0, {});
  EXPECT_EQ(host().answer(start).code, DETENT_OK);
  EXPECT_EQ(http_.count(), 2u);
}

TEST_F(HttpRun, IsGivenUpByForceWithoutWaiting) {
  const detent_task task = Started(kPost);
  host().ForceDelete(task);
  EXPECT_EQ(host().last(task).result, DETENT_RESULT_KILLED);
  host().Release(task);
  http_.Answer(0, {.code = DETENT_E_CANCELLED});
}

}  // namespace
}  // namespace detent::testing
