#include "core/kube/watch_event.h"

#include <gtest/gtest.h>

#include "core/base/json.h"

namespace detent {
namespace {

constexpr const char* kPod =
    R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":"ns","uid":"u1",)"
    R"("resourceVersion":"7","labels":{"a":"b","detent.dev/task":"k.1.1"},"managedFields":)"
    R"([{"manager":"x","fieldsV1":{"f:metadata":{}}}],"annotations":{"c":"d"}},"spec":{"n":[1]}})";

Result<WatchEvent> ReadLine(const std::string& type, const std::string& object) {
  WatchEventReader reader;
  return reader.ReadEvent(R"({"type":")" + type + R"(","object":)" + object + "}");
}

TEST(WatchEvent, CarriesTheObjectWithoutItsManagedFields) {
  for (const char* type : {"ADDED", "MODIFIED", "DELETED"}) {
    const auto event = ReadLine(type, kPod);
    ASSERT_TRUE(event) << event.error().message();
    EXPECT_EQ(event->type, std::string(type) == "DELETED" ? WatchEvent::Type::kDelete
                                                          : WatchEvent::Type::kUpsert);
    EXPECT_EQ(event->resource_version, "7");
    const WatchedObject& pod = *event->object;
    EXPECT_EQ(std::vector({pod.ns(), pod.name(), pod.uid(), pod.task_key()}),
              std::vector<std::string_view>({"ns", "p", "u1", "k.1.1"}));
    EXPECT_EQ(pod.json(),
              R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":"ns",)"
              R"("uid":"u1","resourceVersion":"7","labels":{"a":"b","detent.dev/task":"k.1.1"},)"
              R"("annotations":{"c":"d"}},"spec":{"n":[1]}})");
  }
}

TEST(WatchEvent, CutsManagedFieldsOutWhereverTheyStand) {
  const struct {
    const char* metadata;
    const char* kept;
    const char* because;
  } rows[] = {
      {R"({"managedFields":[{"a":1}],"name":"p","resourceVersion":"7"})",
       R"({"name":"p","resourceVersion":"7"})", "the first"},
      {R"({"name":"p","resourceVersion":"7","managedFields":[{"a":[1,{"b":"]"}]}]})",
       R"({"name":"p","resourceVersion":"7"})", "the last"},
      {R"({"name":"p" , "managedFields" : [ ] , "resourceVersion":"7"})",
       R"({"name":"p" ,  "resourceVersion":"7"})", "with spaces around"},
      {R"({"name":"p","resourceVersion":"7" ,
          "managedFields":[] })",
       R"({"name":"p","resourceVersion":"7"  })", "the last, with spaces"},
      {R"({"name":"p","resourceVersion":"7","managedFields":null})",
       R"({"name":"p","resourceVersion":"7"})", "null"},
      {R"({"name":"p","resourceVersion":"7","annotations":{"managedFields":"[]"}})",
       R"({"name":"p","resourceVersion":"7","annotations":{"managedFields":"[]"}})",
       "another's of that name stay"},
  };
  for (const auto& row : rows) {
    const auto event = ReadLine("ADDED", std::string("{\"metadata\":") + row.metadata + "}");
    ASSERT_TRUE(event) << row.because << ": " << event.error().message();
    EXPECT_EQ(event->object->json(), std::string("{\"metadata\":") + row.kept + "}") << row.because;
    EXPECT_TRUE(ParseJson(event->object->json())) << row.because;
  }
}

TEST(WatchEvent, KnowsBookmarksAndTheEndOfInitialEvents) {
  const auto plain = ReadLine("BOOKMARK", R"({"metadata":{"resourceVersion":"9"}})");
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->type, WatchEvent::Type::kBookmark);
  EXPECT_EQ(plain->resource_version, "9");
  EXPECT_FALSE(plain->initial_events_end);
  const auto end = ReadLine("BOOKMARK", R"({"metadata":{"resourceVersion":"9",
      "annotations":{"a":"b","k8s.io/initial-events-end":"true"}}})");
  ASSERT_TRUE(end);
  EXPECT_TRUE(end->initial_events_end);
}

TEST(WatchEvent, TellsWhatAnErrorSays) {
  const auto event = ReadLine("ERROR", R"({"kind":"Status","apiVersion":"v1","metadata":{},
      "status":"Failure","message":"too old","reason":"Expired","code":410})");
  ASSERT_TRUE(event);
  EXPECT_EQ(event->type, WatchEvent::Type::kError);
  EXPECT_EQ(event->status, 410);
  EXPECT_EQ(event->reason, "Expired");
  EXPECT_EQ(event->message, "too old");
}

TEST(WatchEvent, RefusesWhatIsNone) {
  const struct {
    const char* line;
    const char* message;
  } rows[] = {
      {"", "not an event of a watch: "},
      {"{}", "its type is ''"},
      {R"({"type":"RENAMED","object":{}})", "its type is 'RENAMED'"},
      {R"({"type":"ADDED"})", "no metadata.resourceVersion"},
      {R"({"type":"ADDED","object":null})", "no metadata.resourceVersion"},
      {R"({"type":"ADDED","object":{"metadata":{"resourceVersion":"1"}}})", "no metadata.name"},
      {R"({"type":"ADDED","object":{"metadata":{"name":"p")", "line 1, column"},
  };
  for (const auto& row : rows) {
    WatchEventReader reader;
    const auto event = reader.ReadEvent(row.line);
    ASSERT_FALSE(event) << row.line;
    EXPECT_NE(event.error().message().find(row.message), std::string::npos)
        << event.error().message();
  }
}

TEST(ListPage, CarriesObjectsThatSayWhatTheyAre) {
  const auto page = ReadListPage(
      R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"12","continue":"c1",)"
      R"("remainingItemCount":3},"items":[{"metadata":{"name":"a","uid":"u","resourceVersion":"3",)"
      R"("managedFields":[]}},{"apiVersion":"x/v1","kind":"X","metadata":{"name":"b"}}]})");
  ASSERT_TRUE(page) << page.error().message();
  EXPECT_EQ(page->resource_version, "12");
  EXPECT_EQ(page->continue_token, "c1");
  ASSERT_EQ(page->objects.size(), 2u);
  EXPECT_EQ(page->objects[0]->json(),
            R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","uid":"u",)"
            R"("resourceVersion":"3"}})");
  EXPECT_EQ(page->objects[1]->json(),
            R"({"apiVersion":"x/v1","kind":"X","metadata":{"name":"b"}})");
}

TEST(ListPage, ReadsMembersInAnyOrderAndNoItems) {
  const auto sorted =
      ReadListPage(R"({"apiVersion":"x/v1","items":[{"metadata":{"name":"a"}}],"kind":"XList",)"
                   R"("metadata":{"resourceVersion":"5"}})");
  ASSERT_TRUE(sorted) << sorted.error().message();
  EXPECT_EQ(sorted->objects[0]->json(),
            R"({"kind":"X","apiVersion":"x/v1","metadata":{"name":"a"}})");
  EXPECT_EQ(sorted->continue_token, "");
  const auto none = ReadListPage(R"({"metadata":{"resourceVersion":"5"},"items":null})");
  ASSERT_TRUE(none) << none.error().message();
  EXPECT_TRUE(none->objects.empty());
}

TEST(ListPage, RefusesWhatIsNone) {
  for (const char* body :
       {"", "[]", "{}", R"({"metadata":{"resourceVersion":"5"}})", R"({"items":[]})",
        R"({"metadata":{"resourceVersion":"5"},"items":[{}]})",
        R"({"metadata":{"resourceVersion":"5"},"items":[)"}) {
    EXPECT_FALSE(ReadListPage(body)) << body;
  }
}

}  // namespace
}  // namespace detent
