// Requests, replies and streams, as they come and go.

#include <future>

#include "tests/kube/client_fixture.h"
#include "tests/net/waiting.h"
#include "tests/support/tiny_http_server.h"

namespace detent {
namespace {

using std::chrono::milliseconds;
using testing::Get;
using testing::KubeClientTest;
using testing::KubeReplies;
using testing::Post;
using testing::Served;
using testing::ServedRequest;

using ClientTest = KubeClientTest;
using Exchange = std::shared_ptr<Served>;

// Keeps exchanges for the test to answer.
class Held {
 public:
  void Put(const ServedRequest& request, Exchange exchange) {
    std::lock_guard lock(mutex_);
    held_[request.path] = std::move(exchange);
    ++count_;
    changed_.notify_all();
  }
  Exchange Await(const std::string& path) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::seconds(20), [&] { return held_.count(path) > 0; });
    return held_[path];
  }
  bool AwaitCount(int count) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(20), [&] { return count_ >= count; });
  }
  int count() {
    std::lock_guard lock(mutex_);
    return count_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, Exchange> held_;  // Guarded by mutex_, as is count_.
  int count_ = 0;
};

TEST_F(ClientTest, SendsARequestAsItIsWithWhoIsAsking) {
  ServedRequest seen;
  const auto server = Serve([&](const ServedRequest& request, Exchange exchange) {
    seen = request;
    exchange->Answer(201, "{\"kind\":\"Pod\"}");
  });
  access_.credentials = BearerToken{"t0ken"};
  access_.impersonation.user = "root";
  access_.impersonation.uid = "0";
  access_.impersonation.groups = {"a", "b"};
  access_.impersonation.extra["acme.com/k 1"] = {"v"};
  access_.tls.server_name = "localhost";
  options_.user_agent = "detent/1 (test)";
  const auto client = MakeClient();
  KubeRequest request = Post("/api/v1/pods?fieldManager=x", "{}");
  request.method = "PATCH";
  request.content_type = "application/merge-patch+json";
  const KubeReply reply = client->Fetch(request);
  EXPECT_EQ(reply.outcome, KubeOutcome::kOk) << reply.message;
  EXPECT_EQ(reply.status, 201);
  EXPECT_EQ(reply.body, "{\"kind\":\"Pod\"}");
  EXPECT_EQ(seen.method + " " + seen.path + " " + seen.body,
            "PATCH /api/v1/pods?fieldManager=x {}");
  EXPECT_TRUE(seen.http2);
  EXPECT_EQ(seen.server_name, "localhost");
  EXPECT_EQ(seen.authority, "127.0.0.1:" + std::to_string(server->port()));
  const testing::Fields expected = {{"authorization", "Bearer t0ken"},
                                    {"impersonate-user", "root"},
                                    {"impersonate-uid", "0"},
                                    {"impersonate-group", "a"},
                                    {"impersonate-group", "b"},
                                    {"impersonate-extra-acme.com%2fk%201", "v"},
                                    {"user-agent", "detent/1 (test)"},
                                    {"accept", "application/json"},
                                    {"content-type", "application/merge-patch+json"},
                                    {"accept-encoding", "gzip, deflate"},
                                    {"content-length", "2"}};
  for (const auto& field : expected) {
    EXPECT_EQ(std::count(seen.fields.begin(), seen.fields.end(), field), 1)
        << field.first << ": " << seen.Field(field.first);
  }
  EXPECT_EQ(seen.fields.size(), expected.size());
}

TEST_F(ClientTest, ShowsALoginAndSparesServersThatShouldNotCompress) {
  ServedRequest seen;
  const auto server = Serve([&](const ServedRequest& request, Exchange exchange) {
    seen = request;
    exchange->Answer(200, "");
  });
  access_.credentials = BasicLogin{"alice", "a b"};
  access_.disable_compression = true;
  EXPECT_EQ(MakeClient()->Fetch(Get("/x")).outcome, KubeOutcome::kOk);
  EXPECT_EQ(seen.Field("authorization"), "Basic YWxpY2U6YSBi");
  EXPECT_EQ(seen.Field("accept-encoding"), "");
  EXPECT_EQ(seen.Field("content-type"), "") << "there is no body";
}

TEST_F(ClientTest, GivesTheServersOwnWordsForAFailure) {
  struct Row {
    int status;
    const char* body;
    KubeOutcome outcome;
    const char* reason;
    const char* message;
  };
  const Row rows[] = {
      {404, R"({"kind":"Status","reason":"NotFound","message":"pods \"a\" not found"})",
       KubeOutcome::kNotFound, "NotFound", "pods \"a\" not found"},
      {404, "404 page not found\n", KubeOutcome::kNotFound, "NotFound",
       "the server answered 404: 404 page not found"},
      {409, R"({"kind":"Status","reason":"AlreadyExists","message":"m"})",
       KubeOutcome::kAlreadyExists, "AlreadyExists", "m"},
      {409, R"({"kind":"Status","reason":"Conflict","message":"m"})", KubeOutcome::kConflict,
       "Conflict", "m"},
      {410, R"({"kind":"Status","reason":"Expired","message":"m"})", KubeOutcome::kGone, "Expired",
       "m"},
      {422, R"({"kind":"Status","reason":"Invalid","message":"m"})", KubeOutcome::kInvalid,
       "Invalid", "m"},
      {403, R"({"kind":"Status","reason":"Forbidden","message":"m"})", KubeOutcome::kDenied,
       "Forbidden", "m"},
      {401, "", KubeOutcome::kDenied, "Unauthorized", "the server answered 401"},
      {413, "{", KubeOutcome::kInvalid, "RequestEntityTooLarge", "the server answered 413: {"},
      {418, "\x1b[31m", KubeOutcome::kInvalid, "Unknown", "the server answered 418"},
      {301, "", KubeOutcome::kInvalid, "Unknown", "the server answered 301"},
      {502, "<html>\r\nbad", KubeOutcome::kUnavailable, "Unknown",
       "the server answered 502: <html>"},
      {500, R"({"kind":"Status","message":"etcd"})", KubeOutcome::kUnavailable, "InternalError",
       "etcd"},
  };
  const Row* row = nullptr;
  const auto server = Serve(
      [&](const ServedRequest&, Exchange exchange) { exchange->Answer(row->status, row->body); });
  const auto client = MakeClient();
  for (const Row& each : rows) {
    row = &each;
    const KubeReply reply = client->Fetch(Post("/x", "{}"));
    EXPECT_EQ(NameOf(reply.outcome), std::string(NameOf(row->outcome))) << row->status;
    EXPECT_EQ(reply.status, row->status);
    EXPECT_EQ(reply.reason, row->reason) << row->status;
    EXPECT_EQ(reply.message, row->message) << row->status;
    EXPECT_EQ(reply.body, row->body);
    EXPECT_FALSE(reply.not_sent);
  }
}

TEST_F(ClientTest, FollowsAStreamUntilTheServerEndsIt) {
  Held held;
  const auto server =
      Serve([&](const ServedRequest& request, Exchange exchange) { held.Put(request, exchange); });
  const auto client = MakeClient();
  client->Stream(Get("/watch"), {replies_.Text(), replies_.Next(), milliseconds(0)});
  const Exchange exchange = held.Await("/watch");
  exchange->Begin(200);
  exchange->Send("{\"a\":1}\n{\"b\"");
  EXPECT_TRUE(replies_.WaitText("{\"a\":1}\n{\"b\""));
  exchange->Send(":2}\n");
  EXPECT_TRUE(replies_.WaitText("{\"a\":1}\n{\"b\":2}\n"));
  EXPECT_EQ(replies_.size(), 0u);
  exchange->End();
  ASSERT_TRUE(replies_.WaitAll());
  EXPECT_EQ(replies_.at(0).outcome, KubeOutcome::kOk) << replies_.at(0).message;
  EXPECT_EQ(replies_.at(0).body, "");
}

TEST_F(ClientTest, EndsAStreamThatFallsSilentIsCutIsRefusedOrIsCancelled) {
  Held held;
  const auto server = Serve([&](const ServedRequest& request, Exchange exchange) {
    if (request.path == "/gone") return exchange->Answer(410, R"({"kind":"Status"})");
    held.Put(request, exchange);
  });
  const auto client = MakeClient();
  const auto follow = [&](const char* path, milliseconds silence) {
    return client->Stream(Get(path), {replies_.Text(), replies_.Next(), silence});
  };
  follow("/silent", milliseconds(60));
  held.Await("/silent")->Begin(200);
  ASSERT_TRUE(replies_.WaitAll());
  EXPECT_EQ(replies_.at(0).outcome, KubeOutcome::kDeadline) << replies_.at(0).message;

  follow("/cut", milliseconds(0));
  Exchange exchange = held.Await("/cut");
  exchange->Begin(200);
  exchange->Send("x");
  EXPECT_TRUE(replies_.WaitText("x"));
  exchange->Drop();
  ASSERT_TRUE(replies_.WaitAll());
  EXPECT_EQ(replies_.at(1).outcome, KubeOutcome::kUnavailable) << replies_.at(1).message;
  EXPECT_EQ(held.count(), 2) << "it is not begun again";

  follow("/gone", milliseconds(0));
  ASSERT_TRUE(replies_.WaitAll());
  EXPECT_EQ(replies_.at(2).outcome, KubeOutcome::kGone);

  const uint64_t id = follow("/cancelled", milliseconds(0));
  exchange = held.Await("/cancelled");
  exchange->Begin(200);
  client->Cancel(id);
  client->Cancel(id);
  ASSERT_TRUE(replies_.WaitAll());
  EXPECT_EQ(replies_.at(3).outcome, KubeOutcome::kCancelled);

  KubeRequest slow = Get("/slow");
  slow.timeout = milliseconds(60);
  client->Stream(slow, {replies_.Text(), replies_.Next(), milliseconds(0)});
  ASSERT_TRUE(replies_.WaitAll());
  EXPECT_EQ(replies_.at(4).outcome, KubeOutcome::kDeadline) << "no first byte";
  EXPECT_EQ(replies_.calls(), 5);
}

TEST_F(ClientTest, KeepsToItsLimitOfRequestsAtATimeAndStreamsBesideIt) {
  Held held;
  const auto server =
      Serve([&](const ServedRequest& request, Exchange exchange) { held.Put(request, exchange); });
  options_.in_flight_max = 2;
  const auto client = MakeClient();
  for (const char* path : {"/1", "/2", "/3"}) client->Send(Get(path), replies_.Next());
  const uint64_t waits = client->Send(Get("/4"), replies_.Next());
  client->Stream(Get("/watch"), {replies_.Text(), replies_.Next(), milliseconds(0)});
  held.Await("/watch")->Answer(200, "");
  ASSERT_TRUE(held.AwaitCount(3));
  client->Cancel(waits);
  held.Await("/1")->Answer(200, "");
  held.Await("/3")->Answer(200, "");
  held.Await("/2")->Answer(200, "");
  ASSERT_TRUE(replies_.WaitAll());
  EXPECT_EQ(held.count(), 4);
  EXPECT_EQ(replies_.at(3).outcome, KubeOutcome::kCancelled);
  EXPECT_TRUE(replies_.at(3).not_sent);
}

TEST_F(ClientTest, KeepsToItsRateWhereOneIsSet) {
  const auto server =
      Serve([&](const ServedRequest&, Exchange exchange) { exchange->Answer(200, ""); });
  options_.requests_per_second = 100;
  const auto client = MakeClient();
  const MonoTime begun = clock_.Mono();
  for (int i = 0; i < 130; ++i) client->Send(Get("/x"), replies_.Next());
  ASSERT_TRUE(replies_.WaitAll());
  EXPECT_GE(clock_.Mono() - begun, milliseconds(280)) << "100 at once, then one each 10 ms";
}

TEST_F(ClientTest, CallsEveryCallbackBeforeItIsGone) {
  Held held;
  const auto server = Serve([&](const ServedRequest& request, Exchange exchange) {
    if (request.path == "/busy") return exchange->Answer(429, "", {{"retry-after", "20"}});
    held.Put(request, exchange);
  });
  options_.in_flight_max = 1;
  auto client = MakeClient();
  client->Stream(Get("/watch"), {replies_.Text(), replies_.Next(), milliseconds(0)});
  client->Send(Get("/busy"), replies_.Next());
  client->Send(Get("/held"), replies_.Next());
  client->Send(Get("/waits"), replies_.Next());
  held.Await("/watch");
  held.Await("/held");
  bool ran = false;
  client->After(std::chrono::hours(1), [&] { ran = true; });
  client.reset();
  ASSERT_TRUE(replies_.WaitAll());
  for (int i = 0; i < 4; ++i) EXPECT_EQ(replies_.at(i).outcome, KubeOutcome::kCancelled) << i;
  EXPECT_EQ(replies_.calls(), 4);
  EXPECT_FALSE(ran);
}

TEST_F(ClientTest, RunsTasksLaterOnItsThread) {
  const auto server =
      Serve([&](const ServedRequest&, Exchange exchange) { exchange->Answer(200, ""); });
  const auto client = MakeClient();
  std::promise<std::thread::id> of_task, of_reply;
  client->After(milliseconds(1), [&] { of_task.set_value(std::this_thread::get_id()); });
  client->Send(Get("/x"), [&](KubeReply&&) { of_reply.set_value(std::this_thread::get_id()); });
  EXPECT_EQ(of_task.get_future().get(), of_reply.get_future().get());
}

TEST_F(ClientTest, GoesThroughTheProxyThatTheAccessNames) {
  const auto server =
      Serve([&](const ServedRequest&, Exchange exchange) { exchange->Answer(200, "there"); });
  testing::TunnelProxy proxy, other;
  access_.proxy_url = proxy.Url();
  options_.proxy = other.Url();
  EXPECT_EQ(MakeClient()->Fetch(Get("/x")).body, "there");
  EXPECT_EQ(proxy.targets().size(), 1u);
  EXPECT_EQ(other.targets().size(), 0u) << "it is for accesses that name none";
  access_.proxy_url.clear();
  EXPECT_EQ(MakeClient()->Fetch(Get("/x")).body, "there");
  EXPECT_EQ(other.targets().size(), 1u);
}

TEST_F(ClientTest, AsksAPlainServerToo) {
  testing::TinyHttpServer plain([](const testing::TinyRequest& request) {
    return testing::Respond(200, request.method + " " + request.target);
  });
  access_.server = plain.Url("/prefix");
  EXPECT_EQ(MakeClient()->Fetch(Get("/api")).body, "GET /prefix/api");
}

TEST_F(ClientTest, RefusesAPathThatWouldChangeTheHost) {
  access_.server = "https://127.0.0.1";
  const KubeReply reply = MakeClient()->Fetch(Get(".evil.example/"));
  EXPECT_EQ(reply.outcome, KubeOutcome::kInvalid);
  EXPECT_EQ(reply.message, "the path must begin with '/'");
}

}  // namespace
}  // namespace detent
