// Reading and writing objects, as any client of a Kubernetes API server expects it.

#include <gtest/gtest.h>

#include <string>

#include "tests/contract/contract_server.h"

namespace detent::testing {
namespace {

constexpr const char* kMerge = "application/merge-patch+json";
constexpr const char* kJsonPatch = "application/json-patch+json";

// Makes a JobConfig and returns its name.
std::string Made(const std::string& more_metadata = "") {
  const std::string name = FreshName("made");
  const HttpAnswer made = Do("POST", PathOf("jobconfigs"), JobConfigText(name, more_metadata));
  EXPECT_EQ(made.status, 201) << made.body << made.error;
  return name;
}

TEST(Objects, ACreatedObjectHasWhatTheServerSets) {
  const std::string name = FreshName("made");
  const HttpAnswer made = Do("POST", PathOf("jobconfigs"), JobConfigText(name));
  ASSERT_EQ(made.status, 201) << made.body << made.error;
  EXPECT_EQ(made.Text("/metadata/name"), name);
  EXPECT_EQ(made.Text("/metadata/namespace"), "default");
  EXPECT_EQ(made.Text("/metadata/uid").size(), 36u);
  EXPECT_EQ(made.Text("/metadata/generation"), "1");
  EXPECT_NE(made.Text("/metadata/resourceVersion"), "");
  EXPECT_NE(made.Text("/metadata/creationTimestamp"), "");
  const HttpAnswer read = Do("GET", PathOf("jobconfigs", name));
  EXPECT_EQ(read.status, 200);
  EXPECT_EQ(read.json(), made.json());
}

TEST(Objects, ANameIsTakenOnce) {
  const std::string name = Made();
  const HttpAnswer again = Do("POST", PathOf("jobconfigs"), JobConfigText(name));
  EXPECT_EQ(again.status, 409);
  EXPECT_EQ(again.Text("/kind"), "Status");
  EXPECT_EQ(again.Text("/reason"), "AlreadyExists");
  EXPECT_EQ(again.Text("/message"),
            "jobconfigs." + ContractGroup() + " \"" + name + "\" already exists");
}

TEST(Objects, WhatIsNotThereIsNotFound) {
  for (const char* method : {"GET", "DELETE"}) {
    const HttpAnswer none = Do(method, PathOf("jobs", "nobody"));
    EXPECT_EQ(none.status, 404);
    EXPECT_EQ(none.Text("/reason"), "NotFound");
    EXPECT_EQ(none.Text("/message"), "jobs." + ContractGroup() + " \"nobody\" not found");
    EXPECT_EQ(none.Text("/details/kind"), "jobs");
    EXPECT_EQ(none.Text("/details/group"), ContractGroup());
    EXPECT_EQ(none.Text("/code"), "404");
  }
}

TEST(Objects, GenerateNameMakesANewNameEachTime) {
  std::string body = JobConfigText("x");
  body.replace(body.find("\"name\":\"x\""), 10, "\"generateName\":\"gen-\"");
  const HttpAnswer first = Do("POST", PathOf("jobconfigs"), body);
  const HttpAnswer second = Do("POST", PathOf("jobconfigs"), body);
  EXPECT_EQ(first.status, 201) << first.body;
  EXPECT_TRUE(first.Text("/metadata/name").starts_with("gen-"));
  EXPECT_EQ(first.Text("/metadata/name").size(), 9u);
  EXPECT_NE(first.Text("/metadata/name"), second.Text("/metadata/name"));
}

TEST(Objects, ADryRunStoresNothing) {
  const std::string name = FreshName("dry");
  const HttpAnswer dry = Do("POST", PathOf("jobconfigs") + "?dryRun=All", JobConfigText(name));
  EXPECT_EQ(dry.status, 201);
  EXPECT_EQ(Do("GET", PathOf("jobconfigs", name)).status, 404);
}

TEST(Objects, UnknownFieldsAreRefusedForgivenOrIgnoredAsAsked) {
  struct Row {
    const char* query;
    int status;
    bool warning;
  };
  for (const Row& row :
       {Row{"?fieldValidation=Strict", 400, false}, Row{"?fieldValidation=Warn", 201, true},
        Row{"", 201, true}, Row{"?fieldValidation=Ignore", 201, false}}) {
    std::string body = JobConfigText(FreshName("unknown"));
    body.replace(body.find("\"spec\":{"), 8, "\"spec\":{\"bogus\":1,");
    const HttpAnswer answer = Do("POST", PathOf("jobconfigs") + row.query, body);
    EXPECT_EQ(answer.status, row.status) << row.query << answer.body;
    EXPECT_EQ(answer.Header("warning") != "", row.warning) << row.query;
    if (row.status != 400) continue;
    EXPECT_EQ(answer.Text("/reason"), "BadRequest");
    EXPECT_NE(answer.Text("/message").find("strict decoding error: unknown field \"spec.bogus\""),
              std::string::npos)
        << answer.body;
  }
}

TEST(Objects, AStaleReplaceIsAConflict) {
  const std::string name = Made();
  const std::string old = Do("GET", PathOf("jobconfigs", name)).body;
  Json changed = ParseJson(old).value();
  changed.Find("metadata")->Set("labels", ParseJson(R"({"a":"b"})").value());
  const HttpAnswer replaced = Do("PUT", PathOf("jobconfigs", name), DumpJson(changed));
  EXPECT_EQ(replaced.status, 200) << replaced.body;
  const HttpAnswer stale = Do("PUT", PathOf("jobconfigs", name), old);
  EXPECT_EQ(stale.status, 409);
  EXPECT_EQ(stale.Text("/reason"), "Conflict");
  EXPECT_EQ(stale.Text("/message"),
            "Operation cannot be fulfilled on jobconfigs." + ContractGroup() + " \"" + name +
                "\": the object has been modified; please apply your changes to the latest "
                "version and try again");
}

TEST(Objects, AWriteThatChangesNothingMakesNoVersion) {
  const std::string name = Made();
  const HttpAnswer before = Do("GET", PathOf("jobconfigs", name));
  const HttpAnswer same = Do("PUT", PathOf("jobconfigs", name), before.body);
  EXPECT_EQ(same.json(), before.json());
  const HttpAnswer patched = Do("PATCH", PathOf("jobconfigs", name), "{}", kMerge);
  EXPECT_EQ(patched.json(), before.json());
}

TEST(Objects, PatchesChangeWhatTheyName) {
  const std::string name = Made(R"("labels":{"a":"1"})");
  const HttpAnswer merged =
      Do("PATCH", PathOf("jobconfigs", name), R"({"metadata":{"labels":{"b":"2"}}})", kMerge);
  EXPECT_EQ(merged.status, 200) << merged.body;
  EXPECT_EQ(merged.Text("/metadata/labels/b"), "2");
  EXPECT_EQ(merged.Text("/metadata/generation"), "1");
  const HttpAnswer edited =
      Do("PATCH", PathOf("jobconfigs", name),
         R"([{"op":"replace","path":"/spec/concurrency/policy","value":"Forbid"}])", kJsonPatch);
  EXPECT_EQ(edited.Text("/spec/concurrency/policy"), "Forbid") << edited.body;
  EXPECT_EQ(edited.Text("/metadata/generation"), "2");
  const HttpAnswer failed =
      Do("PATCH", PathOf("jobconfigs", name),
         R"([{"op":"test","path":"/metadata/labels/a","value":"no"}])", kJsonPatch);
  EXPECT_EQ(failed.status, 422);
  const HttpAnswer strategic =
      Do("PATCH", PathOf("jobconfigs", name), "{}", "application/strategic-merge-patch+json");
  EXPECT_EQ(strategic.status, 415);
  EXPECT_EQ(strategic.Text("/reason"), "UnsupportedMediaType");
}

TEST(Objects, AFinalizerHoldsADeletedObject) {
  const std::string name = Made(R"("finalizers":["example.com/hold"])");
  const HttpAnswer marked = Do("DELETE", PathOf("jobconfigs", name));
  EXPECT_EQ(marked.status, 200);
  EXPECT_NE(marked.Text("/metadata/deletionTimestamp"), "") << marked.body;
  EXPECT_EQ(Do("GET", PathOf("jobconfigs", name)).status, 200);
  const HttpAnswer freed =
      Do("PATCH", PathOf("jobconfigs", name), R"({"metadata":{"finalizers":null}})", kMerge);
  EXPECT_EQ(freed.status, 200) << freed.body;
  EXPECT_EQ(Do("GET", PathOf("jobconfigs", name)).status, 404);
}

TEST(Objects, DeletionAnswersAStatusAndHonoursPreconditions) {
  const std::string name = Made();
  const HttpAnswer refused = Do("DELETE", PathOf("jobconfigs", name),
                                R"({"kind":"DeleteOptions","apiVersion":"v1",)"
                                R"("preconditions":{"uid":"somebody-else"}})");
  EXPECT_EQ(refused.status, 409) << refused.body;
  const HttpAnswer gone = Do("DELETE", PathOf("jobconfigs", name));
  EXPECT_EQ(gone.status, 200);
  EXPECT_EQ(gone.Text("/kind"), "Status");
  EXPECT_EQ(gone.Text("/status"), "Success");
  EXPECT_EQ(gone.Text("/details/name"), name);
}

TEST(Objects, ForegroundDeletionWaitsForDependents) {
  const std::string name = Made(R"("finalizers":["example.com/hold"])");
  const HttpAnswer marked = Do("DELETE", PathOf("jobconfigs", name),
                               R"({"propagationPolicy":)"
                               R"("Foreground"})");
  EXPECT_NE(marked.Text("/metadata/finalizers").find("foregroundDeletion"), std::string::npos);
  Do("PATCH", PathOf("jobconfigs", name), R"({"metadata":{"finalizers":null}})", kMerge);
}

TEST(Objects, TheStatusHasAPathOfItsOwn) {
  const std::string name = FreshName("status");
  ASSERT_EQ(Do("POST", PathOf("jobs"), JobText(name)).status, 201);
  const HttpAnswer written =
      Do("PATCH", PathOf("jobs", name) + "/status", R"({"status":{"phase":"Running"}})", kMerge);
  EXPECT_EQ(written.status, 200) << written.body;
  EXPECT_EQ(written.Text("/status/phase"), "Running");
  const HttpAnswer ignored =
      Do("PATCH", PathOf("jobs", name), R"({"status":{"phase":"Failed"}})", kMerge);
  EXPECT_EQ(ignored.Text("/status/phase"), "Running") << ignored.body;
}

TEST(Lists, SelectorsChoose) {
  const std::string mark = FreshName("mark");
  for (const char* tier : {"a", "b", "c"}) {
    Made("\"labels\":{\"mark\":\"" + mark + "\",\"tier\":\"" + tier + "\"}");
  }
  struct Row {
    std::string selector;
    size_t count;
  };
  for (const Row& row : {Row{"mark=" + mark, 3}, Row{"mark=" + mark + ",tier!=a", 2},
                         Row{"mark=" + mark + ",tier%20in%20(a,b)", 2},
                         Row{"mark=" + mark + ",tier%20notin%20(a,b)", 1},
                         Row{"mark=" + mark + ",!tier", 0}, Row{"mark=" + mark + ",tier", 3}}) {
    const Json list = Do("GET", PathOf("jobconfigs") + "?labelSelector=" + row.selector).json();
    ASSERT_TRUE(list.Find("items") != nullptr) << row.selector;
    EXPECT_EQ(list.Find("items")->as_array().size(), row.count) << row.selector;
  }
  EXPECT_EQ(Do("GET", PathOf("jobconfigs") + "?labelSelector=a%20b").status, 400);
  EXPECT_EQ(Do("GET", PathOf("jobconfigs") + "?fieldSelector=spec.nothing=1").status, 400);
}

TEST(Lists, ComeInPagesThatTogetherAreWhole) {
  const std::string mark = FreshName("page");
  for (int i = 0; i < 5; ++i) Made("\"labels\":{\"mark\":\"" + mark + "\"}");
  const std::string query = "?limit=2&labelSelector=mark=" + mark;
  size_t seen = 0;
  size_t pages = 0;
  std::string token;
  do {
    const HttpAnswer page =
        Do("GET", AllPathOf("jobconfigs") + query + (token.empty() ? "" : "&continue=" + token));
    ASSERT_EQ(page.status, 200) << page.body;
    EXPECT_EQ(page.Text("/kind"), "JobConfigList");
    seen += page.json().Find("items")->as_array().size();
    token = page.Text("/metadata/continue");
    ++pages;
  } while (!token.empty() && pages < 10);
  EXPECT_EQ(seen, 5u);
  EXPECT_EQ(pages, 3u);
  EXPECT_EQ(Do("GET", AllPathOf("jobconfigs") + "?continue=nonsense!").status, 400);
}

TEST(Lists, AVersionThatIsNotThereYetIsATimeout) {
  const HttpAnswer far = Do("GET", PathOf("jobs") +
                                       "?resourceVersion=999999999999&resource"
                                       "VersionMatch=NotOlderThan");
  EXPECT_EQ(far.status, 504) << far.body;
  EXPECT_EQ(far.Text("/reason"), "Timeout");
  EXPECT_EQ(far.Text("/details/causes/0/reason"), "ResourceVersionTooLarge");
}

TEST(Lists, ATableHasCellsAndMetadata) {
  const std::string name = Made();
  const HttpAnswer table = GetAs(PathOf("jobconfigs") + "?fieldSelector=metadata.name=" + name,
                                 "application/json;as=Table;v=v1;g=meta.k8s.io,application/json");
  EXPECT_EQ(table.Text("/kind"), "Table");
  EXPECT_EQ(table.Text("/columnDefinitions/0/name"), "Name");
  EXPECT_EQ(table.Text("/rows/0/cells/0"), name);
  EXPECT_EQ(table.Text("/rows/0/object/kind"), "PartialObjectMetadata");
  EXPECT_EQ(table.Text("/rows/0/object/metadata/name"), name);
  const HttpAnswer partial = GetAs(PathOf("jobconfigs", name),
                                   "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io");
  EXPECT_EQ(partial.Text("/kind"), "PartialObjectMetadata");
  EXPECT_EQ(partial.Text("/spec"), "");
  EXPECT_EQ(GetAs(PathOf("jobconfigs", name), "text/html").status, 406);
}

TEST(Lists, ACollectionIsDeletedBySelector) {
  const std::string mark = FreshName("sweep");
  const std::string gone = Made("\"labels\":{\"mark\":\"" + mark + "\"}");
  const std::string kept = Made();
  EXPECT_EQ(Do("DELETE", PathOf("jobconfigs") + "?labelSelector=mark=" + mark).status, 200);
  EXPECT_EQ(Do("GET", PathOf("jobconfigs", gone)).status, 404);
  EXPECT_EQ(Do("GET", PathOf("jobconfigs", kept)).status, 200);
}

TEST(BadInput, IsRefusedWithAReason) {
  const std::string config = JobConfigText("x");
  struct Row {
    std::string body;
    std::string type;
    int status;
    const char* reason;
    const char* because;
  };
  const Row rows[] = {
      {R"({"kind":)", "application/json", 400, "BadRequest", "half a document"},
      {"[]", "application/json", 400, "BadRequest", "no object"},
      {std::string("{\"kind\":\"\0\"}", 13), "application/json", 400, "BadRequest", "NUL"},
      {"{\"kind\":\"\xff\"}", "application/json", 400, "BadRequest", "not UTF-8"},
      {std::string(100'000, '['), "application/json", 400, "BadRequest", "nested too deep"},
      {config, "text/csv", 415, "UnsupportedMediaType", "no format of ours"},
      {std::string(3 * 1024 * 1024 + 1, ' '), "application/json", 413, "RequestEntityTooLarge",
       "more than is taken"},
  };
  for (const Row& row : rows) {
    const HttpAnswer answer = Do("POST", PathOf("jobconfigs"), row.body, row.type);
    EXPECT_EQ(answer.status, row.status) << row.because << ": " << answer.body << answer.error;
    EXPECT_EQ(answer.Text("/reason"), row.reason) << row.because;
    EXPECT_EQ(answer.Text("/kind"), "Status") << row.because;
  }
}

TEST(BadInput, ASlipOfKindOrPathIsRefusedAsForBuiltInKinds) {
  if (!ContractServerIsOurs()) {
    GTEST_SKIP() << "of a CRD, an API server says 422 to the one, and takes the other";
  }
  const HttpAnswer answer = Do("POST", PathOf("jobconfigs"), JobText("x"));
  EXPECT_EQ(answer.status, 400) << answer.body;
  EXPECT_EQ(answer.Text("/reason"), "BadRequest");
  EXPECT_EQ(Do("POST", PathOf("jobconfigs", "x"), JobConfigText("x")).status, 405);
}

TEST(BadInput, AnInvalidObjectNamesAllItsMistakes) {
  std::string body = JobConfigText("Not_A_Name");
  body.replace(body.find("\"Allow\""), 7, "\"Perhaps\"");
  const HttpAnswer answer = Do("POST", PathOf("jobconfigs"), body);
  EXPECT_EQ(answer.status, 422) << answer.body;
  EXPECT_EQ(answer.Text("/reason"), "Invalid");
  EXPECT_EQ(answer.Text("/details/kind"), "JobConfig");
  EXPECT_NE(answer.body.find("metadata.name"), std::string::npos) << answer.body;
  EXPECT_NE(answer.body.find("spec.concurrency.policy"), std::string::npos) << answer.body;
}

TEST(Discovery, NamesTheGroupAndItsResources) {
  EXPECT_NE(Do("GET", "/apis").body.find("\"" + ContractGroup() + "\""), std::string::npos);
  const HttpAnswer list = Do("GET", "/apis/" + ContractGroup() + "/v1alpha1");
  EXPECT_EQ(list.Text("/kind"), "APIResourceList");
  for (const char* word :
       {"\"jobconfigs\"", "\"jobs\"", "\"tasks\"", "\"jobs/status\"", "\"jc\""}) {
    EXPECT_NE(list.body.find(word), std::string::npos) << word;
  }
  const HttpAnswer all = GetAs("/apis",
                               "application/json;g=apidiscovery.k8s.io;v=v2;"
                               "as=APIGroupDiscoveryList,application/json");
  EXPECT_EQ(all.Text("/kind"), "APIGroupDiscoveryList");
  EXPECT_EQ(Do("GET", "/version").Text("/major"), "1");
  EXPECT_EQ(Do("GET", "/readyz").body, "ok");
  const HttpAnswer openapi = Do("GET", "/openapi/v3");
  EXPECT_NE(openapi.body.find("apis/" + ContractGroup() + "/v1alpha1"), std::string::npos);
}

}  // namespace
}  // namespace detent::testing
