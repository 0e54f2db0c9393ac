// A client whose host may not change anything any more: what it still sends, and what becomes of
// requests that are on their way through it then.

#include <atomic>
#include <future>
#include <thread>

#include "tests/kube/client_fixture.h"

namespace detent {
namespace {

using std::chrono::milliseconds;
using testing::Get;
using testing::KubeClientTest;
using testing::Post;
using testing::Served;
using testing::ServedRequest;

class ClientFence : public KubeClientTest {
 protected:
  ClientFence() {
    options_.may_write = [this] {
      asked_on_ = std::this_thread::get_id();
      return ++asked_ <= allowed_;
    };
  }

  // Answers the first `count` requests with `status`, and all others with 200.
  [[nodiscard]] std::unique_ptr<testing::TlsServer> Refusing(int count, int status) {
    return Serve(
        [this, count, status](const ServedRequest& request, std::shared_ptr<Served> exchange) {
          exchange->Answer(++seen_ <= count ? status : 200, request.body);
        });
  }

  static KubeRequest Put() {
    KubeRequest request = Post("/x", "{\"a\":1}");
    request.method = "PUT";
    request.idempotent = true;
    return request;
  }

  std::atomic<int> allowed_{1000};  // Times that the host may change something.
  std::atomic<int> asked_{0}, seen_{0};
  std::atomic<std::thread::id> asked_on_{};
};

void ExpectDeposed(const KubeReply& reply) {
  EXPECT_EQ(reply.outcome, KubeOutcome::kCancelled) << reply.message;
  EXPECT_EQ(reply.reason, kReasonDeposed);
  EXPECT_NE(reply.message.find("another may be leading"), std::string::npos) << reply.message;
}

TEST_F(ClientFence, IsAskedOnTheClientsThreadBeforeEachTryOfAChange) {
  const auto server = Refusing(2, 503);
  const auto client = MakeClient();
  std::promise<std::thread::id> thread;
  client->After(milliseconds(0), [&] { thread.set_value(std::this_thread::get_id()); });
  EXPECT_EQ(client->Fetch(Put()).outcome, KubeOutcome::kOk);
  EXPECT_EQ(seen_, 3);
  EXPECT_EQ(asked_, 3);
  EXPECT_EQ(asked_on_, thread.get_future().get());
}

TEST_F(ClientFence, LetsPassWhatChangesNothing) {
  allowed_ = 0;
  const auto server = Refusing(0, 0);
  const auto client = MakeClient();
  KubeRequest head = Get("/x");
  head.method = "HEAD";
  EXPECT_EQ(client->Fetch(Get("/x")).outcome, KubeOutcome::kOk);
  EXPECT_EQ(client->Fetch(head).outcome, KubeOutcome::kOk);
  KubeRequest dry_run = Post("/x?dryRun=All", "{}");
  dry_run.dry_run = true;
  EXPECT_EQ(client->Fetch(dry_run).outcome, KubeOutcome::kOk);
  EXPECT_EQ(asked_, 0);
  for (const char* method : {"POST", "PUT", "PATCH", "DELETE"}) {
    KubeRequest change = Post("/x", "{}");
    change.method = method;
    const KubeReply reply = client->Fetch(change);
    ExpectDeposed(reply);
    EXPECT_TRUE(reply.not_sent) << method;
    EXPECT_EQ(reply.status, 0);
  }
  EXPECT_EQ(seen_, 3);
  allowed_ = 1000;
  EXPECT_EQ(client->Fetch(Put()).outcome, KubeOutcome::kOk) << "a host may come to lead again";
}

TEST_F(ClientFence, EndsAChangeBetweenTwoTriesAndLeavesOpenWhetherTheFirstWasDone) {
  allowed_ = 1;
  const auto server = Refusing(1, 503);
  const KubeReply reply = MakeClient()->Fetch(Put());
  ExpectDeposed(reply);
  EXPECT_FALSE(reply.not_sent);
  EXPECT_EQ(seen_, 1);
}

TEST_F(ClientFence, EndsAChangeThatWaitsForABusyServer) {
  allowed_ = 1;
  const auto server = Refusing(1, 429);
  const KubeReply reply = MakeClient()->Fetch(Post("/x", "{}"));
  ExpectDeposed(reply);
  EXPECT_TRUE(reply.not_sent) << "a 429 is no effect";
  EXPECT_EQ(seen_, 1);
}

TEST_F(ClientFence, EndsAChangeThatWaitsBehindAnother) {
  std::promise<std::shared_ptr<Served>> first;
  const auto server = Serve([&](const ServedRequest&, std::shared_ptr<Served> exchange) {
    ++seen_;
    first.set_value(std::move(exchange));
  });
  options_.in_flight_max = 1;
  allowed_ = 1;
  const auto client = MakeClient();
  client->Send(Put(), replies_.Next());
  client->Send(Put(), replies_.Next());
  first.get_future().get()->Answer(200, "");
  ASSERT_TRUE(replies_.WaitAll());
  EXPECT_EQ(replies_.at(0).outcome, KubeOutcome::kOk);
  ExpectDeposed(replies_.at(1));
  EXPECT_TRUE(replies_.at(1).not_sent);
  EXPECT_EQ(seen_, 1);
}

TEST_F(ClientFence, EndsAChangeThatWaitsForCredentials) {
  const auto server = Refusing(0, 0);
  ExecPlugin plugin;
  plugin.api_version = "client.authentication.k8s.io/v1";
  plugin.command = WriteScript("slow",
                               "while ! test -e \"$1/go\"; do :; done\n"
                               "echo '{\"kind\":\"ExecCredential\",\"apiVersion\":"
                               "\"client.authentication.k8s.io/v1\","
                               "\"status\":{\"token\":\"t\"}}'");
  plugin.args = {directory_};
  access_.credentials = plugin;
  const auto client = MakeClient();
  client->Send(Put(), replies_.Next());
  EXPECT_EQ(asked_, 0) << "there is nothing to send yet";
  allowed_ = 0;
  Write("go", "");
  ASSERT_TRUE(replies_.WaitAll());
  ExpectDeposed(replies_.at(0));
  EXPECT_EQ(seen_, 0);
}

}  // namespace
}  // namespace detent
