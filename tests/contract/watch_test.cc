// Watches, as any client of a Kubernetes API server expects them.

#include <gtest/gtest.h>

#include <string>

#include "tests/contract/contract_server.h"

namespace detent::testing {
namespace {

constexpr const char* kMergePatch = "application/merge-patch+json";

std::string At(const Json& event, const std::string& pointer) {
  const Json* value = event.At(pointer);
  return value != nullptr && value->is_string() ? value->as_string() : "";
}

std::string Version() {
  return Do("GET", PathOf("jobconfigs")).Text("/metadata/resourceVersion");
}

std::string Labelled(const std::string& mark) {
  const std::string name = FreshName("watched");
  const HttpAnswer made = Do("POST", PathOf("jobconfigs"),
                             JobConfigText(name, "\"labels\":{\"mark\":\"" + mark + "\"}"));
  EXPECT_EQ(made.status, 201) << made.body;
  return name;
}

TEST(Watch, ShowsALifeInOrder) {
  const std::string mark = FreshName("life");
  HttpLines lines(ContractServer(), WatchOf("jobconfigs", "labelSelector=mark=" + mark +
                                                              "&resourceVersion=" + Version()));
  const std::string name = Labelled(mark);
  Do("PATCH", PathOf("jobconfigs", name), R"({"metadata":{"annotations":{"a":"b"}}})", kMergePatch);
  const HttpAnswer changed = Do("GET", PathOf("jobconfigs", name));
  Do("DELETE", PathOf("jobconfigs", name));
  const Json added = lines.NextJson();
  EXPECT_EQ(At(added, "/type"), "ADDED");
  EXPECT_EQ(At(added, "/object/metadata/name"), name);
  const Json modified = lines.NextJson();
  EXPECT_EQ(At(modified, "/type"), "MODIFIED");
  ASSERT_NE(modified.Find("object"), nullptr);
  EXPECT_EQ(*modified.Find("object"), changed.json());
  const Json deleted = lines.NextJson();
  EXPECT_EQ(At(deleted, "/type"), "DELETED");
  EXPECT_NE(At(deleted, "/object/metadata/resourceVersion"),
            changed.Text("/metadata/resourceVersion"));
}

TEST(Watch, BeginsWithWhatThereIsWhenAskedForNoVersion) {
  const std::string mark = FreshName("there");
  const std::string name = Labelled(mark);
  for (const char* version : {"", "&resourceVersion=0"}) {
    HttpLines lines(ContractServer(),
                    WatchOf("jobconfigs", "labelSelector=mark=" + mark + version));
    const Json added = lines.NextJson();
    EXPECT_EQ(At(added, "/type"), "ADDED");
    EXPECT_EQ(At(added, "/object/metadata/name"), name);
  }
}

TEST(Watch, ALabelThatChangesComesAndGoesForASelector) {
  const std::string mark = FreshName("label");
  const std::string name = Labelled("other");
  HttpLines lines(ContractServer(), WatchOf("jobconfigs", "labelSelector=mark=" + mark +
                                                              "&resourceVersion=" + Version()));
  for (const std::string& value : {mark, std::string("other")}) {
    Do("PATCH", PathOf("jobconfigs", name),
       R"({"metadata":{"labels":{"mark":")" + value + R"("}}})", kMergePatch);
  }
  EXPECT_EQ(At(lines.NextJson(), "/type"), "ADDED");
  EXPECT_EQ(At(lines.NextJson(), "/type"), "DELETED");
}

TEST(Watch, ANameIsWatchedAlone) {
  const std::string version = Version();
  const std::string name = FreshName("one");
  HttpLines lines(ContractServer(), WatchOf("jobconfigs", "fieldSelector=metadata.name=" + name +
                                                              "&resourceVersion=" + version));
  Labelled("noise");
  Do("POST", PathOf("jobconfigs"), JobConfigText(name));
  EXPECT_EQ(At(lines.NextJson(), "/object/metadata/name"), name);
}

TEST(Watch, InitialEventsEndWithTheirBookmark) {
  const std::string mark = FreshName("initial");
  const std::string name = Labelled(mark);
  HttpLines lines(ContractServer(),
                  WatchOf("jobconfigs", "labelSelector=mark=" + mark +
                                            "&sendInitialEvents=true&allowWatchBookmarks=true"
                                            "&resourceVersionMatch=NotOlderThan"));
  EXPECT_EQ(At(lines.NextJson(), "/object/metadata/name"), name);
  const Json bookmark = lines.NextJson();
  EXPECT_EQ(At(bookmark, "/type"), "BOOKMARK");
  EXPECT_EQ(At(bookmark, "/object/kind"), "JobConfig");
  EXPECT_EQ(At(bookmark, "/object/metadata/annotations/k8s.io~1initial-events-end"), "true");
  EXPECT_NE(At(bookmark, "/object/metadata/resourceVersion"), "");
}

TEST(Watch, AVersionThatIsTooOldIsAnErrorEventOf410) {
  HttpLines lines(ContractServer(), WatchOf("jobconfigs", "resourceVersion=1"));
  const Json error = lines.NextJson();
  EXPECT_EQ(At(error, "/type"), "ERROR");
  EXPECT_EQ(At(error, "/object/kind"), "Status");
  EXPECT_EQ(At(error, "/object/reason"), "Expired");
  ASSERT_NE(error.At("/object/code"), nullptr);
  EXPECT_EQ(error.At("/object/code")->as_int(), 410);
  EXPECT_TRUE(At(error, "/object/message").starts_with("too old resource version: 1 ("));
  EXPECT_TRUE(lines.WaitForEnd()) << "the stream is over with it";
}

TEST(Watch, ABookmarkComesBeforeTheTimeIsOverAndCanBeGoneOnFrom) {
  const std::string mark = FreshName("bookmark");
  const std::string query = "labelSelector=mark=" + mark + "&resourceVersion=";
  std::string version;
  {
    HttpLines lines(ContractServer(), WatchOf("jobconfigs", query + Version() +
                                                                "&allowWatchBookmarks=true"
                                                                "&timeoutSeconds=5"));
    Labelled("not-" + mark);  // A bookmark is of some change, though not of one that is selected.
    const Json bookmark = lines.NextJson();
    EXPECT_EQ(At(bookmark, "/type"), "BOOKMARK");
    EXPECT_EQ(At(bookmark, "/object/kind"), "JobConfig");
    EXPECT_EQ(At(bookmark, "/object/metadata/name"), "");
    version = At(bookmark, "/object/metadata/resourceVersion");
    EXPECT_TRUE(lines.WaitForEnd());
  }
  ASSERT_NE(version, "");
  const std::string name = Labelled(mark);
  HttpLines lines(ContractServer(), WatchOf("jobconfigs", query + version));
  EXPECT_EQ(At(lines.NextJson(), "/object/metadata/name"), name);
}

TEST(Watch, AFieldOfTheStatusComesAndGoesForASelector) {
  const std::string name = FreshName("phase");
  ASSERT_EQ(Do("POST", PathOf("jobs"), JobText(name)).status, 201);
  const std::string version = Do("GET", PathOf("jobs")).Text("/metadata/resourceVersion");
  HttpLines lines(ContractServer(),
                  WatchOf("jobs", "fieldSelector=status.phase=Running,metadata.name=" + name +
                                      "&resourceVersion=" + version));
  for (const char* status : {R"({"phase":"Running"})", R"({"phase":"Failed"})",
                             R"({"message":"not seen"})", R"({"phase":"Running"})"}) {
    const std::string body = R"({"status":)" + std::string(status) + "}";
    EXPECT_EQ(Do("PATCH", PathOf("jobs", name) + "/status", body, kMergePatch).status, 200);
  }
  EXPECT_EQ(At(lines.NextJson(), "/type"), "ADDED");
  EXPECT_EQ(At(lines.NextJson(), "/type"), "DELETED");
  EXPECT_EQ(At(lines.NextJson(), "/type"), "ADDED") << "a change outside of what is selected";
}

TEST(Watch, EndsWhenItsTimeIsOver) {
  HttpLines lines(ContractServer(),
                  WatchOf("jobconfigs", "timeoutSeconds=1&resourceVersion=" + Version()));
  EXPECT_TRUE(lines.WaitForEnd());
}

TEST(Watch, ATableHasItsColumnsInTheFirstEvent) {
  const std::string mark = FreshName("table");
  Labelled(mark);
  Labelled(mark);
  HttpCall call = WatchOf("jobconfigs", "labelSelector=mark=" + mark);
  call.accept = "application/json;as=Table;v=v1;g=meta.k8s.io";
  HttpLines lines(ContractServer(), call);
  const Json first = lines.NextJson();
  EXPECT_EQ(At(first, "/object/kind"), "Table");
  EXPECT_EQ(At(first, "/object/columnDefinitions/0/name"), "Name");
  const Json second = lines.NextJson();
  EXPECT_EQ(At(second, "/object/kind"), "Table");
  EXPECT_EQ(At(second, "/object/columnDefinitions/0/name"), "");
  EXPECT_NE(second.At("/object/rows/0/cells/0"), nullptr);
}

TEST(Watch, OneThatMissedNothingContinuesFromWhereItWas) {
  const std::string mark = FreshName("resume");
  const std::string version = Version();
  const std::string first = Labelled(mark);
  const std::string second = Labelled(mark);
  const std::string query = "labelSelector=mark=" + mark + "&resourceVersion=";
  std::string seen;
  {
    HttpLines lines(ContractServer(), WatchOf("jobconfigs", query + version));
    const Json event = lines.NextJson();
    EXPECT_EQ(At(event, "/object/metadata/name"), first);
    seen = At(event, "/object/metadata/resourceVersion");
  }
  HttpLines lines(ContractServer(), WatchOf("jobconfigs", query + seen));
  EXPECT_EQ(At(lines.NextJson(), "/object/metadata/name"), second);
}

}  // namespace
}  // namespace detent::testing
