// Credentials that change while the client runs: tokens and certificates in files, exec plugins.

#include <atomic>

#include "core/kube/local_file.h"
#include "tests/kube/client_fixture.h"

namespace detent {
namespace {

using std::chrono::milliseconds;
using testing::Authority;
using testing::Get;
using testing::Identity;
using testing::KubeClientTest;
using testing::Post;
using testing::Served;
using testing::ServedRequest;

constexpr const char* kV1 = "client.authentication.k8s.io/v1";

class ClientCredentials : public KubeClientTest {
 protected:
  // Takes the token that is good at the time, or any, and says which one it saw.
  void ServeTokens() {
    tokens_ = Serve([this](const ServedRequest& request, std::shared_ptr<Served> exchange) {
      std::lock_guard lock(mutex_);
      const std::string shown = request.Field("authorization");
      ++asked_;
      good_.empty() || shown == "Bearer " + good_
          ? exchange->Answer(200, shown + request.body)
          : exchange->Answer(401, R"({"kind":"Status","message":"who?"})");
    });
  }
  void Accept(const std::string& token) {
    std::lock_guard lock(mutex_);
    good_ = token;
  }
  int asked() {
    std::lock_guard lock(mutex_);
    return asked_;
  }

  // A plugin whose runs are counted, and that prints what the file "answer" holds.
  ExecPlugin CountedPlugin() {
    ExecPlugin plugin;
    plugin.api_version = kV1;
    plugin.command = WriteScript("plugin", "echo run >> \"$1/runs\"\ncat \"$1/answer\"\n");
    plugin.args = {directory_};
    return plugin;
  }
  void PluginAnswers(const std::string& status) const {
    Write("answer", std::string(R"({"kind":"ExecCredential","apiVersion":")") + kV1 +
                        R"(","status":)" + status + "}");
  }
  long Runs() const {
    const auto text = ReadLocalFile(directory_ / "runs");
    return text ? std::count(text->begin(), text->end(), '\n') : 0;
  }
  std::string In(milliseconds time) const { return FormatMicroTime(clock_.Now() + time); }

  std::mutex mutex_;
  std::string good_ = "one";  // Guarded by mutex_, as is asked_.
  int asked_ = 0;
  std::unique_ptr<testing::TlsServer> tokens_;
};

TEST_F(ClientCredentials, OfATokenFileAreReadAgainAfterAWhile) {
  ServeTokens();
  access_.credentials = BearerTokenFile{Write("token", " one\n"), ""};
  options_.reread_files = milliseconds(0);
  Accept("");
  const auto client = MakeClient();
  EXPECT_EQ(client->Fetch(Post("/x", "1")).body, "Bearer one1");
  Write("token", "two");
  // The old one is used until the new one was read.
  std::string shown = "Bearer one";
  while (shown == "Bearer one") shown = client->Fetch(Get("/x")).body;
  EXPECT_EQ(shown, "Bearer two");
  EXPECT_EQ(tokens_->connections(), 1) << "the connection says nothing of tokens";
}

TEST_F(ClientCredentials, OfATokenFileAreReadAgainAfterARefusal) {
  ServeTokens();
  access_.credentials = BearerTokenFile{Write("token", "one"), ""};
  const auto client = MakeClient();
  EXPECT_EQ(client->Fetch(Get("/x")).body, "Bearer one");
  Accept("two");
  Write("token", "two");
  EXPECT_EQ(client->Fetch(Post("/x", "body")).body, "Bearer twobody") << "sent again, whole";
  EXPECT_EQ(asked(), 3);
  Accept("three");
  const KubeReply reply = client->Fetch(Get("/x"));
  EXPECT_EQ(reply.outcome, KubeOutcome::kDenied);
  EXPECT_EQ(reply.message, "who?");
  EXPECT_EQ(asked(), 4) << "files are not read for each refusal";
}

TEST_F(ClientCredentials, OfAStreamAreReadAgainAfterARefusalToo) {
  ServeTokens();
  access_.credentials = BearerTokenFile{Write("token", "one"), ""};
  const auto client = MakeClient();
  EXPECT_EQ(client->Fetch(Get("/x")).body, "Bearer one");
  Accept("two");
  Write("token", "two");
  client->Stream(Get("/watch"), {replies_.Text(), replies_.Next(), milliseconds(0)});
  ASSERT_TRUE(replies_.WaitAll());
  EXPECT_EQ(replies_.at(0).outcome, KubeOutcome::kOk) << replies_.at(0).message;
  EXPECT_TRUE(replies_.WaitText("Bearer two")) << "nothing is told of the refusal";
}

TEST_F(ClientCredentials, OfAFileThatVanishedAreUsedOnAndSaidSoOnce) {
  ServeTokens();
  access_.credentials = BearerTokenFile{Write("token", "one"), ""};
  options_.reread_files = milliseconds(0);
  const auto client = MakeClient();
  EXPECT_EQ(client->Fetch(Get("/x")).outcome, KubeOutcome::kOk);
  std::filesystem::remove(directory_ / "token");
  while (Logged("kubernetes credentials cannot be had") == 0) {
    EXPECT_EQ(client->Fetch(Get("/x")).outcome, KubeOutcome::kOk);
  }
  for (int i = 0; i < 5; ++i) EXPECT_EQ(client->Fetch(Get("/x")).outcome, KubeOutcome::kOk);
  EXPECT_EQ(Logged("kubernetes credentials cannot be had"), 1u);
  EXPECT_EQ(Logged("/token"), 1u);
}

TEST_F(ClientCredentials, ThatAreNotThereEndARequestWithTheReason) {
  ServeTokens();
  struct Row {
    std::string path;
    const char* says;
  };
  const Row rows[] = {
      {directory_ / "none", "No such file"},
      {Write("empty", " \n"), "is empty"},
      {Write("two-words", "a b"), "contains a space or a control character"},
  };
  for (const Row& row : rows) {
    access_.credentials = BearerTokenFile{row.path, ""};
    const KubeReply reply = MakeClient()->Fetch(Get("/x"));
    EXPECT_EQ(reply.outcome, KubeOutcome::kDenied);
    EXPECT_EQ(reply.reason, "NoCredentials");
    EXPECT_TRUE(reply.not_sent);
    EXPECT_NE(reply.message.find(row.says), std::string::npos) << reply.message;
    EXPECT_NE(reply.message.find(row.path), std::string::npos) << reply.message;
  }
  access_.credentials = BearerTokenFile{directory_ / "none", "one"};
  EXPECT_EQ(MakeClient()->Fetch(Get("/x")).body, "Bearer one") << "the file's stand-in";
  EXPECT_EQ(asked(), 1);
}

TEST_F(ClientCredentials, OfCertificateFilesAreShownAnewOnANewConnection) {
  const Authority authority;
  const auto server = Serve(
      [](const ServedRequest& request, std::shared_ptr<Served> exchange) {
        exchange->Answer(200, request.client + std::to_string(request.connection));
      },
      authority.ForClient("ca").ca_pem);
  const auto write = [&](const Identity& identity) {
    access_.tls.client = ClientCertificate{{"", Write("crt", identity.certificate_pem)},
                                           {"", Write("key", identity.key_pem)}};
  };
  write(authority.ForClient("one"));
  options_.reread_files = milliseconds(0);
  const auto client = MakeClient();
  EXPECT_EQ(client->Fetch(Get("/x")).body, "one1");
  EXPECT_EQ(client->Fetch(Get("/x")).body, "one1") << "the same files, the same connection";
  write(authority.ForClient("two"));
  std::string shown = "one1";
  while (shown == "one1") shown = client->Fetch(Get("/x")).body;
  EXPECT_EQ(shown, "two2");
  EXPECT_EQ(client->Fetch(Get("/x")).body, "two2");
}

TEST_F(ClientCredentials, OfTheServersAuthorityAreReadAgainWhenItIsNotTrusted) {
  ServeTokens();
  access_.credentials = BearerToken{"one"};
  access_.tls.authority = {"", Write("ca", testing::MakeIdentity("IP:127.0.0.1").ca_pem)};
  const auto client = MakeClient();
  EXPECT_EQ(client->Fetch(Get("/x")).reason, "TLSFailed") << "the file says the same again";
  Write("ca", identity_.ca_pem);
  access_.tls.authority = {"", Write("ca", identity_.ca_pem)};
  EXPECT_EQ(MakeClient()->Fetch(Get("/x")).outcome, KubeOutcome::kOk);
}

TEST_F(ClientCredentials, OfAPluginAreHadOnceForAllAndAgainAfterARefusal) {
  ServeTokens();
  access_.credentials = CountedPlugin();
  PluginAnswers(R"({"token":"one"})");
  const auto client = MakeClient();
  for (int i = 0; i < 10; ++i) client->Send(Get("/x"), replies_.Next());
  ASSERT_TRUE(replies_.WaitAll());
  for (int i = 0; i < 10; ++i) EXPECT_EQ(replies_.at(i).body, "Bearer one") << i;
  EXPECT_EQ(Runs(), 1) << "all wait for the same run";

  // With an end, too, it is had anew when it is refused.
  PluginAnswers(R"({"token":"one","expirationTimestamp":")" + In(milliseconds(3000)) + "\"}");
  const auto other = MakeClient();
  EXPECT_EQ(other->Fetch(Get("/x")).outcome, KubeOutcome::kOk);
  EXPECT_EQ(Runs(), 2);
  Accept("two");
  PluginAnswers(R"({"token":"two"})");
  EXPECT_EQ(other->Fetch(Get("/x")).body, "Bearer two") << "after the refusal";
  EXPECT_EQ(Runs(), 3);
}

TEST_F(ClientCredentials, OfAPluginAreHadAnewBeforeTheyEnd) {
  ServeTokens();
  access_.credentials = CountedPlugin();
  PluginAnswers(R"({"token":"one","expirationTimestamp":")" + In(milliseconds(2500)) + "\"}");
  const auto client = MakeClient();
  EXPECT_EQ(client->Fetch(Get("/x")).outcome, KubeOutcome::kOk);
  PluginAnswers(R"({"token":"two","expirationTimestamp":")" + In(std::chrono::hours(1)) + "\"}");
  Accept("two");
  // Whatever the time: the old one while it is good, and then the new one without a refusal.
  std::string shown;
  while (shown != "Bearer two") shown = client->Fetch(Get("/x")).body;
  EXPECT_EQ(Runs(), 2);
}

TEST_F(ClientCredentials, OfAPluginCanBeACertificate) {
  const Authority authority;
  const auto server = Serve(
      [](const ServedRequest& request, std::shared_ptr<Served> exchange) {
        exchange->Answer(200, request.client + request.Field("authorization"));
      },
      authority.ForClient("ca").ca_pem);
  access_.credentials = CountedPlugin();
  const Identity identity = authority.ForClient("printed");
  Json status;
  status.Set("clientCertificateData", identity.certificate_pem);
  status.Set("clientKeyData", identity.key_pem);
  PluginAnswers(DumpJson(status));
  EXPECT_EQ(MakeClient()->Fetch(Get("/x")).body, "printed");
}

TEST_F(ClientCredentials, OfAPluginThatFailsEndRequestsWithItsWordsAndNotWithARunForEach) {
  ServeTokens();
  ExecPlugin plugin = CountedPlugin();
  plugin.command =
      WriteScript("failing", "echo run >> \"$1/runs\"\necho 'log in first' >&2\nexit 3");
  access_.credentials = plugin;
  const auto client = MakeClient();
  for (int i = 0; i < 5; ++i) {
    const KubeReply reply = client->Fetch(Get("/x"));
    EXPECT_EQ(reply.outcome, KubeOutcome::kDenied);
    EXPECT_NE(reply.message.find("exited with 3: log in first"), std::string::npos)
        << reply.message;
  }
  EXPECT_LE(Runs(), 2);
  EXPECT_EQ(asked(), 0);
}

TEST_F(ClientCredentials, OfAPluginThatHangsAreGivenUpAndItIsEnded) {
  ServeTokens();
  ExecPlugin plugin = CountedPlugin();
  plugin.command = WriteScript("hanging", "echo $$ > \"$1/pid\"\nexec tail -f /dev/null");
  access_.credentials = plugin;
  options_.exec_timeout = milliseconds(300);
  const KubeReply reply = MakeClient()->Fetch(Get("/x"));
  EXPECT_EQ(reply.outcome, KubeOutcome::kDenied);
  EXPECT_NE(reply.message.find("did not end within 300 ms"), std::string::npos) << reply.message;
  const auto pid = ReadLocalFile(directory_ / "pid");
  ASSERT_TRUE(pid);
  EXPECT_NE(kill(std::stoi(*pid), 0), 0) << "it is gone";

  options_.exec_timeout = std::chrono::hours(1);
  std::filesystem::remove(directory_ / "pid");
  auto client = MakeClient();
  client->Send(Get("/x"), replies_.Next());
  client.reset();
  ASSERT_TRUE(replies_.WaitAll()) << "nor does the client's end wait for it";
  EXPECT_EQ(replies_.at(0).outcome, KubeOutcome::kCancelled);
}

}  // namespace
}  // namespace detent
