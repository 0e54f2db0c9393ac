// TLS, proxies and HTTP/2, against servers on the loopback.

#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "core/net/curl_transport.h"
#include "core/net/http_client.h"
#include "tests/net/tls_server.h"
#include "tests/net/waiting.h"
#include "tests/support/tiny_http_server.h"

namespace detent {
namespace {

using testing::Identity;
using testing::MakeIdentity;
using testing::Replies;
using testing::TlsServer;
using testing::TunnelProxy;

constexpr const char* kLoopback = "IP:127.0.0.1,DNS:localhost";

HttpReply SecureExchange(CurlTransport& transport, HttpRequest request) {
  Replies replies;
  request.total_timeout = std::chrono::seconds(20);
  replies.Send(transport, std::move(request));
  EXPECT_TRUE(replies.WaitAll());
  return replies.at(0);
}

HttpRequest SecureRequest(const std::string& url, const std::string& ca_pem = "") {
  HttpRequest request;
  request.url = url;
  auto tls = std::make_shared<HttpTls>();
  tls->ca_pem = ca_pem;
  request.tls = std::move(tls);
  return request;
}

class TlsTest : public ::testing::Test {
 protected:
  HttpReply Ask(const std::string& url, const std::string& ca_pem = "") {
    return SecureExchange(transport_, SecureRequest(url, ca_pem));
  }

  SystemClock clock_;
  CurlTransport transport_{{}, clock_};
};

TEST_F(TlsTest, RefusesAServerWhoseAuthorityItDoesNotKnow) {
  const Identity identity = MakeIdentity(kLoopback);
  TlsServer server(identity);
  for (const std::string& ca : {std::string(), MakeIdentity(kLoopback).ca_pem}) {
    const HttpReply reply = Ask(server.Url(), ca);
    EXPECT_EQ(reply.outcome, HttpOutcome::kTlsFailed) << reply.message;
    EXPECT_NE(reply.message.find("certificate"), std::string::npos) << reply.message;
    EXPECT_TRUE(reply.not_sent);
    EXPECT_TRUE(reply.connection_closed);
  }
  EXPECT_EQ(server.requests(), 0);
}

TEST_F(TlsTest, TrustsTheAuthorityThatItIsGivenAndTellsTheTimes) {
  const Identity identity = MakeIdentity(kLoopback);
  TlsServer server(identity);
  const HttpReply reply = Ask(server.Url(), identity.ca_pem);
  EXPECT_EQ(reply.outcome, HttpOutcome::kOk) << reply.message;
  EXPECT_EQ(reply.body, "secret");
  EXPECT_GE(reply.tls, reply.connect);
  EXPECT_GT(reply.tls.count(), 0);
  EXPECT_EQ(Ask(server.Url("localhost"), identity.ca_pem).outcome, HttpOutcome::kOk);
}

TEST_F(TlsTest, RefusesACertificateForAnotherName) {
  const Identity identity = MakeIdentity("DNS:another.test,IP:127.0.0.2");
  TlsServer server(identity);
  for (const char* host : {"127.0.0.1", "localhost"}) {
    const HttpReply reply = Ask(server.Url(host), identity.ca_pem);
    EXPECT_EQ(reply.outcome, HttpOutcome::kTlsFailed) << reply.message;
    EXPECT_NE(reply.message.find(host), std::string::npos) << reply.message;
    EXPECT_TRUE(reply.not_sent);
  }
  EXPECT_EQ(server.requests(), 0);
}

TEST_F(TlsTest, VerifiesNothingOnlyWhereToldSo) {
  TlsServer server(MakeIdentity("DNS:another.test"));
  HttpRequest request = SecureRequest(server.Url());
  auto tls = std::make_shared<HttpTls>();
  tls->insecure = true;
  request.tls = std::move(tls);
  EXPECT_EQ(SecureExchange(transport_, std::move(request)).outcome, HttpOutcome::kOk);
  EXPECT_EQ(Ask(server.Url()).outcome, HttpOutcome::kTlsFailed) << "the pooled one is not taken";
}

TEST_F(TlsTest, TakesNoPooledConnectionThatWasVerifiedOtherwise) {
  const Identity identity = MakeIdentity(kLoopback);
  TlsServer server(identity);
  EXPECT_EQ(Ask(server.Url(), identity.ca_pem).outcome, HttpOutcome::kOk);
  EXPECT_EQ(Ask(server.Url(), identity.ca_pem).outcome, HttpOutcome::kOk);
  EXPECT_EQ(server.connections(), 1) << "the same trust shares a connection";
  EXPECT_EQ(Ask(server.Url()).outcome, HttpOutcome::kTlsFailed) << "less trust does not";
  EXPECT_EQ(server.requests(), 2);
}

TEST_F(TlsTest, SpeaksHttp2WhereItIsAskedForAndOffered) {
  const Identity identity = MakeIdentity(kLoopback);
  TlsServer both(identity, true);
  TlsServer old(identity, false);
  struct Row {
    const TlsServer& server;
    HttpVersion asked, got;
    const char* because;
  };
  const Row rows[] = {
      {both, HttpVersion::k2, HttpVersion::k2, "asked and offered"},
      {both, HttpVersion::kAuto, HttpVersion::k11, "one connection serves one request"},
      {old, HttpVersion::k2, HttpVersion::k11, "not offered"},
  };
  for (const Row& row : rows) {
    HttpRequest request = SecureRequest(row.server.Url(), identity.ca_pem);
    request.version = row.asked;
    const HttpReply reply = SecureExchange(transport_, std::move(request));
    EXPECT_EQ(reply.outcome, HttpOutcome::kOk) << row.because << ": " << reply.message;
    EXPECT_EQ(reply.version, row.got) << row.because;
    EXPECT_EQ(reply.body, "secret") << row.because;
  }
}

TEST_F(TlsTest, GoesThroughTheProxyOfTheRequestAndStillVerifiesTheServer) {
  const Identity identity = MakeIdentity(kLoopback);
  TlsServer server(identity);
  TunnelProxy proxy;
  HttpRequest request = SecureRequest(server.Url(), identity.ca_pem);
  request.proxy = proxy.Url();
  const HttpReply reply = SecureExchange(transport_, request);
  EXPECT_EQ(reply.outcome, HttpOutcome::kOk) << reply.message;
  EXPECT_EQ(reply.body, "secret");
  EXPECT_EQ(proxy.targets(),
            (std::vector<std::string>{"127.0.0.1:" + std::to_string(server.port())}));
  request.tls = nullptr;
  EXPECT_EQ(SecureExchange(transport_, request).outcome, HttpOutcome::kTlsFailed);
  EXPECT_EQ(Ask(server.Url(), identity.ca_pem).outcome, HttpOutcome::kOk) << "and directly";
  EXPECT_EQ(proxy.targets().size(), 2u);
}

TEST(Proxy, IsTheTransportsWhereTheRequestHasNone) {
  SystemClock clock;
  testing::TinyHttpServer proxy([](const testing::TinyRequest& request) {
    return testing::Respond(200, "for " + request.target);
  });
  CurlTransportOptions options;
  options.proxy = proxy.Url("");
  CurlTransport transport(options, clock);
  EXPECT_EQ(SecureExchange(transport, SecureRequest("http://far.invalid/a?b")).body,
            "for http://far.invalid/a?b");
  setenv("http_proxy", proxy.Url("").c_str(), 1);
  CurlTransport without({}, clock);
  EXPECT_EQ(SecureExchange(without, SecureRequest("http://far.invalid/")).outcome,
            HttpOutcome::kResolveFailed)
      << "whatever the environment says";
  unsetenv("http_proxy");
}

TEST(HttpClientTls, TrustsAConfiguredFileAndNobodyUnknown) {
  const Identity identity = MakeIdentity(kLoopback);
  TlsServer server(identity);
  const std::string url = server.Url();
  HttpClientOptions options;
  options.base_url = url.substr(0, url.size() - 1);
  const auto refused = HttpClient(options).Fetch({"GET", "/", {}, {}});
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message().find("certificate"), std::string::npos)
      << refused.error().message();
  const auto path =
      std::filesystem::temp_directory_path() / ("detent-ca-" + std::to_string(getpid()) + ".pem");
  std::ofstream(path) << identity.ca_pem;
  options.ca_file = path;
  const auto reply = HttpClient(options).Fetch({"GET", "/", {}, {}});
  std::filesystem::remove(path);
  ASSERT_TRUE(reply) << reply.error().message();
  EXPECT_EQ(reply->body, "secret");
  EXPECT_EQ(server.requests(), 1);
}

}  // namespace
}  // namespace detent
