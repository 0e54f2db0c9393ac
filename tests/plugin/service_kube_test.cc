#include "detent/services/kube.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <future>
#include <optional>

#include "detent/sdk/kube.h"
#include "tests/plugin/kube_instance.h"

namespace detent::testing {
namespace {

// Holds its texts, so that a table's row can be written in one line.
struct Asked {
  uint32_t verb = DETENT_KUBE_GET;
  std::string gvr = "v1/things", ns = "ns", name, query, content_type, body;
  detent_task task = 0;
  uint32_t flags = 0, timeout_ms = 0;

  detent_kube_request Get() const {
    detent_kube_request request{};
    request.size = sizeof request;
    request.verb = verb;
    request.gvr = View(gvr);
    request.namespace_ = View(ns);
    request.name = View(name);
    request.query = View(query);
    request.content_type = View(content_type);
    request.body = Bytes(body);
    request.task = task;
    request.flags = flags;
    request.timeout_ms = timeout_ms;
    return request;
  }
};

class ServiceKube : public KubeInstance {
 protected:
  detent_status Begin(const Asked& asked, detent_op* out = nullptr) {
    const detent_kube_request request = asked.Get();
    return Kube().request(inst(), &request, Answers::Callback, &answers_, out);
  }
  detent_status BeginEnsure(const Asked& asked, detent_op* out = nullptr) {
    const detent_kube_request request = asked.Get();
    return Kube().ensure(inst(), &request, Answers::Callback, &answers_, out);
  }
  Told Do(const Asked& asked) {
    EXPECT_EQ(Begin(asked), DETENT_OK);
    return answers_.Next();
  }
  detent_status LetGo(const std::string& name, uint32_t flags = 0, bool with_callback = true) {
    const std::string gvr = "v1/things", ns = "ns";
    detent_kube_object object{};
    object.size = sizeof object;
    object.flags = flags;
    object.gvr = View(gvr);
    object.namespace_ = View(ns);
    object.name = View(name);
    return Kube().let_go(inst(), &object, with_callback ? Answers::Callback : nullptr, &answers_);
  }
  detent_status BeginFind(const std::string& api_version, const std::string& kind,
                          uint32_t fresh = 0) {
    const detent_str version = View(api_version), name = View(kind);
    return Kube().find_kind(inst(), &version, &name, fresh, Answers::Callback, &answers_);
  }
  Told FindKind(const std::string& api_version, const std::string& kind, uint32_t fresh = 0) {
    EXPECT_EQ(BeginFind(api_version, kind, fresh), DETENT_OK);
    return answers_.Next();
  }
  static Asked Of(uint32_t verb, const std::string& name = "", const std::string& body = "") {
    Asked asked;
    asked.verb = verb;
    asked.name = name;
    asked.body = body;
    return asked;
  }
};

TEST_F(ServiceKube, CarriesEachVerbToTheServer) {
  const Told made = Do(Of(DETENT_KUBE_CREATE, "", R"({"metadata":{"name":"a"},"spec":1})"));
  EXPECT_EQ(made.code, DETENT_OK) << made.message;
  EXPECT_EQ(made.http_status, 201u);
  EXPECT_TRUE(made.on_strand);
  EXPECT_EQ(Do(Of(DETENT_KUBE_GET, "a")).body, made.body);
  Asked patch = Of(DETENT_KUBE_PATCH, "a", R"({"spec":2})");
  patch.content_type = "application/merge-patch+json";
  EXPECT_NE(Do(patch).body.find("\"spec\":2"), std::string::npos);
  EXPECT_EQ(Do(Of(DETENT_KUBE_UPDATE, "a", R"({"spec":3})")).code, DETENT_OK);
  Asked list = Of(DETENT_KUBE_LIST);
  list.query = "labelSelector=x%3Dy&limit=5";
  EXPECT_NE(Do(list).body.find("\"items\""), std::string::npos);
  EXPECT_EQ(Do(Of(DETENT_KUBE_DELETE, "a")).code, DETENT_OK);
  EXPECT_EQ(server_.size(), 0u);
  EXPECT_EQ(server_.Count("GET", "labelSelector=x=y&limit=5"), 1);
  EXPECT_EQ(server_.Count("POST", "fieldManager=detent"), 1);
  EXPECT_EQ(server_.Count("PATCH", "fieldManager=detent"), 1);
  EXPECT_EQ(server_.Count("PUT", "fieldManager=detent"), 1);
  EXPECT_EQ(server_.Count("DELETE", "fieldManager"), 0);
}

TEST_F(ServiceKube, SaysInItsOwnWordsWhatTheServerSaid) {
  const struct {
    int status;
    const char* reason;
    detent_status code;
  } rows[] = {
      {404, "NotFound", DETENT_E_NOT_FOUND},
      {410, "Gone", DETENT_E_NOT_FOUND},
      {409, "AlreadyExists", DETENT_E_ALREADY_EXISTS},
      {409, "Conflict", DETENT_E_CONFLICT},
      {400, "BadRequest", DETENT_E_INVALID},
      {422, "Invalid", DETENT_E_INVALID},
      {401, "Unauthorized", DETENT_E_DENIED},
      {403, "Forbidden", DETENT_E_DENIED},
      {429, "TooManyRequests", DETENT_E_BUSY},
      {500, "InternalError", DETENT_E_UNAVAILABLE},
      {503, "ServiceUnavailable", DETENT_E_UNAVAILABLE},
  };
  for (const auto& row : rows) {
    const ScopedHook hook(server_, [&](const ApiCall&) -> std::optional<ApiAnswer> {
      return Refuse(row.status, row.reason, "because");
    });
    const Told told = Do(Of(DETENT_KUBE_CREATE, "", "{}"));
    EXPECT_EQ(told.code, row.code) << row.status;
    EXPECT_EQ(told.http_status, static_cast<uint32_t>(row.status));
    EXPECT_EQ(told.reason, row.reason);
    EXPECT_EQ(told.message, "because");
    EXPECT_NE(told.body.find(R"("kind":"Status")"), std::string::npos) << "its causes are in it";
  }
  const ScopedHook hook(server_, [](const ApiCall&) -> std::optional<ApiAnswer> {
    return Refuse(422, "Invalid", std::string(70'000, 'x'));
  });
  EXPECT_EQ(Do(Of(DETENT_KUBE_CREATE, "", "{}")).body, "");
  server_.GoAway();
  const Told told = Do(Of(DETENT_KUBE_GET, "a"));
  EXPECT_EQ(told.code, DETENT_E_UNAVAILABLE);
  EXPECT_FALSE(told.message.empty());
}

TEST_F(ServiceKube, RefusesAtOnceWhatCannotBeSent) {
  const auto with = [](Asked asked, auto&& change) {
    change(asked);
    return asked;
  };
  const Asked get = Of(DETENT_KUBE_GET, "a");
  const struct {
    Asked asked;
    detent_status code;
    const char* because;
  } rows[] = {
      {with(get, [](Asked& a) { a.verb = 0; }), DETENT_E_UNSUPPORTED, "no verb"},
      {with(get, [](Asked& a) { a.verb = 8; }), DETENT_E_UNSUPPORTED, "an unknown verb"},
      {with(get, [](Asked& a) { a.flags = 8; }), DETENT_E_UNSUPPORTED, "an unknown flag"},
      {with(get, [](Asked& a) { a.gvr = "things"; }), DETENT_E_INVALID, "no version"},
      {with(get, [](Asked& a) { a.name = ""; }), DETENT_E_INVALID, "a get of nothing"},
      {with(get, [](Asked& a) { a.name = ".."; }), DETENT_E_INVALID, "a step up"},
      {with(get, [](Asked& a) { a.name = "a/b"; }), DETENT_E_INVALID, "two steps"},
      {with(get, [](Asked& a) { a.name = "a\xFF"; }), DETENT_E_INVALID, "no UTF-8"},
      {with(get, [](Asked& a) { a.name = std::string("a\0b", 3); }), DETENT_E_INVALID, "a NUL"},
      {with(get, [](Asked& a) { a.name.assign(300, 'a'); }), DETENT_E_INVALID, "too long"},
      {with(get, [](Asked& a) { a.ns = "N/S"; }), DETENT_E_INVALID, "no namespace"},
      {with(get, [](Asked& a) { a.query = "a b"; }), DETENT_E_INVALID, "a query with a space"},
      {with(get, [](Asked& a) { a.query = "?a=b"; }), DETENT_E_INVALID, "with its mark"},
      {with(get, [](Asked& a) { a.query = "a=b#c"; }), DETENT_E_INVALID, "with a fragment"},
      {with(get, [](Asked& a) { a.query.assign(9000, 'a'); }), DETENT_E_TOO_LARGE, "too long"},
      {with(get, [](Asked& a) { a.query = "a=b&watch=1"; }), DETENT_E_UNSUPPORTED, "a watch"},
      {with(get, [](Asked& a) { a.task = 12345; }), DETENT_E_STALE, "nobody's task"},
      {Of(DETENT_KUBE_LIST, "a"), DETENT_E_INVALID, "a list of one"},
      {Of(DETENT_KUBE_CREATE, "a", "{}"), DETENT_E_INVALID, "the body has the name"},
      {with(Of(DETENT_KUBE_CREATE, "", "{}"), [](Asked& a) { a.gvr = "v1/pods/eviction"; }),
       DETENT_E_INVALID, "a subresource of nothing"},
      {Of(DETENT_KUBE_PATCH, "a", "{}"), DETENT_E_INVALID, "which kind of patch"},
      {with(Of(DETENT_KUBE_PATCH, "a", "{}"), [](Asked& a) { a.content_type = "a\r\nb: c"; }),
       DETENT_E_INVALID, "a header smuggled in"},
      {Of(DETENT_KUBE_UPDATE, "a", std::string((3u << 20) + 1, 'x')), DETENT_E_TOO_LARGE,
       "over 3 MiB"},
  };
  for (const auto& row : rows) EXPECT_EQ(Begin(row.asked), row.code) << row.because;
  const detent_kube_request request = get.Get();
  EXPECT_EQ(Kube().request(inst(), &request, nullptr, nullptr, nullptr), DETENT_E_INVALID);
  EXPECT_EQ(Kube().request(inst(), nullptr, Answers::Callback, &answers_, nullptr),
            DETENT_E_INVALID);
  EXPECT_EQ(Kube().request(inst() + 1, &request, Answers::Callback, &answers_, nullptr),
            DETENT_E_STALE);
  EXPECT_EQ(server_.calls().size(), 0u);
  EXPECT_EQ(answers_.count(), 0u);
}

TEST_F(ServiceKube, KnowsTheFlags) {
  Asked asked = Of(DETENT_KUBE_CREATE, "", R"({"metadata":{"name":"a"}})");
  asked.flags = DETENT_KUBE_DRY_RUN | DETENT_KUBE_METADATA;
  asked.query = "fieldValidation=Strict";
  std::string head;
  const ScopedHook hook(server_, [&](const ApiCall& call) -> std::optional<ApiAnswer> {
    head = call.head;
    return std::nullopt;
  });
  EXPECT_EQ(Do(asked).code, DETENT_OK);
  EXPECT_EQ(server_.size(), 0u);
  EXPECT_NE(head.find("fieldValidation=Strict&dryRun=All&fieldManager=detent"), std::string::npos)
      << head;
  EXPECT_NE(head.find("as=PartialObjectMetadata;"), std::string::npos) << head;
  Asked list = Of(DETENT_KUBE_LIST);
  list.flags = DETENT_KUBE_METADATA;
  Do(list);
  EXPECT_NE(head.find("as=PartialObjectMetadataList;"), std::string::npos) << head;
}

TEST_F(ServiceKube, ChangesNothingOnceTheHostIsDeposed) {
  Asked asked = Of(DETENT_KUBE_CREATE, "", "{}");
  asked.task = StartTask(1);
  may_write_ = false;
  EXPECT_EQ(BeginEnsure(asked), DETENT_OK);
  const Told told = answers_.Next();
  EXPECT_EQ(told.code, DETENT_E_FENCED) << told.message;
  EXPECT_EQ(told.reason, "Deposed");
  EXPECT_EQ(Do(Of(DETENT_KUBE_DELETE, "a")).code, DETENT_E_FENCED);
  EXPECT_EQ(Do(Of(DETENT_KUBE_GET, "a")).code, DETENT_E_NOT_FOUND) << "it may read";
  Asked tried = Of(DETENT_KUBE_CREATE, "", R"({"kind":"Thing","metadata":{"name":"b"}})");
  tried.flags = DETENT_KUBE_DRY_RUN;
  EXPECT_NE(Do(tried).code, DETENT_E_FENCED) << "it may try out";
  EXPECT_EQ(server_.Count("POST", ""), 1) << "the one that was tried out";
  EXPECT_EQ(server_.Count("DELETE", ""), 0);
}

TEST_F(ServiceKube, MarksWhatIsCreatedForATask) {
  const detent_task task = StartTask(3, "job-0-3");
  Asked asked = Of(DETENT_KUBE_CREATE, "", R"({"kind":"Thing","metadata":{"generateName":"x"}})");
  asked.task = task;
  const Told told = Do(asked);  // From another thread than the strand.
  ASSERT_EQ(told.code, DETENT_OK) << told.message;
  const auto made = ReadTracked(told.body);
  ASSERT_TRUE(made);
  EXPECT_EQ(made->name, "job-0-3");
  EXPECT_EQ(made->task_key, "uid.0.3");
  EXPECT_EQ(made->tracked_by, "host-1");
  EXPECT_EQ(made->finalizers, (std::vector<std::string>{"detent.dev/task-tracking"}));
  EXPECT_NE(told.body.find(R"("execution.detent.dev/job":"job")"), std::string::npos);
  EXPECT_NE(told.body.find(R"("execution.detent.dev/job-uid":"uid")"), std::string::npos);
  asked.body = R"({"metadata":{"labels":5}})";
  const Told bad = Do(asked);
  EXPECT_EQ(bad.code, DETENT_E_INVALID);
  EXPECT_EQ(bad.message, "metadata.labels: must be an object");
  EXPECT_EQ(server_.size(), 1u);
  asked = Of(DETENT_KUBE_GET, "job-0-3");
  asked.task = task;
  EXPECT_EQ(Do(asked).code, DETENT_OK) << "other verbs may say the task, too";
}

TEST_F(ServiceKube, EnsuresOnceWhatIsAskedForTwice) {
  Asked asked = Of(DETENT_KUBE_CREATE, "", R"({"spec":1})");
  asked.task = StartTask(1);
  OnStrand([&] { EXPECT_EQ(BeginEnsure(asked), DETENT_OK); });
  const Told first = answers_.Next();
  ASSERT_EQ(first.code, DETENT_OK) << first.message;
  EXPECT_EQ(first.value, 0u);
  EXPECT_EQ(BeginEnsure(asked), DETENT_OK);
  const Told second = answers_.Next();
  EXPECT_EQ(second.code, DETENT_OK);
  EXPECT_EQ(second.value, 1u) << "adopted";
  EXPECT_EQ(second.body, first.body);
  server_.Put(ThingPath("job-0-1"), "{}");
  EXPECT_EQ(BeginEnsure(asked), DETENT_OK);
  const Told taken = answers_.Next();
  EXPECT_EQ(taken.code, DETENT_E_ALREADY_EXISTS);
  EXPECT_EQ(taken.reason, "NameTaken");
}

TEST_F(ServiceKube, EnsuresOnlyCreationsForATask) {
  Asked asked = Of(DETENT_KUBE_CREATE, "", "{}");
  EXPECT_EQ(BeginEnsure(asked), DETENT_E_INVALID) << "no task";
  asked.task = StartTask(1);
  asked.flags = DETENT_KUBE_DRY_RUN;
  EXPECT_EQ(BeginEnsure(asked), DETENT_E_UNSUPPORTED);
  asked.flags = 0;
  asked.verb = DETENT_KUBE_UPDATE;
  asked.name = "a";
  EXPECT_EQ(BeginEnsure(asked), DETENT_E_INVALID) << "no creation";
  asked.verb = DETENT_KUBE_CREATE;
  asked.gvr = "v1/pods/eviction";
  EXPECT_EQ(BeginEnsure(asked), DETENT_E_INVALID) << "an eviction is no object";
  ReleaseTask(1);
  asked = Of(DETENT_KUBE_CREATE, "", "{}");
  asked.task = 1;
  EXPECT_EQ(BeginEnsure(asked), DETENT_E_STALE);
}

TEST_F(ServiceKube, LetsGoOfWhatItMade) {
  Asked asked = Of(DETENT_KUBE_CREATE, "", "{}");
  asked.task = StartTask(1);
  BeginEnsure(asked);
  ASSERT_EQ(answers_.Next().code, DETENT_OK);
  EXPECT_EQ(LetGo("job-0-1"), DETENT_OK);
  EXPECT_EQ(answers_.Next().code, DETENT_OK);
  const auto left = ReadTracked(DumpJson(server_.Get(ThingPath("job-0-1"))));
  EXPECT_EQ(left->tracked_by, "");
  EXPECT_TRUE(left->finalizers.empty());
  EXPECT_EQ(LetGo("job-0-1", DETENT_KUBE_REMOVE, false), DETENT_OK) << "nobody wants to know";
  EXPECT_TRUE(server_.WaitFor([&] { return server_.size() == 0; }));
  EXPECT_EQ(LetGo(""), DETENT_E_INVALID);
  EXPECT_EQ(LetGo("a", 4), DETENT_E_UNSUPPORTED);
}

TEST_F(ServiceKube, LetsGoOfTheRecordOfManagersOfWhatHasEnded) {
  for (const uint32_t flags : {0u, DETENT_KUBE_ENDED}) {
    const std::string name = "job-0-" + std::to_string(flags + 1);
    Asked asked = Of(DETENT_KUBE_CREATE, "", "{}");
    asked.task = StartTask(flags + 1, name);
    BeginEnsure(asked);
    ASSERT_EQ(answers_.Next().code, DETENT_OK);
    EXPECT_EQ(LetGo(name, flags), DETENT_OK);
    EXPECT_EQ(answers_.Next().code, DETENT_OK);
    // This server takes the list as it is given.
    const Json left = server_.Get(ThingPath(name));
    EXPECT_EQ(left.At("/metadata/managedFields") != nullptr, flags == DETENT_KUBE_ENDED);
  }
}

TEST_F(ServiceKube, HasALimitOfRequestsInFlight) {
  server_.Hold();
  for (int i = 0; i < 64; ++i) EXPECT_EQ(Begin(Of(DETENT_KUBE_GET, "a")), DETENT_OK) << i;
  EXPECT_EQ(Begin(Of(DETENT_KUBE_GET, "a")), DETENT_E_BUSY);
  EXPECT_EQ(LetGo("a"), DETENT_OK) << "which is not counted";
  server_.LetPass();
  for (int i = 0; i < 65; ++i) answers_.Next();
  EXPECT_EQ(Begin(Of(DETENT_KUBE_GET, "a")), DETENT_OK);
  EXPECT_EQ(answers_.Next().code, DETENT_E_NOT_FOUND);
}

TEST_F(ServiceKube, CancelsARequestWhoseCallbackStillComes) {
  server_.Hold();
  detent_op op = 0;
  ASSERT_EQ(Begin(Of(DETENT_KUBE_GET, "a"), &op), DETENT_OK);
  EXPECT_EQ(Kube().cancel(inst(), op), DETENT_OK);
  const Told told = answers_.Next();
  EXPECT_EQ(told.code, DETENT_E_CANCELLED);
  EXPECT_EQ(told.reason, "Cancelled");
  EXPECT_EQ(Kube().cancel(inst(), op), DETENT_E_STALE);
  Asked asked = Of(DETENT_KUBE_CREATE, "", "{}");
  asked.task = StartTask(1);
  ASSERT_EQ(BeginEnsure(asked, &op), DETENT_OK);
  EXPECT_EQ(Kube().cancel(inst(), op), DETENT_OK);
  EXPECT_EQ(answers_.Next().code, DETENT_E_CANCELLED);
  server_.LetPass();
}

TEST_F(ServiceKube, AnswersTooLargeForAnAnswerThatIs) {
  const ScopedHook hook(server_, [](const ApiCall&) -> std::optional<ApiAnswer> {
    return ApiAnswer{200, std::string((32u << 20) + 1, ' '), false};
  });
  const Told told = Do(Of(DETENT_KUBE_GET, "a"));
  EXPECT_EQ(told.code, DETENT_E_TOO_LARGE);
  EXPECT_NE(told.message.find("32 MiB"), std::string::npos) << told.message;
}

TEST_F(ServiceKube, AnswersEverythingWhenTheInstanceCloses) {
  server_.Hold();
  const detent_instance before = inst();
  EXPECT_EQ(Begin(Of(DETENT_KUBE_GET, "a")), DETENT_OK);
  EXPECT_EQ(LetGo("b"), DETENT_OK);
  Close();
  EXPECT_EQ(answers_.Next().code, DETENT_E_CLOSING);
  EXPECT_EQ(answers_.Next().code, DETENT_E_CLOSING);
  server_.LetPass();
  EXPECT_EQ(answers_.count(), 2u);
  const detent_kube_request request = Of(DETENT_KUBE_GET, "a").Get();
  EXPECT_EQ(Kube().request(before, &request, Answers::Callback, &answers_, nullptr),
            DETENT_E_STALE);
}

constexpr const char* kThings = R"([
  {"name":"things","namespaced":true,"kind":"Thing","verbs":["get","create"]},
  {"name":"things/status","namespaced":true,"kind":"Thing","verbs":["patch"]},
  {"name":"clusterthings","namespaced":false,"kind":"ClusterThing","verbs":["get"]}])";

TEST_F(ServiceKube, FindsWhatTheClusterServesOfAKind) {
  server_.Install("acme.com/v1", kThings);
  const Told found = FindKind("acme.com/v1", "Thing");
  EXPECT_EQ(found.code, DETENT_OK) << found.message;
  EXPECT_TRUE(found.on_strand);
  EXPECT_EQ(found.body, R"({"gvr":"acme.com/v1/things","namespaced":true,"verbs":["create","get"],)"
                        R"("subresources":["status"]})");
  EXPECT_EQ(FindKind("acme.com/v1", "ClusterThing").body,
            R"({"gvr":"acme.com/v1/clusterthings","namespaced":false,"verbs":["get"],)"
            R"("subresources":[]})");
  const Told missing = FindKind("acme.com/v1", "thing");
  EXPECT_EQ(missing.code, DETENT_E_NOT_FOUND);
  EXPECT_EQ(missing.reason, "NotFound");
  EXPECT_EQ(missing.message,
            "the server has no kind 'thing' in acme.com/v1 (did you mean 'Thing'?)");
  EXPECT_EQ(missing.body, "");
  const Told wrong = FindKind("acme.com", "Thing");
  EXPECT_EQ(wrong.code, DETENT_E_INVALID);
  EXPECT_NE(wrong.message.find("'acme.com' is no apiVersion"), std::string::npos) << wrong.message;
  EXPECT_EQ(server_.calls().size(), 1u);
}

TEST_F(ServiceKube, FindsAKindAnewWhenItIsToldTo) {
  server_.Install("acme.com/v1", kThings);
  EXPECT_EQ(FindKind("acme.com/v1", "Thing").code, DETENT_OK);
  server_.Uninstall("acme.com/v1");
  EXPECT_EQ(FindKind("acme.com/v1", "Thing").code, DETENT_OK) << "nobody said that it is gone";
  EXPECT_EQ(FindKind("acme.com/v1", "Thing", 1).code, DETENT_E_NOT_FOUND);
  server_.Install("acme.com/v1", kThings);
  EXPECT_EQ(FindKind("acme.com/v1", "Thing").code, DETENT_E_NOT_FOUND) << "not so soon";
  EXPECT_EQ(FindKind("acme.com/v1", "Thing", 1).code, DETENT_OK);
  std::promise<bool> known;
  door_.discovery().Find("acme.com/v1", "ClusterThing",
                         [&](const Result<KubeKind>& kind) { known.set_value(kind.has_value()); });
  EXPECT_TRUE(known.get_future().get());
  EXPECT_EQ(server_.Count("GET", "/apis/acme.com/v1"), 3) << "one memory for all";
}

TEST_F(ServiceKube, SaysWhyAKindCouldNotBeLookedFor) {
  {
    const ScopedHook hook(server_, [](const ApiCall&) -> std::optional<ApiAnswer> {
      return Refuse(403, "Forbidden", "you may not");
    });
    const Told denied = FindKind("apps/v1", "Deployment");
    EXPECT_EQ(denied.code, DETENT_E_DENIED);
    EXPECT_EQ(denied.message, "ask for the kinds of apps/v1: you may not");
  }
  server_.GoAway();
  const Told away = FindKind("apps/v1", "Deployment");
  EXPECT_EQ(away.code, DETENT_E_UNAVAILABLE);
  EXPECT_FALSE(away.message.empty());
}

TEST_F(ServiceKube, RefusesAtOnceToFindAKindForNobody) {
  const detent_str version = View("v1"), kind = View("Pod");
  const auto find = Kube().find_kind;
  EXPECT_EQ(find(inst(), &version, &kind, 0, nullptr, nullptr), DETENT_E_INVALID);
  EXPECT_EQ(find(inst(), nullptr, &kind, 0, Answers::Callback, &answers_), DETENT_E_INVALID);
  EXPECT_EQ(find(inst(), &version, nullptr, 0, Answers::Callback, &answers_), DETENT_E_INVALID);
  EXPECT_EQ(find(inst(), &version, &kind, 2, Answers::Callback, &answers_), DETENT_E_INVALID);
  EXPECT_EQ(find(inst() + 1, &version, &kind, 0, Answers::Callback, &answers_), DETENT_E_STALE);
  EXPECT_EQ(server_.calls().size(), 0u);
  EXPECT_EQ(answers_.count(), 0u);
}

TEST_F(ServiceKube, DoesNotCountThoseWhoLookForAKind) {
  server_.Install("acme.com/v1", kThings);
  server_.Hold();
  for (int i = 0; i < 300; ++i) EXPECT_EQ(BeginFind("acme.com/v1", "Thing"), DETENT_OK) << i;
  for (int i = 0; i < 64; ++i) EXPECT_EQ(Begin(Of(DETENT_KUBE_GET, "a")), DETENT_OK) << i;
  EXPECT_EQ(Begin(Of(DETENT_KUBE_GET, "a")), DETENT_E_BUSY);
  EXPECT_EQ(BeginFind("acme.com/v1", "Thing"), DETENT_OK);
  server_.LetPass();
  int found = 0;
  for (int i = 0; i < 365; ++i) found += answers_.Next().code == DETENT_OK ? 1 : 0;
  EXPECT_EQ(found, 301);
  EXPECT_EQ(server_.Count("GET", "/apis/acme.com/v1"), 1);
  EXPECT_EQ(Begin(Of(DETENT_KUBE_GET, "a")), DETENT_OK);
  EXPECT_EQ(answers_.Next().code, DETENT_E_NOT_FOUND);
}

TEST_F(ServiceKube, AnswersThoseWhoLookForAKindWhenTheInstanceCloses) {
  server_.Hold();
  const detent_instance before = inst();
  EXPECT_EQ(BeginFind("acme.com/v1", "Thing"), DETENT_OK);
  EXPECT_EQ(BeginFind("acme.com/v1", "Thing", 1), DETENT_OK);
  Close();
  EXPECT_EQ(answers_.Next().code, DETENT_E_CLOSING);
  EXPECT_EQ(answers_.Next().code, DETENT_E_CLOSING);
  server_.LetPass();
  std::promise<void> through;
  door_.discovery().Find("acme.com/v1", "Thing",
                         [&](const Result<KubeKind>&) { through.set_value(); });
  through.get_future().wait();
  EXPECT_EQ(answers_.count(), 2u);
  const detent_str version = View("v1"), kind = View("Pod");
  EXPECT_EQ(Kube().find_kind(before, &version, &kind, 0, Answers::Callback, &answers_),
            DETENT_E_STALE);
}

// An executor's way to it.
class SdkFindsKinds : public ServiceKube {
 protected:
  using Kind = sdk::Result<sdk::KubeKind>;

  // Asks on the strand; nullopt: the host refused at once, with refused_.
  std::optional<Kind> Find(const detent_host* host, const std::string& kind) {
    std::promise<Kind> answer;
    std::optional<sdk::KubeCall> call;
    OnStrand([&] {
      auto begun = sdk::KubeFindKind(sdk::Host(host, inst()), "acme.com/v1", kind, false,
                                     [&](const Kind& found) { answer.set_value(found); });
      if (begun) {
        call = *std::move(begun);
      } else {
        refused_ = begun.status().code();
      }
    });
    if (!call) return std::nullopt;
    Kind found = answer.get_future().get();
    OnStrand([&] {
      EXPECT_FALSE(call->active());
      call.reset();
    });
    return found;
  }
  detent_status refused_ = DETENT_OK;
};

TEST_F(SdkFindsKinds, AsValues) {
  server_.Install("acme.com/v1", kThings);
  const auto found = Find(HostTable(), "Thing");
  ASSERT_TRUE(found && *found) << found->status().message();
  const sdk::KubeKind& kind = **found;
  EXPECT_EQ(kind.gvr, "acme.com/v1/things");
  EXPECT_TRUE(kind.namespaced);
  EXPECT_EQ(kind.verbs, (std::vector<std::string>{"create", "get"}));
  EXPECT_TRUE(kind.Can("create"));
  EXPECT_FALSE(kind.Can("delete"));
  EXPECT_TRUE(kind.HasSubresource("status"));
  EXPECT_FALSE(kind.HasSubresource("scale"));
  const auto missing = Find(HostTable(), "Thong");
  ASSERT_TRUE(missing && !*missing);
  EXPECT_EQ(missing->status().code(), DETENT_E_NOT_FOUND);
  EXPECT_EQ(missing->status().message(),
            "the server has no kind 'Thong' in acme.com/v1 (did you mean 'Thing'?)");
}

TEST_F(SdkFindsKinds, NotFromAHostThatIsOlder) {
  static detent_kube older_kube;
  older_kube = Kube();
  older_kube.size = offsetof(detent_kube, find_kind);
  detent_host older = *HostTable();
  older.service = [](detent_instance, const char*) -> const void* { return &older_kube; };
  EXPECT_FALSE(Find(&older, "Thing").has_value());
  EXPECT_EQ(refused_, DETENT_E_UNSUPPORTED);
  EXPECT_EQ(server_.calls().size(), 0u);
}

TEST_F(SdkFindsKinds, AndCallsNobodyWhoHasLetGoOfTheCall) {
  server_.Install("acme.com/v1", kThings);
  server_.Hold();
  std::atomic<bool> called{false};
  OnStrand([&] {
    auto begun = sdk::KubeFindKind(sdk::Host(HostTable(), inst()), "acme.com/v1", "Thing", false,
                                   [&](const Kind&) { called = true; });
    ASSERT_TRUE(begun);
    const sdk::KubeCall dropped = *std::move(begun);
    EXPECT_TRUE(dropped.active());
  });
  server_.LetPass();
  EXPECT_EQ(FindKind("acme.com/v1", "Thing").code, DETENT_OK);
  EXPECT_FALSE(called);
}

TEST_F(ServiceKube, IsThereOnlyWhereThereIsACluster) {
  EXPECT_NE(HostTable()->service(inst(), DETENT_SVC_KUBE), nullptr);
  EXPECT_EQ(HostTable()->service(0, DETENT_SVC_KUBE), nullptr);
  EXPECT_EQ(HostTable()->service(0, DETENT_SVC_WATCH), nullptr);
}

}  // namespace
}  // namespace detent::testing
