#include <gtest/gtest.h>

#include <filesystem>

#include "core/plugin/live_sample.h"
#include "tests/plugin/host_fixture.h"

namespace detent {
namespace {

using testing::HostFixture;

class LiveCheckTest : public HostFixture {
 protected:
  LiveFindings Check(const std::string& spec, std::chrono::milliseconds patience) {
    return host_->CheckLive({"good", "ns", spec, patience});
  }
  LiveFindings Check(const std::string& spec) { return Check(spec, std::chrono::seconds(2)); }
  static bool IsNothing(const LiveFindings& found) {
    return found.mistakes.empty() && found.warnings.empty() && found.not_checked.empty();
  }
  // As a host does that waits to lead.
  void PrepareOnly() {
    HostParts parts;
    parts.clock = &clock_;
    parts.sink = &events_;
    host_ = std::make_unique<PluginHost>(std::vector<PluginConfig>{config_}, options_, parts);
    host_->Load();
    host_->Prepare();
  }
  bool Exists(const char* mark) {
    return std::filesystem::exists(options_.state_root + "/good/" + mark);
  }
  bool WasAsked() { return std::filesystem::remove(options_.state_root + "/good/checked"); }
};

TEST_F(LiveCheckTest, WarnsUnlessTheAnswerRefuses) {
  StartReady();
  EXPECT_TRUE(IsNothing(Check("{}")));
  LiveFindings found = Check(R"({"live":"warn","place":"/a"})");
  ASSERT_EQ(found.warnings.size(), 1u);
  EXPECT_EQ(found.warnings[0].pointer, "/a");
  EXPECT_EQ(found.warnings[0].message, R"(ns {"live":"warn","place":"/a"})");
  EXPECT_TRUE(found.mistakes.empty());
  found = Check(R"({"live":"refuse","place":"/a"})");
  EXPECT_EQ(found.mistakes.size(), 1u);
  EXPECT_TRUE(found.warnings.empty());
}

TEST_F(LiveCheckTest, FillsVariablesInAndTellsNothingOfTheirPlaces) {
  StartReady();
  LiveFindings found = Check(R"({"live":"refuse","place":"/b","a":{"x":"${job.name}-${option.y}",)"
                             R"("n":"${option.n|int}"}})");
  ASSERT_EQ(found.mistakes.size(), 1u);
  EXPECT_EQ(found.mistakes[0].message,
            R"(ns {"live":"refuse","place":"/b","a":{"x":"1-1","n":1}})");
  const std::string spec = R"({"live":"refuse","a":{"x":"${job.name}","y":"z"},"place":")";
  EXPECT_TRUE(IsNothing(Check(spec + "/a/x\"}")));
  EXPECT_TRUE(IsNothing(Check(spec + "/a\"}")));
  EXPECT_EQ(Check(spec + "/a/y\"}").mistakes.size(), 1u);
  found = Check(spec + "\"}");
  EXPECT_TRUE(found.mistakes.empty()) << "it may be the sample's fault";
  ASSERT_EQ(found.warnings.size(), 1u);
  EXPECT_EQ(found.warnings[0].hint, "tried with `1` in place of each variable");
}

TEST_F(LiveCheckTest, SaysWhyNothingWasLearned) {
  options_.deadlines.check_live = options_.deadlines.grace = std::chrono::milliseconds(20);
  StartReady();
  EXPECT_EQ(Check(R"({"live":"away"})").not_checked, "NoAnswer");
  EXPECT_EQ(Check(R"({"live":"throw"})").not_checked, "the plugin threw an exception");
  EXPECT_EQ(Check(R"({"live":"mute"})").not_checked, "the plugin did not answer in time");
  EXPECT_EQ(Check(R"({"live":"mute"})", std::chrono::milliseconds(1)).not_checked,
            "the plugin did not answer within 1 ms");
}

TEST_F(LiveCheckTest, AsksNobodyWhoNeverLooksOrIsNotOpen) {
  StartReady();
  EXPECT_TRUE(IsNothing(host_->CheckLive({"other", "ns", "{}"})));
  EXPECT_TRUE(IsNothing(Check(R"({"live":"never"})")));
  EXPECT_TRUE(WasAsked());
  EXPECT_TRUE(IsNothing(Check(R"({"live":"refuse"})")));
  EXPECT_FALSE(WasAsked()) << "it said that it never looks";
  events_.Clear();
  ASSERT_TRUE(host_->Reload("good"));
  events_.Wait<ExecutorChange>([](const ExecutorChange& change) { return change.usable; });
  EXPECT_EQ(Check(R"({"live":"refuse"})").mistakes.size(), 1u) << "the config may be another";
  EXPECT_TRUE(WasAsked());
  host_->Stop();
  EXPECT_TRUE(IsNothing(Check(R"({"live":"refuse"})")));
  host_.reset();
  PrepareOnly();
  EXPECT_TRUE(IsNothing(Check(R"({"live":"refuse"})"))) << "loaded, not opened";
  EXPECT_FALSE(WasAsked());
}

TEST_F(LiveCheckTest, AsksOneThatIsNotOpenWhereItsTableSaysSo) {
  config_.path = testing::PluginPath("good_early");
  PrepareOnly();
  EXPECT_EQ(Check(R"({"live":"refuse"})").mistakes.size(), 1u);
  EXPECT_FALSE(Exists("opened"));
  EXPECT_EQ(host_->Find("good"), nullptr) << "it takes no tasks";
  host_->Start();
  events_.Wait<ExecutorChange>([](const ExecutorChange& change) { return change.usable; });
  EXPECT_TRUE(Exists("opened"));
  EXPECT_EQ(Check(R"({"live":"refuse"})").mistakes.size(), 1u);
  StartTask(1, "{}");
  events_.Of<StartAnswer>(1);
  host_->Stop();
  EXPECT_TRUE(Exists("drained"));
}

TEST_F(LiveCheckTest, ClosesOneThatWasNeverOpened) {
  config_.path = testing::PluginPath("good_early");
  PrepareOnly();
  EXPECT_EQ(Check(R"({"live":"refuse"})").mistakes.size(), 1u);
  host_->Stop();
  EXPECT_FALSE(Exists("drained"));
  EXPECT_TRUE(IsNothing(Check(R"({"live":"refuse"})")));
}

TEST_F(LiveCheckTest, SaysWhatCreateSaidOfOneThatWasMadeEarlyOnceItIsOpened) {
  config_.path = testing::PluginPath("good_early");
  config_.config = Json(Json::Object{{"behaviour", "fail-create"}});
  PrepareOnly();
  EXPECT_TRUE(IsNothing(Check(R"({"live":"refuse"})")));
  host_->Start();
  const auto told = events_.Wait<ExecutorChange>(
      [](const ExecutorChange& change) { return change.reason == "OpenFailed"; });
  EXPECT_NE(told.message.find("config/behaviour: must be another"), std::string::npos)
      << told.message;
}

}  // namespace
}  // namespace detent
