#include "core/http/watch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <sstream>

#include "core/base/json.h"
#include "core/base/limits.h"
#include "core/store/memory_store.h"

namespace detent {
namespace {

ObjectPtr JobIn(const std::string& phase, const std::string& team = "") {
  auto job = std::make_shared<Object>();
  job->meta.ns = "n";
  job->meta.name = "a";
  if (!team.empty()) job->meta.labels["team"] = team;
  if (!phase.empty()) job->status = R"({"phase":")" + phase + "\"}";
  return job;
}

std::string Event(ChangeType type, ObjectPtr now, ObjectPtr before, const Selectors& selectors) {
  const Change change{type, 1, std::move(now), std::move(before)};
  return std::string(EventFor(change, selectors).value_or("-"));
}

TEST(WatchEvents, AWatcherSeesWhatItSelectsComeAndGo) {
  Selectors running;
  running.fields = *FieldSelector::Parse(Kind::kJob, "status.phase=Running");
  struct Row {
    const char* before;
    const char* now;
    const char* event;
    const char* because;
  };
  for (const Row& row : {Row{"Queued", "Running", "ADDED", "it begins to match"},
                         Row{"Running", "Running", "MODIFIED", "it goes on matching"},
                         Row{"Running", "Failed", "DELETED", "it stops matching"},
                         Row{"Failed", "Failed", "-", "it has not matched, and does not"}}) {
    EXPECT_EQ(Event(ChangeType::kModified, JobIn(row.now), JobIn(row.before), running), row.event)
        << row.because;
  }
  EXPECT_EQ(Event(ChangeType::kAdded, JobIn("Queued"), nullptr, running), "-");
  EXPECT_EQ(Event(ChangeType::kDeleted, JobIn("Running"), nullptr, running), "DELETED");
  EXPECT_EQ(Event(ChangeType::kDeleted, JobIn("Failed"), JobIn("Failed"), running), "-");
  EXPECT_EQ(Event(ChangeType::kModified, JobIn("Failed"), nullptr, running), "DELETED")
      << "what is unknown may have matched";
}

TEST(WatchEvents, LabelsThatChangedCountBesideFields) {
  Selectors both;
  both.labels = *LabelSelector::Parse("team=a");
  both.fields = *FieldSelector::Parse(Kind::kJob, "status.phase!=Failed");
  EXPECT_EQ(Event(ChangeType::kModified, JobIn("", "a"), JobIn("", "b"), both), "ADDED");
  EXPECT_EQ(Event(ChangeType::kModified, JobIn("", "b"), JobIn("", "a"), both), "DELETED");
  EXPECT_EQ(Event(ChangeType::kModified, JobIn("Failed", "b"), JobIn("Failed", "a"), both), "-");
}

class StepClock final : public Clock {
 public:
  WallTime Now() const override { return WallTime(std::chrono::microseconds(0)); }
  MonoTime Mono() const override { return now; }
  MonoTime now{};
};

// Ends the stream after so many events, and does something at each.
class Reader final : public BodySink {
 public:
  bool Write(std::string_view piece) override {
    text += piece;
    largest = std::max(largest, piece.size());
    if (on_piece) on_piece();
    return true;
  }
  bool Alive() override { return alive(); }
  Json Line(size_t number) const {
    std::istringstream lines(text);
    std::string line;
    for (size_t i = 0; i <= number && std::getline(lines, line); ++i) {
    }
    const auto json = ParseJson(line);
    return json ? *json : Json();
  }

  std::string text;
  size_t largest = 0;
  std::function<void()> on_piece;
  std::function<bool()> alive = [] { return true; };
};

class WatchTest : public ::testing::Test {
 protected:
  void SetUp() override {
    context_.store = &store_;
    context_.clock = &clock_;
  }
  void Put(WriteOp op) {
    auto job = std::make_shared<Object>(*JobIn("Running"));
    job->kind = Kind::kJob;
    Transaction transaction;
    transaction.push_back({op, std::move(job), 0, nullptr});
    ASSERT_TRUE(SubmitAndWait(store_, std::move(transaction)));
  }
  void Run(const std::string& query, Reader& reader) {
    Request request;
    request.method = "GET";
    ASSERT_TRUE(SetTarget(request, "/x?watch=true&" + query));
    const Target target{Kind::kJob, "n", ""};
    auto options = ReadListOptions(Kind::kJob, request);
    ASSERT_TRUE(options);
    const Response response = Watch(context_, request, target, *options);
    ASSERT_TRUE(response.stream);
    response.stream(reader);
  }

  MemoryStore store_;
  StepClock clock_;
  ApiContext context_;
};

TEST_F(WatchTest, AWatcherThatIsTooSlowIsDroppedWith410AndCostsNoMemory) {
  Put(WriteOp::kCreate);
  Reader reader;
  bool slept = false;
  reader.on_piece = [&] {
    if (reader.text.empty() || slept) return;
    slept = true;
    // While it reads its first event, more happens than is kept.
    for (size_t i = 0; i <= limits::kChangesKept; ++i) Put(WriteOp::kUpdate);
  };
  Run("", reader);
  const Json last = reader.Line(1);
  EXPECT_EQ(last.Find("type")->as_string(), "ERROR");
  EXPECT_EQ(last.At("/object/code")->as_int(), 410);
  EXPECT_EQ(last.At("/object/reason")->as_string(), "Expired");
  EXPECT_TRUE(last.At("/object/message")->as_string().starts_with("too old resource version: 1 ("));
  EXPECT_LT(reader.text.size(), 2000u) << "nothing of what it missed was kept for it";
}

TEST_F(WatchTest, BookmarksComeEveryMinuteAndAtTheEndWhereTheyAreAskedFor) {
  Put(WriteOp::kCreate);
  for (const bool asked : {true, false}) {
    Reader reader;
    int looks = 0;
    // Each look at the client is half a minute after the one before.
    reader.alive = [&] {
      clock_.now += std::chrono::seconds(30);
      return ++looks < 100;
    };
    const std::string query =
        "resourceVersion=1&fieldSelector=status.phase%3DFailed"
        "&timeoutSeconds=65";
    Run(query + (asked ? "&allowWatchBookmarks=true" : ""), reader);
    if (!asked) {
      EXPECT_EQ(reader.text, "");
      continue;
    }
    const auto lines = std::count(reader.text.begin(), reader.text.end(), '\n');
    EXPECT_EQ(lines, 2) << reader.text;
    EXPECT_EQ(reader.Line(0).Find("type")->as_string(), "BOOKMARK");
    EXPECT_EQ(reader.Line(0).At("/object/metadata/resourceVersion")->as_string(), "1");
  }
}

}  // namespace
}  // namespace detent
