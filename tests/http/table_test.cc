#include "core/http/table.h"

#include <gtest/gtest.h>

#include "core/api/codec.h"
#include "core/http/watch.h"

namespace detent {
namespace {

const WallTime kNow = FromUnixSeconds(1'800'000'000);

Object AJob() {
  Object job;
  job.kind = Kind::kJob;
  job.meta.name = "j";
  job.meta.created = kNow - std::chrono::hours(2);
  JobStatus status;
  status.phase = JobPhase::kRunning;
  status.indexes = 10;
  for (int64_t index = 0; index < 3; ++index) status.succeeded_indexes.Insert(index);
  status.failed_indexes.Insert(7);
  status.started = kNow - std::chrono::minutes(5);
  job.status = EncodeJobStatus(status);
  return job;
}

TEST(Table, EveryRowHasACellForEachColumn) {
  for (const Kind kind : kKinds) {
    for (const char* text : {"{}", "", "damaged"}) {
      Object object;
      object.kind = kind;
      object.meta.name = "x";
      object.spec = text;
      object.status = text;
      const Json::Array cells = CellsOf(object, kNow);
      ASSERT_EQ(cells.size(), ColumnsOf(kind).size()) << NameOf(kind) << text;
      EXPECT_EQ(cells[0], Json("x"));
    }
  }
}

TEST(Table, AJobShowsItsProgressAndItsTimes) {
  const Json::Array cells = CellsOf(AJob(), kNow);
  EXPECT_EQ(cells[1], Json("Running"));
  EXPECT_EQ(cells[2], Json("3/10"));
  EXPECT_EQ(cells[3], Json(1));
  EXPECT_EQ(cells[4], Json("5m"));
  EXPECT_EQ(cells[5], Json("5m"));
  EXPECT_EQ(cells[6], Json("120m"));
}

TEST(Table, IsOneJsonDocumentInEachForm) {
  for (const RowObject form : {RowObject::kNone, RowObject::kMetadata, RowObject::kObject}) {
    TableOptions options;
    options.object = form;
    options.now = kNow;
    std::string text;
    OpenTable(text, Kind::kJob, R"({"resourceVersion":"1"})", options);
    AppendRow(text, AJob(), options);
    CloseTable(text);
    const Result<Json> table = ParseJson(text);
    ASSERT_TRUE(table) << text;
    EXPECT_EQ(table->At("/rows/0/cells/0")->as_string(), "j");
    const Json* object = table->At("/rows/0/object/kind");
    ASSERT_EQ(object != nullptr, form != RowObject::kNone);
    if (form != RowObject::kObject) continue;
    EXPECT_EQ(object->as_string(), "Job");
  }
}

Change Between(const char* before, const char* after) {
  const auto with = [](const char* value) {
    auto object = std::make_shared<Object>();
    object->meta.labels = {{"a", value}};
    return object;
  };
  Change change;
  change.type = ChangeType::kModified;
  change.object = with(after);
  if (*before != '\0') change.previous = with(before);
  return change;
}

TEST(EventFor, ASelectorsViewHasItsOwnBeginningsAndEnds) {
  Selectors selectors;
  selectors.labels = LabelSelector::Parse("a=in").value();
  EXPECT_EQ(EventFor(Between("in", "in"), selectors), "MODIFIED");
  EXPECT_EQ(EventFor(Between("out", "in"), selectors), "ADDED");
  EXPECT_EQ(EventFor(Between("in", "out"), selectors), "DELETED");
  EXPECT_EQ(EventFor(Between("out", "out"), selectors), std::nullopt);
  EXPECT_EQ(EventFor(Between("", "in"), selectors), "MODIFIED");
  EXPECT_EQ(EventFor(Between("", "out"), selectors), std::nullopt);
  Change gone = Between("", "out");
  gone.type = ChangeType::kDeleted;
  EXPECT_EQ(EventFor(gone, selectors), std::nullopt);
  Selectors phase;
  phase.fields = FieldSelector::Parse(Kind::kJob, "status.phase=Running").value();
  EXPECT_EQ(EventFor(Between("", "x"), phase), "DELETED") << "it may have been running before";
}

}  // namespace
}  // namespace detent
