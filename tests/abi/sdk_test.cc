// The C++ SDK keeps the border's rules for its users: ops are answered once, exceptions stop at the
// trampoline, callbacks do not outlive what they touch, and memory goes back.

#include <gtest/gtest.h>

#include <stdexcept>

#include "core/plugin/buffer.h"
#include "core/plugin/host_table.h"
#include "detent/sdk/plugin.h"
#include "tests/abi/driver.h"

namespace detent::test {
namespace {

using sdk::Callback;
using sdk::Executor;
using sdk::InstanceInfo;
using sdk::KillRequest;
using sdk::Op;
using sdk::TaskRef;
using sdk::Timer;

int live_tasks = 0;

struct Work : sdk::Task {
  Work(const sdk::Host& h, const TaskRef& r) : Task(h, r) { ++live_tasks; }
  ~Work() override { --live_tasks; }
  Timer timer;
  Op held;
};

// Does whatever its spec says.
class Probe : public Executor, public sdk::LogReader {
 public:
  static constexpr std::string_view kKind = "probe";

  sdk::Status Create(const InstanceInfo& info, sdk::Diagnostics&) override {
    if (info.config == "throw") throw std::runtime_error("no config today");
    if (info.config == "bad") return sdk::Invalid("BadConfig", "no");
    return {};
  }
  void Start(Op op, const TaskRef& ref) override {
    if (ref.spec == "throw") throw std::runtime_error("out of ideas");
    if (ref.spec == "drop") return;
    auto& work = Follow<Work>(ref);
    if (ref.spec == "hold") {
      work.held = std::move(op);
      return;
    }
    if (ref.spec == "checkpoint") {
      work.Checkpoint(1, "sending", [&work](const sdk::Status& s) {
        s.ok() ? work.Succeeded() : work.Failed(s.reason(), "");
      });
    }
    work.timer = host().After(std::chrono::nanoseconds(50), [&work] { work.Succeeded("1"); });
    work.Running();
    op.Succeed();
    if (ref.spec == "late throw") throw std::logic_error("after the answer");
  }
  void Kill(Op op, sdk::Task& task, const KillRequest&) override {
    static_cast<Work&>(task).timer.Cancel();
    task.Killed();
    op.Succeed();
  }
  void ReadLog(Op op, const sdk::LogRequest& request) override {
    sdk::AnswerLog(std::move(op), host(), {"line\n", request.offset + 5, 0, false, true});
  }
  void DiscardLog(std::string_view) override {}
};

class Asking : public Probe {
 public:
  static constexpr sdk::Permission kPermissions[] = {{"v1/pods", "get,list"},
                                                     {"batch/v1/jobs/status", "patch"}};
};

class Sdk : public testing::Test {
 protected:
  ~Sdk() override {
    EXPECT_EQ(LiveBuffers(), 0u);
    EXPECT_EQ(LiveDocuments(), 0u);
  }
  FakeHost host;
  const detent_executor& table = sdk::kExecutorTable<Probe>;
};

TEST_F(Sdk, RunsATaskToItsEnd) {
  Driver driver(host, table);
  ASSERT_EQ(driver.Create(), DETENT_OK);
  EXPECT_EQ(driver.Start("")->code, DETENT_OK);
  host.Advance(100);
  const auto& updates = host.updates[1];
  ASSERT_EQ(updates.size(), 2u);
  EXPECT_EQ(updates[0].phase, DETENT_PHASE_RUNNING);
  EXPECT_EQ(updates[1].result, DETENT_RESULT_SUCCEEDED);
  EXPECT_EQ(updates[1].output, "1");
  EXPECT_GT(updates[1].seq, updates[0].seq);
  driver.Release();
  EXPECT_EQ(live_tasks, 0);
}

TEST_F(Sdk, AnswersForAnOverrideThatThrows) {
  Driver driver(host, table);
  ASSERT_EQ(driver.Create(), DETENT_OK);
  const auto answer = driver.Start("throw");
  EXPECT_EQ(answer->code, DETENT_E_INTERNAL);
  EXPECT_EQ(answer->reason, "Exception");
  EXPECT_EQ(answer->message, "out of ideas");
  EXPECT_EQ(driver.Start("")->code, DETENT_OK) << "the instance is still usable";
}

TEST_F(Sdk, AnswersOnlyOnceWhenTheOverrideThrowsAfterItsAnswer) {
  Driver driver(host, table);
  ASSERT_EQ(driver.Create(), DETENT_OK);
  EXPECT_EQ(driver.Start("late throw")->code, DETENT_OK);
}

TEST_F(Sdk, AnswersForAnOpThatIsDropped) {
  Driver driver(host, table);
  ASSERT_EQ(driver.Create(), DETENT_OK);
  EXPECT_EQ(driver.Start("drop")->reason, "OpDropped");
}

TEST_F(Sdk, AnswersAHeldOpAtTheLatestWhenItsTaskIsLetGo) {
  Driver driver(host, table);
  ASSERT_EQ(driver.Create(), DETENT_OK);
  EXPECT_FALSE(driver.Start("hold"));
  const detent_op op = driver.last_op();
  driver.Release();
  EXPECT_EQ(driver.Answer(op)->code, DETENT_E_INTERNAL);
}

TEST_F(Sdk, RefusesAnInstanceWhoseCreateThrowsOrFails) {
  Driver thrower(host, table);
  EXPECT_EQ(thrower.Create("throw"), DETENT_E_INTERNAL);
  Driver bad(host, table);
  EXPECT_EQ(bad.Create("bad"), DETENT_E_INVALID);
  EXPECT_EQ(host.findings, std::vector<std::string>{" BadConfig"});
}

TEST_F(Sdk, CallsNoTimerOfATaskThatIsGone) {
  Driver driver(host, table);
  ASSERT_EQ(driver.Create(), DETENT_OK);
  driver.Start("");
  driver.Release();
  EXPECT_EQ(live_tasks, 0);
  host.Advance(100);
  EXPECT_EQ(host.updates[1].size(), 1u);
  EXPECT_EQ(host.pending(), 0u) << "the cancelled timer's memory went back";
}

TEST_F(Sdk, EndsNoTaskByClosing) {
  Driver driver(host, table);
  ASSERT_EQ(driver.Create(), DETENT_OK);
  driver.Start("");
  driver.Finish();
  EXPECT_EQ(host.updates[1].back().phase, DETENT_PHASE_RUNNING);
  EXPECT_EQ(live_tasks, 0);
}

TEST_F(Sdk, KillOfATaskItDoesNotHoldIsNotFound) {
  Driver driver(host, table);
  ASSERT_EQ(driver.Create(), DETENT_OK);
  EXPECT_EQ(driver.Kill(99)->code, DETENT_E_NOT_FOUND);
  driver.Start("");
  EXPECT_EQ(driver.Kill()->code, DETENT_OK);
  EXPECT_EQ(host.updates[1].back().result, DETENT_RESULT_KILLED);
}

TEST_F(Sdk, KeepsSeqRisingWhenAHandleIsStartedAgain) {
  Driver driver(host, table);
  ASSERT_EQ(driver.Create(), DETENT_OK);
  driver.Start("");
  const uint64_t first = host.updates[1].back().seq;
  driver.Start("");
  EXPECT_GT(host.updates[1].back().seq, first);
  EXPECT_EQ(live_tasks, 1);
}

TEST_F(Sdk, TellsOfACheckpointInALaterTurnAlsoWhenItIsRefused) {
  for (const detent_status refusal : {DETENT_OK, DETENT_E_TOO_LARGE}) {
    host.checkpoint_refusal = refusal;
    host.updates.clear();
    host.completed.clear();
    Driver driver(host, table);
    ASSERT_EQ(driver.Create(), DETENT_OK);
    driver.Start("checkpoint");
    EXPECT_EQ(host.updates[1].back().phase, DETENT_PHASE_RUNNING);
    host.RunTurns();
    EXPECT_EQ(host.updates[1].back().result,
              refusal == DETENT_OK ? DETENT_RESULT_SUCCEEDED : DETENT_RESULT_FAILED);
  }
}

TEST_F(Sdk, DropsTheCheckpointsAnswerOfATaskThatIsGone) {
  Driver driver(host, table);
  ASSERT_EQ(driver.Create(), DETENT_OK);
  driver.Start("checkpoint");
  driver.Release();
  host.RunTurns();
  EXPECT_EQ(host.updates[1].size(), 1u);
}

TEST_F(Sdk, LeavesSlotsEmptyThatAreNotOverridden) {
  EXPECT_EQ(table.force_delete, nullptr);
  EXPECT_EQ(table.reconfigure, nullptr);
  EXPECT_EQ(table.drain, nullptr);
  EXPECT_EQ(table.observe, nullptr);
  EXPECT_EQ(table.cancel, nullptr);
  EXPECT_NE(table.recover, nullptr);
}

TEST_F(Sdk, AnswersLostWhenRecoverIsNotOverridden) {
  Driver driver(host, table);
  ASSERT_EQ(driver.Create(), DETENT_OK);
  EXPECT_EQ(driver.Recover("")->code, DETENT_LOST);
}

TEST_F(Sdk, OffersLogsToThoseWhoAskByTheExactId) {
  EXPECT_EQ(table.extension("detent.logs/2"), nullptr);
  EXPECT_EQ(table.extension(""), nullptr);
  const auto* logs = static_cast<const detent_logs*>(table.extension(DETENT_EXT_LOGS));
  ASSERT_NE(logs, nullptr);
  Driver driver(host, table);
  ASSERT_EQ(driver.Create(), DETENT_OK);
  detent_log_read what{};
  what.size = sizeof(what);
  what.offset = 10;
  logs->read(driver.self(), 77, &what);
  const auto answer = driver.Answer(77);
  EXPECT_EQ(answer->body, "line\n");
  EXPECT_EQ(answer->value, 15u);
  EXPECT_EQ(answer->flags, DETENT_LOGS_END);
}

TEST_F(Sdk, DeclaresThePermissionsOfThoseWhoHaveThem) {
  EXPECT_EQ(table.extension(DETENT_EXT_PERMISSIONS), nullptr);
  const auto* permissions = static_cast<const detent_permissions*>(
      sdk::kExecutorTable<Asking>.extension(DETENT_EXT_PERMISSIONS));
  ASSERT_NE(permissions, nullptr);
  EXPECT_EQ(permissions->size, sizeof(detent_permissions));
  ASSERT_EQ(permissions->count, 2u);
  EXPECT_EQ(sdk::View(permissions->items[0].gvr), "v1/pods");
  EXPECT_EQ(sdk::View(permissions->items[0].verbs), "get,list");
  EXPECT_EQ(sdk::View(permissions->items[1].gvr), "batch/v1/jobs/status");
  EXPECT_EQ(sdk::View(permissions->items[1].verbs), "patch");
}

TEST_F(Sdk, StopsExceptionsOfPostedWorkToo) {
  const sdk::Host typed(host.table(), FakeHost::kInstance);
  bool done = false;
  EXPECT_TRUE(typed.Post([] { throw std::runtime_error("posted"); }));
  EXPECT_TRUE(typed.Offload([] { throw std::runtime_error("work"); }, [&done] { done = true; }));
  host.RunTurns();
  EXPECT_TRUE(done);
  EXPECT_EQ(host.logs.size(), 2u);
}

TEST(JsonWriter, EscapesAndRepairs) {
  sdk::JsonWriter w;
  w.BeginObject().Key("a\"b").String("x\n\x01\xC3\xA9\xFF\xED\xA0\x80");
  w.Key("n").BeginArray().Int(-1).Double(1.5).Bool(true).Null().EndArray().EndObject();
  EXPECT_EQ(w.text(),
            "{\"a\\\"b\":\"x\\n\\u0001\xC3\xA9\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\","
            "\"n\":[-1,1.5,true,null]}");
}

}  // namespace
}  // namespace detent::test
