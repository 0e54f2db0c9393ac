#include <gtest/gtest.h>

#include <cerrno>
#include <system_error>

#include "core/plugin/buffer.h"
#include "tests/plugin/host_fixture.h"
#include "tests/support/tiny_http_server.h"

namespace detent {
namespace {

using testing::HostFixture;

using TaskLife = HostFixture;

TEST_F(TaskLife, RunsFromStartToReleaseWithOneReportForEachTurn) {
  StartReady();
  StartTask(1, R"({"mode":"instant"})");
  const TaskStatus end = events_.End(1);
  EXPECT_TRUE(events_.Of<StartAnswer>(1).accepted);
  EXPECT_EQ(end.result, TaskResult::kSucceeded);
  EXPECT_EQ(end.output, R"({"n":1})");
  EXPECT_EQ(end.object_ref, "thing instant");
  EXPECT_EQ(end.extra, R"({"mode":"instant"})");
  EXPECT_EQ(end.message, "bad \xEF\xBF\xBD text") << "ill-formed text is repaired";
  EXPECT_EQ(events_.Count<TaskNews>(), 1u) << "updates of one turn are merged";
  EXPECT_EQ(host_->Plugins()[0].active_tasks, 1);
  host_->Find("good")->Release(1);
  StartTask(2, R"({"mode":"instant"})");
  events_.End(2);
  EXPECT_EQ(host_->Plugins()[0].active_tasks, 1) << "the first one was let go";
}

TEST_F(TaskLife, EndsByWhateverTheHostCallsBackWith) {
  testing::TinyHttpServer server(
      [](const testing::TinyRequest&) { return testing::Respond(418, "tea"); });
  StartReady();
  struct Row {
    std::string spec;
    std::string message;
    const char* because;
  };
  const Row rows[] = {
      {R"({"mode":"timer"})", "code 0 where 1", "timers fire on the strand"},
      {R"({"mode":"cancelled-timer"})", "code -7 where 1", "a cancelled timer says so"},
      {R"({"mode":"fd"})", "1 byte, events 1", "descriptors are watched"},
      {R"({"mode":"post"})", "code 0 where 1", "from a foreign thread to the strand"},
      {R"({"mode":"offload"})", "code 0 where 1", "and back from the pool"},
      {R"({"mode":"checkpoint"})", "code 0 where 1", "the checkpoint is durable"},
      {R"({"mode":"http","url":")" + server.Url() + R"("})", "0 418 tea", "through the transport"},
      {R"({"mode":"http","url":"ftp://x/"})", "code -1", "refused at once"},
  };
  TaskId id = 1;
  for (const Row& row : rows) {
    StartTask(id, row.spec);
    EXPECT_EQ(events_.End(id).message, row.message) << row.because;
    host_->Find("good")->Release(id++);
  }
  EXPECT_EQ(events_.Wait<CheckpointRequest>([](const auto&) { return true; }).handle, "kept");
}

class OutOfThreads final : public HttpTransport {
 public:
  uint64_t Send(HttpRequest, HttpCallback) override {
    throw std::system_error(EAGAIN, std::generic_category());
  }
  void Cancel(uint64_t) override {}
};

TEST_F(TaskLife, ForgetsARequestThatTheTransportCouldNotTake) {
  OutOfThreads transport;
  http_ = &transport;
  config_.limits.http_in_flight = 1;
  StartReady();
  const std::string refused = "code " + std::to_string(DETENT_E_NO_MEMORY);
  for (const TaskId id : {1, 2}) {
    StartTask(id, R"({"mode":"http","url":"http://127.0.0.1:1/"})");
    EXPECT_EQ(events_.End(id).message, refused) << "the room of the first was given back";
  }
  host_->Stop();
  EXPECT_FALSE(std::filesystem::exists(options_.state_root + "/good/http-closed"));
}

// Answers with the name that the server is asked for.
class NameEcho final : public HttpTransport {
 public:
  uint64_t Send(HttpRequest request, HttpCallback callback) override {
    HttpReply reply;
    reply.status = 200;
    reply.body = request.tls == nullptr ? "the URL's" : request.tls->server_name;
    callback(std::move(reply));
    return 1;
  }
  void Cancel(uint64_t) override {}
};

TEST_F(TaskLife, AsksAServerForTheNameThatThePluginGives) {
  NameEcho transport;
  http_ = &transport;
  StartReady();
  struct Row {
    const char* name;
    std::string message;
  };
  const Row rows[] = {{"", "0 200 the URL's"},
                      {"api.inside", "0 200 api.inside"},
                      {"fd00::1", "0 200 fd00::1"},
                      {"a/b", "code " + std::to_string(DETENT_E_INVALID)},
                      {"a@b", "code " + std::to_string(DETENT_E_INVALID)}};
  TaskId id = 1;
  for (const Row& row : rows) {
    StartTask(id, std::string(R"({"mode":"http","url":"https://10.0.0.1/","serverName":")") +
                      row.name + R"("})");
    EXPECT_EQ(events_.End(id++).message, row.message) << row.name;
  }
}

TEST_F(TaskLife, TellsAttemptsThatFailedFromThoseToTryLater) {
  StartReady();
  StartTask(1, R"({"mode":"busy"})");
  const StartAnswer busy = events_.Of<StartAnswer>(1);
  EXPECT_FALSE(busy.accepted);
  EXPECT_TRUE(busy.retry);
  EXPECT_EQ(busy.retry_after.count(), 10);
  StartTask(2, R"({"mode":"invalid"})");
  const StartAnswer invalid = events_.Of<StartAnswer>(2);
  EXPECT_FALSE(invalid.accepted || invalid.retry);
  EXPECT_EQ(invalid.reason, "BadSpec");
}

TEST_F(TaskLife, AsksThePluginWhenNobodyKnowsWhetherAStartTookEffect) {
  StartReady();
  StartTask(1, R"({"mode":"unknown","recover":"0"})");
  EXPECT_TRUE(events_.Of<StartAnswer>(1).accepted) << "it was adopted";
  StartTask(2, R"({"mode":"unknown","recover":"2"})");
  const StartAnswer gone = events_.Of<StartAnswer>(2);
  EXPECT_TRUE(!gone.accepted && gone.retry) << "nothing had been started";
  StartTask(3, R"({"mode":"throw","recover":"3"})");
  EXPECT_EQ(events_.End(3).result, TaskResult::kLost) << "an exception is an unknown effect, too";
  StartTask(4, R"({"mode":"unknown","recover":"1"})");
  EXPECT_EQ(events_.End(4).message, "ended meanwhile");
}

TEST_F(TaskLife, PassesEachAnswerToRecoverOn) {
  StartReady();
  const std::pair<const char*, Recovery> rows[] = {
      {"0", Recovery::kAdopted},     {"1", Recovery::kTerminated},  {"2", Recovery::kNotFound},
      {"3", Recovery::kLost},        {"4", Recovery::kRetryLater},  {"5", Recovery::kIncompatible},
      {"-9", Recovery::kRetryLater}, {"77", Recovery::kRetryLater},
  };
  TaskId id = 1;
  for (const auto& [number, recovery] : rows) {
    const std::string spec = R"({"recover":")" + std::string(number) + R"("})";
    host_->Find("good")->Recover(Order(id, spec));
    host_->FlushAll();
    EXPECT_EQ(events_.Of<RecoverAnswer>(id++).recovery, recovery) << number;
  }
  EXPECT_EQ(events_.End(2).result, TaskResult::kFailed) << "the end came before the answer";
}

TEST_F(TaskLife, KillsAndForceDeletes) {
  StartReady();
  for (const char* mode : {"hang", "gone", "unkillable"}) {
    StartTask(mode[0] == 'h'   ? 1
              : mode[0] == 'g' ? 2
                               : 3,
              R"({"mode":")" + std::string(mode) + R"("})");
  }
  for (const TaskId id : {1, 2, 3, 99}) host_->Find("good")->Kill({id, true, {}, "UserRequested"});
  host_->FlushAll();
  EXPECT_EQ(events_.End(1).result, TaskResult::kKilled);
  EXPECT_TRUE(events_.Of<KillAnswer>(1).accepted);
  EXPECT_EQ(events_.End(2).reason, "ObjectGone") << "there was nothing to kill";
  EXPECT_EQ(events_.Of<KillAnswer>(3).reason, "NotNow");
  EXPECT_EQ(events_.Of<KillAnswer>(99).reason, "UnknownTask");
  host_->Find("good")->ForceDelete(3);
  host_->FlushAll();
  EXPECT_EQ(events_.End(3).reason, "ForceDeleted");
}

TEST_F(TaskLife, GivesUpOnOpsThatAreNeverCompleted) {
  options_.deadlines.start = std::chrono::milliseconds(30);
  options_.deadlines.grace = std::chrono::milliseconds(30);
  StartReady();
  StartTask(1, R"({"mode":"silent","recover":"2"})");
  EXPECT_TRUE(events_.Of<StartAnswer>(1).retry);
}

TEST_F(TaskLife, CountsASecondCompletionAndGoesOn) {
  StartReady();
  StartTask(1, R"({"mode":"double"})");
  EXPECT_TRUE(events_.Of<StartAnswer>(1).accepted);
  StartTask(2, R"({"mode":"instant"})");
  events_.End(2);
  EXPECT_EQ(events_.Count<StartAnswer>(), 2u);
}

TEST_F(TaskLife, PutsOffTasksOverTheLimitAndKeepsTheOrderOfTheRest) {
  config_.limits.ops_in_flight = 1;
  config_.limits.tasks = 3;
  options_.deadlines.start = std::chrono::milliseconds(50);
  options_.deadlines.grace = std::chrono::milliseconds(20);
  StartReady();
  StartTask(1, R"({"mode":"silent","recover":"0"})");
  StartTask(2, R"({"mode":"hang"})");
  host_->Find("good")->Kill({2, true, {}, ""});
  host_->FlushAll();
  EXPECT_EQ(events_.End(2).result, TaskResult::kKilled) << "the kill waits behind its start";
  StartTask(3, R"({"mode":"hang"})");
  StartTask(4, R"({"mode":"hang"})");
  EXPECT_EQ(events_.Of<StartAnswer>(4).reason, "TooManyTasks");
}

TEST_F(TaskLife, CountsTasksThatWaitForTheirStartAsTasks) {
  config_.limits.ops_in_flight = 1;
  config_.limits.tasks = 2;
  StartReady();
  StartTask(1, R"({"mode":"silent"})");
  StartTask(2, R"({"mode":"hang"})");
  StartTask(3, R"({"mode":"hang"})");
  const StartAnswer third = events_.Of<StartAnswer>(3);
  EXPECT_EQ(third.reason, "TooManyTasks");
  EXPECT_TRUE(third.retry);
  host_->Find("good")->Release(1);
  StartTask(4, R"({"mode":"hang"})");
  StartTask(5, R"({"mode":"hang"})");
  EXPECT_EQ(events_.Of<StartAnswer>(5).reason, "TooManyTasks")
      << "4 has the place of 1, which may linger";
  EXPECT_EQ(events_.Count<StartAnswer>(), 2u);
}

TEST_F(TaskLife, KeepsItsCountsWhenItRunsOutOfHandles) {
  StartReady();
  StartTask(1, R"({"mode":"exhaust"})");
  EXPECT_EQ(events_.End(1).message, "3000 3000") << "no memory each time, never a limit";
}

TEST_F(TaskLife, CarriesManyTasksAtOnce) {
  StartReady();
  constexpr TaskId kTasks = 5000;
  for (TaskId id = 1; id <= kTasks; ++id) {
    host_->Find("good")->Start(Order(id, R"({"mode":"timer"})"));
  }
  host_->FlushAll();
  events_.WaitForEnds(kTasks);
  for (TaskId id = 1; id <= kTasks; ++id) host_->Find("good")->Release(id);
  StartTask(kTasks + 1, R"({"mode":"instant"})");
  events_.End(kTasks + 1);
  EXPECT_EQ(host_->Plugins()[0].active_tasks, 1);
}

}  // namespace
}  // namespace detent
