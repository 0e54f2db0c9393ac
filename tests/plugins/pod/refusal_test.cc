// What a start comes to when the API server does not make the Pod.

#include "tests/plugins/pod/pod_fixture.h"

namespace detent::testing {
namespace {

class PodRefusal : public PodRun {};

struct StartRow {
  uint32_t http_status;
  detent_status from;  // of detent.kube/1
  const char* message;
  detent_status code;
  const char* reason;
  const char* because;
};

TEST_F(PodRefusal, IsAnsweredWithWhatTheServerSaid) {
  const StartRow rows[] = {
      {422, DETENT_E_INVALID, "Pod is invalid: spec.x: Required value", DETENT_E_INVALID,
       "InvalidPod", "the attempt has failed, and another would, too"},
      {400, DETENT_E_INVALID, "unknown field", DETENT_E_INVALID, "InvalidPod", "likewise"},
      {0, DETENT_E_TOO_LARGE, "more than 3 MiB", DETENT_E_INVALID, "PodTooLarge", "likewise"},
      {403, DETENT_E_DENIED, "pods is forbidden: exceeded quota: q, requested: pods=1",
       DETENT_E_BUSY, "QuotaExceeded", "others end and make room"},
      {403, DETENT_E_DENIED,
       "unable to create new content in namespace x because it is being terminated",
       DETENT_E_DENIED, "NamespaceTerminating", "it never comes back"},
      {403, DETENT_E_DENIED, "User \"u\" cannot create resource \"pods\"", DETENT_E_UNAVAILABLE,
       "CreatePodsForbidden", "rights can be granted"},
      {401, DETENT_E_DENIED, "Unauthorized", DETENT_E_UNAVAILABLE, "Unauthorized",
       "credentials can be renewed"},
      {404, DETENT_E_NOT_FOUND, "namespaces \"x\" not found", DETENT_E_UNAVAILABLE,
       "NamespaceNotFound", "it can be made"},
      {409, DETENT_E_CONFLICT, "Operation cannot be fulfilled on resourcequotas",
       DETENT_E_UNAVAILABLE, "Conflict", "quotas are counted one after the other"},
      {429, DETENT_E_BUSY, "too many requests", DETENT_E_UNAVAILABLE, "TooManyRequests",
       "the server asks for patience"},
      {500, DETENT_E_UNAVAILABLE, "etcdserver: request timed out", DETENT_E_UNAVAILABLE,
       "Unavailable", "looked for, and not there"},
      {0, DETENT_E_UNAVAILABLE, "connection refused", DETENT_E_UNAVAILABLE, "Unavailable",
       "looked for, and not there"},
      {0, DETENT_E_FENCED, "not the leader", DETENT_E_FENCED, "Refused", "the host knows"},
  };
  int number = 0;
  for (const StartRow& row : rows) {
    kube().Inject({KubeAct::kCreate, row.from, row.http_status, "", row.message});
    const std::string name = "job-" + std::to_string(number++) + "-1";
    const detent_task task = host().NewTask(name, kPlain);
    const Answer answer = After(host().Start(task));
    EXPECT_EQ(answer.code, row.code) << row.because;
    EXPECT_EQ(answer.reason, row.reason) << row.because;
    EXPECT_EQ(answer.message, row.message) << "the server's own words";
    EXPECT_TRUE(host().updates(task).empty());
  }
}

TEST_F(PodRefusal, ComesFromTheServerAsItIs) {
  server().quota["default"] = 1;
  Started("job-0-1");
  const detent_task second = host().NewTask("job-1-1", kPlain);
  Answer answer = After(host().Start(second));
  EXPECT_EQ(answer.reason, "QuotaExceeded");
  EXPECT_NE(answer.message.find("limited: pods=1"), std::string::npos) << answer.message;
  server().End("job-0-1", 0);
  answer = After(host().Start(second));
  EXPECT_EQ(answer.code, DETENT_OK) << "the same task, started again";

  server().terminating.insert("default");
  Started("job-2-1", kPlain, DETENT_E_DENIED);
  server().terminating.clear();
  server().missing.insert("default");
  Started("job-3-1", kPlain, DETENT_E_UNAVAILABLE);
}

TEST_F(PodRefusal, LetsMoreTimePassEachTime) {
  kube().Inject({KubeAct::kCreate, DETENT_E_DENIED, 403, "", "exceeded quota", false, 20});
  const detent_task task = host().NewTask("job-0-1", kPlain);
  uint32_t before = 0;
  for (int i = 0; i < 12; ++i) {
    const uint32_t pause = After(host().Start(task)).retry_after_ms;
    EXPECT_GE(pause, before);
    EXPECT_GE(pause, 750u);
    EXPECT_LE(pause, 80'000u);
    before = pause;
  }
  EXPECT_GE(before, 40'000u);
}

TEST_F(PodRefusal, WaitsAsLongAsTheServerSays) {
  KubeFault fault{KubeAct::kCreate, DETENT_E_BUSY, 429, "", "later"};
  fault.retry_after_ms = 300'000;
  kube().Inject(fault);
  EXPECT_EQ(After(host().Start(host().NewTask("job-0-1", kPlain))).retry_after_ms, 300'000u);
}

TEST_F(PodRefusal, LeavesAStrangersPodAlone) {
  ASSERT_EQ(
      server()
          .Create("default", *ParseJson(R"({"metadata":{"name":"job-0-1"},)"
                                        R"("spec":{"containers":[{"name":"c","image":"i"}]}})"))
          .status,
      201u);
  const detent_task task = host().NewTask("job-0-1", kPlain);
  const Answer answer = After(host().Start(task));
  EXPECT_EQ(answer.code, DETENT_E_ALREADY_EXISTS);
  EXPECT_EQ(answer.reason, "NameTaken");
  Release(task);
  EXPECT_EQ(Marks("job-0-1"), "free");
}

}  // namespace
}  // namespace detent::testing
