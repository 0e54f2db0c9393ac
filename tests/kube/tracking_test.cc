#include "core/kube/tracking.h"

#include <gtest/gtest.h>

#include "core/base/json.h"
#include "core/base/json_patch.h"

namespace detent {
namespace {

TrackingMarks Marks() {
  TrackingMarks marks;
  marks.task = {"0a1b-2c.7.2", "job-7-2", "default", "job", "0a1b-2c", 7, 2};
  marks.host_id = "host-1";
  return marks;
}

Json Tracked(const std::string& object, const TrackingMarks& marks = Marks()) {
  const auto json = WithTracking(object, marks);
  EXPECT_TRUE(json) << (json ? "" : json.error().message());
  return json ? *ParseJson(*json) : Json();
}

std::string TextIn(const Json& json, const std::string& pointer) {
  const Json* value = json.At(pointer);
  return value == nullptr ? "(none)" : value->is_string() ? value->as_string() : DumpJson(*value);
}

TEST(WithTracking, PutsAllMarksOnAnEmptyObject) {
  const Json object = Tracked("{}");
  EXPECT_EQ(DumpJson(object),
            R"({"metadata":{"name":"job-7-2","labels":{"detent.dev/task":"0a1b-2c.7.2",)"
            R"("detent.dev/tracked-by":"host-1","execution.detent.dev/job":"job",)"
            R"("execution.detent.dev/job-uid":"0a1b-2c","execution.detent.dev/index":"7",)"
            R"("execution.detent.dev/attempt":"2"},"finalizers":["detent.dev/task-tracking"]}})");
}

TEST(WithTracking, KeepsWhatTheObjectSaysAndReplacesWhatIsItsOwn) {
  const Json object = Tracked(R"({"kind":"Pod","metadata":{"name":"mine","annotations":{"a":"b"},
      "labels":{"app":"x","detent.dev/tracked-by":"another"},
      "finalizers":["other/one","detent.dev/task-tracking"]},"spec":{"n":1.5}})");
  EXPECT_EQ(TextIn(object, "/metadata/name"), "mine");
  EXPECT_EQ(TextIn(object, "/metadata/annotations/a"), "b");
  EXPECT_EQ(TextIn(object, "/metadata/labels/app"), "x");
  EXPECT_EQ(TextIn(object, "/metadata/labels/detent.dev~1tracked-by"), "host-1");
  EXPECT_EQ(TextIn(object, "/metadata/finalizers"), R"(["other/one","detent.dev/task-tracking"])");
  EXPECT_EQ(TextIn(object, "/spec"), R"({"n":1.5})");
  EXPECT_EQ(object.At("/metadata/ownerReferences"), nullptr);
}

TEST(WithTracking, TakesObjectsInEveryShape) {
  const struct {
    const char* object;
    const char* because;
  } rows[] = {
      {" { } ", "with nothing but space"},
      {R"({"spec":{"metadata":{"name":"x"}}})", "without metadata, but with one further in"},
      {R"({"spec":1,"metadata":null})", "null is none"},
      {R"({"metadata":{"name":"","labels":null,"finalizers":null}})", "nor is it within"},
      {R"({ "metadata" : { "generateName" : "a" } , "spec" : 1 })", "with spaces"},
  };
  for (const auto& row : rows) {
    const Json before = *ParseJson(row.object), object = Tracked(row.object);
    EXPECT_EQ(TextIn(object, "/metadata/name"), "job-7-2") << row.because;
    EXPECT_EQ(TextIn(object, "/metadata/labels/execution.detent.dev~1index"), "7") << row.because;
    EXPECT_EQ(TextIn(object, "/spec"), TextIn(before, "/spec")) << row.because;
    EXPECT_EQ(TextIn(object, "/metadata/generateName"), TextIn(before, "/metadata/generateName"));
  }
}

TEST(WithTracking, MakesTheJobTheControllerWhereItIsAnObjectOfTheCluster) {
  TrackingMarks marks = Marks();
  marks.job_api_version = "execution.detent.dev/v1alpha1";
  const std::string job =
      R"({"apiVersion":"execution.detent.dev/v1alpha1","kind":"Job","name":"job","uid":"0a1b-2c",)"
      R"("controller":true,"blockOwnerDeletion":true})";
  const std::string other = R"({"apiVersion":"v1","kind":"Node","name":"n","uid":"u"})";
  const struct {
    std::string metadata;
    std::string owners;
    const char* because;
  } rows[] = {
      {"{}", "[" + job + "]", "it has none"},
      {R"({"ownerReferences":null})", "[" + job + "]", "null is none"},
      {R"({"ownerReferences":[)" + other + "]}", "[" + other + "," + job + "]", "others stay"},
      {R"({"ownerReferences":[{"uid":"0a1b-2c","controller":true}]})", "[" + job + "]",
       "the Job's own is made whole"},
      {R"({"namespace":"default"})", "[" + job + "]", "the task's namespace"},
      {R"({"namespace":"elsewhere"})", "(none)", "an owner is in the same namespace"},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(
        TextIn(Tracked("{\"metadata\":" + row.metadata + "}", marks), "/metadata/ownerReferences"),
        row.owners)
        << row.because;
  }
}

TEST(WithTracking, NamesAJobInFullAsOwnerAndCutAsLabel) {
  TrackingMarks marks = Marks();
  marks.task.job_name = std::string(200, 'j');
  marks.job_api_version = "execution.detent.dev/v1alpha1";
  const Json object = Tracked("{}", marks);
  EXPECT_EQ(TextIn(object, "/metadata/ownerReferences/0/name"), marks.task.job_name);
  const std::string label = TextIn(object, "/metadata/labels/execution.detent.dev~1job");
  EXPECT_EQ(label.rfind(std::string(54, 'j') + "-", 0), 0u) << label;
  EXPECT_EQ(label.size(), 63u);
}

TEST(WithTracking, NamesTheFieldThatCannotCarryTheMarks) {
  TrackingMarks marks = Marks();
  marks.job_api_version = "execution.detent.dev/v1alpha1";
  const struct {
    const char* object;
    const char* message;
  } rows[] = {
      {"nothing", "read the object: "},
      {"[]", "read the object: "},
      {"{} {}", "read the object: "},
      {R"({"metadata":{},"metadata":{}})", "metadata: "},
      {R"({"metadata":{"labels":{},"labels":{}}})", "metadata.labels: "},
      {R"({"metadata":5})", "metadata: "},
      {R"({"metadata":{"name":5}})", "metadata.name: "},
      {R"({"metadata":{"labels":[]}})", "metadata.labels: "},
      {R"({"metadata":{"finalizers":"x"}})", "metadata.finalizers: "},
      {R"({"metadata":{"finalizers":["x",5]}})", "metadata.finalizers[1]: "},
      {R"({"metadata":{"ownerReferences":{}}})", "metadata.ownerReferences: "},
      {R"({"metadata":{"ownerReferences":["x"]}})", "metadata.ownerReferences[0]: "},
      {R"({"metadata":{"ownerReferences":[{"uid":"x"},{"uid":"y","controller":true}]}})",
       "metadata.ownerReferences[1].controller: "},
  };
  for (const auto& row : rows) {
    const auto json = WithTracking(row.object, marks);
    ASSERT_FALSE(json) << row.object;
    EXPECT_EQ(json.error().code(), Code::kInvalid);
    EXPECT_EQ(json.error().message().rfind(row.message, 0), 0u) << json.error().message();
  }
  marks.task.job_name = "a name that is no label's value";
  const auto json = WithTracking("{}", marks);
  ASSERT_FALSE(json);
  EXPECT_EQ(json.error().message().rfind("metadata.labels[execution.detent.dev/job]: ", 0), 0u)
      << json.error().message();
}

TEST(ReadTracked, FindsWhatSaysWhoseAnObjectIs) {
  const auto object = ReadTracked(
      R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":"ns","uid":"u1",
      "resourceVersion":"77","deletionTimestamp":"2026-11-21T10:00:00Z","labels":{"app":"x",
      "detent.dev/task":"k","detent.dev/tracked-by":"h"},"finalizers":["a","b"]},"spec":{}})");
  ASSERT_TRUE(object);
  EXPECT_EQ(object->name, "p");
  EXPECT_EQ(object->ns, "ns");
  EXPECT_EQ(object->uid, "u1");
  EXPECT_EQ(object->resource_version, "77");
  EXPECT_EQ(object->task_key, "k");
  EXPECT_EQ(object->tracked_by, "h");
  EXPECT_EQ(object->finalizers, (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(object->deleting);
  const auto bare = ReadTracked(R"({"metadata":{"deletionTimestamp":null}})");
  ASSERT_TRUE(bare);
  EXPECT_EQ(bare->task_key + bare->tracked_by + bare->uid, "");
  EXPECT_FALSE(bare->deleting);
  EXPECT_FALSE(ReadTracked("[]"));
  EXPECT_FALSE(ReadTracked("{}")) << "without metadata it is no object";
  EXPECT_FALSE(ReadTracked(R"({"metadata":[]})"));
}

TEST(LetGoPatch, TakesTheMarksOffAndNothingElse) {
  const Json before = Tracked(R"({"metadata":{"uid":"u1","resourceVersion":"77",
      "labels":{"app":"x"},"finalizers":["other/one"]},"spec":{"a":1}})");
  const auto read = ReadTracked(DumpJson(before));
  ASSERT_TRUE(read);
  const std::string patch = LetGoPatch(*read, false);
  EXPECT_EQ(patch, R"({"metadata":{"uid":"u1","resourceVersion":"77",)"
                   R"("labels":{"detent.dev/tracked-by":null},"finalizers":["other/one"]}})");
  const Json after = MergePatch(before, *ParseJson(patch));
  EXPECT_EQ(TextIn(after, "/metadata/labels/detent.dev~1tracked-by"), "(none)");
  EXPECT_EQ(TextIn(after, "/metadata/labels/detent.dev~1task"), "0a1b-2c.7.2")
      << "whose it was can still be seen";
  EXPECT_EQ(TextIn(after, "/metadata/labels/app"), "x");
  EXPECT_EQ(TextIn(after, "/spec/a"), "1");
}

TEST(LetGoPatch, TakesTheRecordOfManagersOffWhatHasEnded) {
  TrackedObject object;
  object.finalizers = {"detent.dev/task-tracking"};
  EXPECT_EQ(LetGoPatch(object, true),
            R"({"metadata":{"labels":{"detent.dev/tracked-by":null},"finalizers":[],)"
            R"("managedFields":[{}]}})");
}

}  // namespace
}  // namespace detent
