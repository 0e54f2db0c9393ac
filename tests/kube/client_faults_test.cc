// What a client makes of servers that are busy, broken, slow or not who they should be.

#include <atomic>
#include <functional>
#include <future>
#include <utility>

#include "core/kube/retry.h"
#include "tests/kube/client_fixture.h"

namespace detent {
namespace {

using std::chrono::milliseconds;
using testing::Get;
using testing::KubeClientTest;
using testing::MakeIdentity;
using testing::Post;
using testing::Served;
using testing::ServedRequest;

using ClientFaults = KubeClientTest;

// Does to the first `count` requests what `fault` does, and answers the others.
testing::ServedHandler Failing(std::atomic<int>& seen, int count,
                               std::function<void(Served&)> fault) {
  return [&seen, count, fault = std::move(fault)](const ServedRequest& request,
                                                  std::shared_ptr<Served> exchange) {
    if (++seen <= count) return fault(*exchange);
    exchange->Answer(200, request.body);
  };
}

// Is asked when the client makes up its mind to try again: the hook runs then, the first time.
class HookedRandom final : public Random {
 public:
  explicit HookedRandom(std::function<void()> hook) : hook_(std::move(hook)) {}
  uint64_t Next() override {
    if (const auto hook = std::exchange(hook_, nullptr)) hook();
    return values_.Next();
  }

 private:
  std::function<void()> hook_;
  SeededRandom values_{1};
};

KubeRequest Method(const char* method, bool idempotent = false) {
  KubeRequest request = Post("/x", std::string(method) == "GET" ? "" : "{\"a\":1}");
  request.method = method;
  request.idempotent = idempotent;
  return request;
}

TEST_F(ClientFaults, RepeatOnlyWhatIsSafeToRepeat) {
  const auto status = [](int code) { return [code](Served& served) { served.Answer(code, ""); }; };
  const auto drop = [](Served& served) { served.Drop(); };
  const auto reset = [](Served& served) { served.Reset(2); };
  struct Row {
    std::function<void(Served&)> fault;
    KubeRequest request;
    int seen;  // By the server, whose first two requests fail.
    KubeOutcome outcome;
    const char* because;
  };
  const Row rows[] = {
      {status(503), Method("GET"), 3, KubeOutcome::kOk, "a read has no effect"},
      {status(500), Method("GET"), 3, KubeOutcome::kOk, "a read has no effect"},
      {status(504), Method("PATCH", true), 3, KubeOutcome::kOk, "the caller said so"},
      {status(503), Method("POST"), 1, KubeOutcome::kUnavailable, "it may have been done"},
      {status(429), Method("POST"), 3, KubeOutcome::kOk, "nothing was done"},
      {drop, Method("GET"), 3, KubeOutcome::kOk, "a read has no effect"},
      {drop, Method("DELETE"), 1, KubeOutcome::kUnavailable, "it may have been done"},
      {reset, Method("PUT", true), 3, KubeOutcome::kOk, "the caller said so"},
      {reset, Method("POST"), 1, KubeOutcome::kUnavailable, "it may have been done"},
      {status(409), Method("GET"), 1, KubeOutcome::kConflict, "the answer stands"},
      {status(422), Method("PUT", true), 1, KubeOutcome::kInvalid, "the answer stands"},
  };
  for (const Row& row : rows) {
    std::atomic<int> seen = 0;
    const auto server = Serve(Failing(seen, 2, row.fault));
    const KubeReply reply = MakeClient()->Fetch(row.request);
    EXPECT_EQ(NameOf(reply.outcome), std::string(NameOf(row.outcome)))
        << row.because << ": " << reply.message;
    EXPECT_EQ(seen, row.seen) << row.because;
    EXPECT_FALSE(reply.not_sent) << row.because;
    if (reply.outcome == KubeOutcome::kOk) {
      EXPECT_EQ(reply.body, row.request.body) << "the body is sent each time";
    }
  }
}

TEST_F(ClientFaults, AreRepeatedSoManyTimesAndNoMore) {
  std::atomic<int> seen = 0;
  const auto server = Serve(Failing(seen, 100, [](Served& served) { served.Answer(503, "down"); }));
  options_.tries_max = 3;
  const KubeReply reply = MakeClient()->Fetch(Get("/x"));
  EXPECT_EQ(reply.outcome, KubeOutcome::kUnavailable);
  EXPECT_EQ(reply.message, "the server answered 503: down");
  EXPECT_EQ(seen, 3);
}

TEST_F(ClientFaults, AreToldWhereTheRequestIsCancelledBeforeItsNextTryHasAnAnswer) {
  std::atomic<int> seen = 0;
  std::promise<void> tried_again;
  const auto server = Serve([&](const ServedRequest&, std::shared_ptr<Served> exchange) {
    if (++seen == 1) return exchange->Answer(503, "down");
    if (seen == 2) tried_again.set_value();
  });
  const auto client = MakeClient();
  testing::KubeReplies replies;
  const uint64_t id = client->Send(Get("/x"), replies.Next());
  tried_again.get_future().wait();
  client->Cancel(id);
  ASSERT_TRUE(replies.WaitAll());
  EXPECT_EQ(replies.at(0).outcome, KubeOutcome::kCancelled);
  EXPECT_EQ(replies.at(0).last_try, "the server answered 503: down");
}

TEST_F(ClientFaults, AreWaitedOutForAsLongAsTheServerAsksAndPatienceLasts) {
  std::atomic<int> seen = 0;
  const auto busy = [](Served& served) {
    served.Answer(429, R"({"kind":"Status","reason":"TooManyRequests","message":"slow down"})",
                  {{"retry-after", "1"}});
  };
  const auto server = Serve(Failing(seen, 1, busy));
  const MonoTime begun = clock_.Mono();
  EXPECT_EQ(MakeClient()->Fetch(Post("/x", "{}")).outcome, KubeOutcome::kOk);
  EXPECT_GE(clock_.Mono() - begun, std::chrono::seconds(1));
  EXPECT_EQ(seen, 2);

  options_.patience = milliseconds(500);
  seen = 0;
  const KubeReply reply = MakeClient()->Fetch(Post("/x", "{}"));
  EXPECT_EQ(reply.outcome, KubeOutcome::kBusy);
  EXPECT_EQ(reply.reason, "TooManyRequests");
  EXPECT_EQ(reply.message, "slow down");
  EXPECT_EQ(reply.retry_after, milliseconds(1000));
  EXPECT_EQ(seen, 1) << "a second is longer than half of one";
}

TEST_F(ClientFaults, OfAStreamAreWaitedOutOnlyWhereTheServerIsBusy) {
  std::atomic<int> seen = 0;
  const auto server = Serve(Failing(seen, 1, [](Served& served) { served.Answer(429, ""); }));
  const auto client = MakeClient();
  client->Stream(Get("/watch"), {replies_.Text(), replies_.Next(), milliseconds(0)});
  ASSERT_TRUE(replies_.WaitAll());
  EXPECT_EQ(replies_.at(0).outcome, KubeOutcome::kOk);
  EXPECT_EQ(seen, 2);
  std::atomic<int> failed = 0;
  const auto failing = Serve(Failing(failed, 1, [](Served& served) { served.Answer(503, ""); }));
  const auto other = MakeClient();
  other->Stream(Get("/watch"), {replies_.Text(), replies_.Next(), milliseconds(0)});
  ASSERT_TRUE(replies_.WaitAll());
  EXPECT_EQ(replies_.at(1).outcome, KubeOutcome::kUnavailable);
  EXPECT_EQ(failed, 1);
}

TEST_F(ClientFaults, EndARequestThatIsAnsweredTooLate) {
  std::atomic<int> seen = 0;
  const auto server = Serve(Failing(seen, 1, [](Served&) {}));
  KubeRequest hasty = Post("/x", "{}");
  hasty.timeout = milliseconds(60);
  const auto client = MakeClient();
  const KubeReply reply = client->Fetch(hasty);
  EXPECT_EQ(reply.outcome, KubeOutcome::kDeadline) << reply.message;
  EXPECT_EQ(reply.reason, "TotalTimeout");
  EXPECT_FALSE(reply.not_sent);
  EXPECT_EQ(client->Fetch(Post("/x", "{}")).outcome, KubeOutcome::kOk);
  seen = 0;
  KubeRequest read = Get("/x");
  read.timeout = milliseconds(1500);
  EXPECT_EQ(client->Fetch(read).outcome, KubeOutcome::kOk) << "a read is tried again";
  EXPECT_GE(seen, 2);
}

TEST_F(ClientFaults, AreCancelledWhileTheyAreWaitedOut) {
  std::atomic<int> seen = 0;
  const auto server = Serve(Failing(seen, 100, [](Served& served) {
    served.Answer(429, "", {{"retry-after", "9"}});
  }));
  std::promise<void> asked;
  HookedRandom random([&] { asked.set_value(); });
  options_.random = &random;
  const auto client = MakeClient();
  const uint64_t id = client->Send(Get("/x"), replies_.Next());
  asked.get_future().wait();
  client->Cancel(id);
  ASSERT_TRUE(replies_.WaitAll());
  EXPECT_EQ(replies_.at(0).outcome, KubeOutcome::kCancelled);
  EXPECT_TRUE(replies_.at(0).not_sent) << "a 429 is no effect";
  EXPECT_EQ(seen, 1);
}

TEST_F(ClientFaults, OfAServerThatIsGoneAreLoggedOnceAndSoIsItsReturn) {
  int port = 0;
  {
    testing::ThreadedListener free([](int) {});
    port = free.port();
  }
  options_.tries_max = 2;
  access_.server = "https://127.0.0.1:" + std::to_string(port);
  access_.tls.authority.data = identity_.ca_pem;
  const auto client = MakeClient();
  for (int i = 0; i < 3; ++i) {
    const KubeReply reply = client->Fetch(Post("/x", "{}"));
    EXPECT_EQ(reply.outcome, KubeOutcome::kUnavailable);
    EXPECT_EQ(reply.reason, "ConnectFailed");
    EXPECT_TRUE(reply.not_sent);
  }
  EXPECT_EQ(Logged("kubernetes api server cannot be reached"), 1u);
  EXPECT_NE(client->Trouble(), "");
  EXPECT_EQ(Logged("server=" + access_.server), 1u);
  testing::TlsServer back(
      identity_, {true, "", port},
      [](const ServedRequest&, std::shared_ptr<Served> exchange) { exchange->Answer(200, ""); });
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(client->Fetch(Post("/x", "{}")).outcome, KubeOutcome::kOk);
  }
  EXPECT_EQ(Logged("kubernetes api server is reachable again"), 1u);
  EXPECT_EQ(client->Trouble(), "");
  EXPECT_EQ(Logged("msg="), 2u);
}

TEST_F(ClientFaults, LeaveItOpenWhetherAnEarlierTryWasDone) {
  std::promise<void> dropped, gone;
  auto server = Serve([&](const ServedRequest&, std::shared_ptr<Served> exchange) {
    exchange->Drop();
    dropped.set_value();
  });
  options_.tries_max = 2;
  HookedRandom random([&] { gone.get_future().wait(); });
  options_.random = &random;
  const auto client = MakeClient();
  client->Send(Method("PUT", true), replies_.Next());
  dropped.get_future().wait();
  server.reset();
  gone.set_value();  // The next try finds nobody.
  ASSERT_TRUE(replies_.WaitAll());
  EXPECT_EQ(replies_.at(0).reason, "ConnectFailed") << replies_.at(0).message;
  EXPECT_FALSE(replies_.at(0).not_sent) << "the first try was";
}

TEST_F(ClientFaults, OfIdentityEndARequestAtOnceAndSayWhy) {
  std::atomic<int> seen = 0;
  const auto server = Serve(Failing(seen, 0, [](Served&) {}));
  access_.tls.authority.data = MakeIdentity("IP:127.0.0.1").ca_pem;
  const KubeReply stranger = MakeClient()->Fetch(Get("/x"));
  EXPECT_EQ(stranger.outcome, KubeOutcome::kUnavailable);
  EXPECT_EQ(stranger.reason, "TLSFailed");
  EXPECT_NE(stranger.message.find("certificate"), std::string::npos) << stranger.message;
  EXPECT_TRUE(stranger.not_sent);
  access_.tls.authority.data = identity_.ca_pem;
  access_.tls.server_name = "another.test";
  const KubeReply misnamed = MakeClient()->Fetch(Get("/x"));
  EXPECT_EQ(misnamed.reason, "TLSFailed");
  EXPECT_NE(misnamed.message.find("another.test"), std::string::npos) << misnamed.message;
  EXPECT_EQ(seen, 0);
  access_.tls = {};
  EXPECT_EQ(MakeClient()->Fetch(Get("/x")).reason, "TLSFailed") << "the system does not trust it";
  access_.tls.insecure_skip_verify = true;
  EXPECT_EQ(MakeClient()->Fetch(Get("/x")).outcome, KubeOutcome::kOk) << "only where told so";
  EXPECT_EQ(seen, 1);
}

TEST(Retry, DependsOnWhatMayHaveBeenDone) {
  const auto reply = [](HttpOutcome outcome, bool not_sent, uint32_t status = 0) {
    HttpReply made;
    made.outcome = outcome;
    made.not_sent = not_sent;
    made.status = status;
    return made;
  };
  struct Row {
    HttpReply reply;
    bool if_busy, if_not_sent, if_it_may_help;
    const char* because;
  };
  HttpReply untrusted = reply(HttpOutcome::kTlsFailed, true);
  untrusted.certificate_refused = true;
  const Row rows[] = {
      {reply(HttpOutcome::kOk, false, 429), true, true, true, "nothing was done"},
      {reply(HttpOutcome::kOk, false, 503), false, false, true, "the server tried"},
      {reply(HttpOutcome::kOk, false, 501), false, false, false, "it never will"},
      {reply(HttpOutcome::kOk, false, 404), false, false, false, "the answer stands"},
      {reply(HttpOutcome::kConnectFailed, true), false, true, true, "not sent"},
      {reply(HttpOutcome::kConnectionReset, true), false, true, true, "not sent"},
      {reply(HttpOutcome::kConnectionReset, false), false, false, true, "maybe done"},
      {reply(HttpOutcome::kTotalTimeout, false), false, false, true, "maybe done"},
      {reply(HttpOutcome::kTlsFailed, true), false, true, true, "a handshake that broke off"},
      {untrusted, false, false, false, "time does not make it trusted"},
      {reply(HttpOutcome::kInvalid, true), false, false, false, "the same request fails again"},
      {reply(HttpOutcome::kCancelled, true), false, false, false, "nobody wants it"},
      {reply(HttpOutcome::kHeadersTooLarge, false), false, false, false, "the answer stands"},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(MayRepeat(row.reply, Repeat::kIfBusy), row.if_busy) << row.because;
    EXPECT_EQ(MayRepeat(row.reply, Repeat::kIfNotSent), row.if_not_sent) << row.because;
    EXPECT_EQ(MayRepeat(row.reply, Repeat::kIfItMayHelp), row.if_it_may_help) << row.because;
  }
}

}  // namespace
}  // namespace detent
