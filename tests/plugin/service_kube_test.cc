#include "detent/services/kube.h"

#include <gtest/gtest.h>

#include <atomic>

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
  EXPECT_EQ(LetGo("a", 2), DETENT_E_UNSUPPORTED);
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

TEST_F(ServiceKube, IsThereOnlyWhereThereIsACluster) {
  EXPECT_NE(HostTable()->service(inst(), DETENT_SVC_KUBE), nullptr);
  EXPECT_EQ(HostTable()->service(0, DETENT_SVC_KUBE), nullptr);
  EXPECT_EQ(HostTable()->service(0, DETENT_SVC_WATCH), nullptr);
}

}  // namespace
}  // namespace detent::testing
