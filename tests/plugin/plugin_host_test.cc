#include "core/plugin/plugin_host.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "tests/plugin/host_fixture.h"

namespace detent {
namespace {

using testing::HostFixture;
using testing::PluginPath;

using PluginHostTest = HostFixture;

TEST_F(PluginHostTest, ShowsAReadyPlugin) {
  StartReady();
  const PluginInfo state = host_->Plugins()[0];
  EXPECT_EQ(state.state, "Ready");
  EXPECT_EQ(state.id, "dev.detent.test.good");
  EXPECT_EQ(state.version, "0.1.0");
  EXPECT_EQ(state.sha256.size(), 64u);
  EXPECT_EQ(host_->Kinds(), std::vector<std::string>{"good"});
  ASSERT_EQ(host_->Schemas().size(), 1u);
  EXPECT_EQ(host_->Find("other"), nullptr);
  EXPECT_EQ(host_->WhyNot("other").first, "ExecutorUnknown");
}

TEST_F(PluginHostTest, KeepsRunningWithoutARefusedPluginAndTakesTheFixedFile) {
  const auto path = std::filesystem::temp_directory_path() /
                    ("detent-plugin-host-" + std::to_string(getpid()) + ".so");
  std::filesystem::copy_file(PluginPath("no_entry"), path,
                             std::filesystem::copy_options::overwrite_existing);
  config_.path = path;
  Start();
  const auto change = events_.Wait<ExecutorChange>([](const auto& c) { return !c.usable; });
  EXPECT_EQ(change.reason, "PluginRefused");
  EXPECT_EQ(host_->Find("good"), nullptr);
  EXPECT_EQ(host_->WhyNot("good").first, "ExecutorUnavailable");
  EXPECT_EQ(host_->Plugins()[0].state, "Refused");
  EXPECT_TRUE(host_->Validate("good", "{}").empty()) << "held, not refused";
  EXPECT_FALSE(host_->Reload("good"));
  std::filesystem::copy_file(PluginPath("good"), path,
                             std::filesystem::copy_options::overwrite_existing);
  EXPECT_TRUE(host_->Reload("good"));
  events_.Wait<ExecutorChange>([](const auto& c) { return c.usable; });
  EXPECT_NE(host_->Find("good"), nullptr);
  EXPECT_EQ(host_->Reload("other").error().code(), Code::kNotFound);
  std::filesystem::remove(path);
}

TEST_F(PluginHostTest, MovesLiveTasksToTheNextGeneration) {
  const auto path = std::filesystem::temp_directory_path() /
                    ("detent-plugin-move-" + std::to_string(getpid()) + ".so");
  std::filesystem::copy_file(PluginPath("good"), path,
                             std::filesystem::copy_options::overwrite_existing);
  config_.path = path;
  StartReady();
  StartTask(1, R"({"mode":"hang"})");
  events_.Of<StartAnswer>(1);
  std::filesystem::copy_file(PluginPath("good_next"), path,
                             std::filesystem::copy_options::overwrite_existing);
  ASSERT_TRUE(host_->Reload("good"));
  events_.Wait<TaskNews>([](const TaskNews& news) {
    return news.status.message == "recovered drained where 1, in time";
  });
  EXPECT_EQ(host_->Plugins()[0].version, "0.2.0");
  host_->Find("good")->Kill({1, true, {}, ""});
  host_->FlushAll();
  EXPECT_EQ(events_.End(1).result, TaskResult::kKilled);
  std::filesystem::remove(path);
}

TEST_F(PluginHostTest, ClosesWithoutEndingTasks) {
  StartReady();
  StartTask(1, R"({"mode":"hang"})");
  StartTask(2, R"({"mode":"cancelled-timer"})");
  events_.Of<StartAnswer>(1);
  events_.End(2);
  host_->Stop();
  EXPECT_EQ(events_.Count<TaskNews>(), 3u) << "running, running, and one end: none by the close";
  EXPECT_FALSE(host_->ReadLog("good", {"uid/1/1", 0, 100}));
  host_->Stop();
}

TEST_F(PluginHostTest, DrainsBeforeItCloses) {
  for (const char* behaviour : {"", "fail-drain", "mute-drain"}) {
    events_.Clear();
    config_.config.Set("behaviour", Json(behaviour));
    options_.deadlines.drain = options_.deadlines.grace = std::chrono::milliseconds(20);
    StartReady();
    StartTask(1, R"({"mode":"hang"})");
    events_.Of<StartAnswer>(1);
    host_->Stop();
    const size_t checkpoints = *behaviour == 'f' ? 0u : 1u;
    EXPECT_EQ(events_.Count<CheckpointRequest>(), checkpoints) << behaviour;
    host_.reset();
  }
}

TEST_F(PluginHostTest, LeavesWhatWaitsAtADrainToTheNextInstance) {
  config_.config.Set("behaviour", Json("answer-in-drain"));
  config_.limits.ops_in_flight = 1;
  StartReady();
  StartTask(1, R"({"mode":"silent"})");
  StartTask(2, R"({"mode":"hang","recover":"2"})");
  ASSERT_TRUE(host_->Reload("good"));
  const StartAnswer handed_on = events_.Of<StartAnswer>(2);
  EXPECT_EQ(handed_on.reason, "NotStarted") << "the drained instance had room, and let it be";
  EXPECT_TRUE(!handed_on.accepted && handed_on.retry);
  EXPECT_TRUE(events_.Of<StartAnswer>(1).accepted);
}

TEST_F(PluginHostTest, ForgetsWhatWasReleasedWhileItWaited) {
  config_.config.Set("behaviour", Json("answer-in-drain"));
  config_.limits.ops_in_flight = 1;
  StartReady();
  StartTask(1, R"({"mode":"silent"})");
  StartTask(2, R"({"mode":"hang","recover":"2"})");
  host_->Find("good")->Release(2);
  StartTask(3, R"({"mode":"hang","recover":"2"})");
  ASSERT_TRUE(host_->Reload("good"));
  events_.Of<StartAnswer>(3);
  host_->Stop();
  EXPECT_EQ(events_.Count<StartAnswer>(), 2u) << "of the first and the third";
}

TEST_F(PluginHostTest, ClosesAllInstancesAtOnce) {
  config_.name = "one";
  config_.config.Set("behaviour", Json("drain-together"));
  more_.push_back(config_);
  more_[0].name = "two";
  more_[0].config.Set("other", Json("one"));
  config_.config.Set("other", Json("two"));
  Start();
  host_->Stop();
  EXPECT_TRUE(std::filesystem::exists(options_.state_root + "/one/drained-together"));
  EXPECT_TRUE(std::filesystem::exists(options_.state_root + "/two/drained-together"));
}

TEST_F(PluginHostTest, DoesNotDrainWhatNeverOpened) {
  config_.config.Set("behaviour", Json("fail-open-once"));
  options_.retry_first = std::chrono::hours(1);
  Start();
  events_.Wait<ExecutorChange>([](const auto& c) { return !c.usable; });
  host_->Stop();
  EXPECT_FALSE(std::filesystem::exists(options_.state_root + "/good/drained"));
}

TEST_F(PluginHostTest, OpensAgainWhatCouldNotBeOpened) {
  config_.config.Set("behaviour", Json("fail-open-once"));
  Start();
  const auto failed = events_.Wait<ExecutorChange>([](const auto& c) { return !c.usable; });
  EXPECT_EQ(failed.reason, "OpenFailed");
  EXPECT_NE(failed.message.find("NoBackend"), std::string::npos) << failed.message;
  events_.Wait<ExecutorChange>([](const auto& c) { return c.usable; });
}

TEST_F(PluginHostTest, ShowsWhatThePluginFoundInItsConfig) {
  config_.config.Set("behaviour", Json("fail-create"));
  Start();
  const auto failed = events_.Wait<ExecutorChange>([](const auto& c) { return !c.usable; });
  EXPECT_NE(failed.message.find("config/behaviour: must be another"), std::string::npos)
      << failed.message;
}

TEST_F(PluginHostTest, ValidatesWithPointersAndHints) {
  StartReady();
  EXPECT_TRUE(host_->Validate("good", R"({"mode":"instant"})").empty());
  const Diagnostics one = host_->Validate("good", "{}");
  ASSERT_EQ(one.size(), 1u);
  EXPECT_EQ(one[0], (Diagnostic{"/mode", Diagnostic::Reason::kRequired, "must be set",
                                "did you mean `instant`?"}));
  EXPECT_EQ(host_->Validate("good", R"({"mode":"many"})").size(), 100u) << "from there on counted";
}

TEST_F(PluginHostTest, ReadsLogs) {
  options_.deadlines.logs = std::chrono::milliseconds(20);
  options_.deadlines.grace = std::chrono::milliseconds(20);
  StartReady();
  const auto piece = host_->ReadLog("good", {"uid/3/1", 0, 1000});
  ASSERT_TRUE(piece) << piece.error().message();
  EXPECT_EQ(piece->lines, "2026-11-20T10:00:00.000000000Z stdout F uid.3.1\n");
  EXPECT_EQ(piece->next_offset, static_cast<int64_t>(piece->lines.size()));
  EXPECT_FALSE(piece->skipped);
  EXPECT_TRUE(host_->ReadLog("good", {"uid/3/1", 50, 1000})->skipped);
  EXPECT_EQ(host_->ReadLog("good", {"nobody/0/1", 0, 9}).error().code(), Code::kNotFound);
  EXPECT_EQ(host_->ReadLog("good", {"mute/0/1", 0, 9}).error().code(), Code::kDeadline);
  EXPECT_EQ(host_->ReadLog("other", {"uid/3/1", 0, 9}).error().code(), Code::kNotFound);
}

}  // namespace
}  // namespace detent
