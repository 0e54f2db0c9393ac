#include "core/net/curl_transport.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "core/net/http_client.h"
#include "tests/net/waiting.h"
#include "tests/support/tiny_http_server.h"

namespace detent {
namespace {

using std::chrono::milliseconds;
using testing::Replies;
using testing::Respond;
using testing::TinyAnswer;
using testing::TinyCounts;
using testing::TinyHttpServer;
using testing::TinyRequest;

TinyAnswer Echo(const TinyRequest& request) {
  return Respond(200, request.method + " " + request.target + " " + request.body);
}

TinyAnswer Hold(const TinyRequest&) {
  TinyAnswer answer;
  answer.hold = true;
  return answer;
}

HttpRequest To(const std::string& url) {
  HttpRequest request;
  request.url = url;
  return request;
}

class CurlTransportTest : public ::testing::Test {
 protected:
  const HttpReply& Exchange(HttpRequest request) {
    replies_.Send(transport_, std::move(request));
    EXPECT_TRUE(replies_.WaitAll());
    return replies_.at(static_cast<int>(replies_.size()) - 1);
  }

  SystemClock clock_;
  Replies replies_;
  CurlTransport transport_{{}, clock_};
};

TEST_F(CurlTransportTest, SendsMethodBodyAndHeadersAsTheyAreGiven) {
  std::string head;
  TinyHttpServer server([&](const TinyRequest& request) {
    head = request.head;
    return Echo(request);
  });
  HttpRequest request = To(server.Url("/a/../b?x=%41"));
  request.method = "PUT";
  request.body = "hello";
  request.headers.Add("X-One", "1");
  request.headers.Add("X-Empty", "");
  request.headers.Add("X-One", "2");
  const HttpReply& reply = Exchange(std::move(request));
  EXPECT_EQ(reply.outcome, HttpOutcome::kOk) << reply.message;
  EXPECT_EQ(reply.status, 200u);
  EXPECT_EQ(reply.body, "PUT /a/../b?x=%41 hello");
  EXPECT_EQ(head, "PUT /a/../b?x=%41 HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(server.port()) +
                      "\r\nX-One: 1\r\nX-Empty:\r\nX-One: 2\r\nContent-Length: 5\r\n\r\n");
  EXPECT_TRUE(reply.request_sent);
  EXPECT_FALSE(reply.not_sent);
  EXPECT_EQ(reply.peer_address, "127.0.0.1:" + std::to_string(server.port()));
  EXPECT_GT(reply.total.count(), 0);
}

TEST_F(CurlTransportTest, ForgetsTheOptionsOfTheRequestBefore) {
  std::string head;
  TinyHttpServer server([&](const TinyRequest& request) {
    head = request.head;
    return Echo(request);
  });
  HttpRequest first = To(server.Url("/1"));
  first.method = "DELETE";
  first.headers.Add("Authorization", "Bearer one");
  Exchange(std::move(first));
  HttpRequest second = To(server.Url("/2"));
  second.method = "POST";
  EXPECT_EQ(Exchange(std::move(second)).body, "POST /2 ");
  EXPECT_EQ(head.find("Authorization"), std::string::npos) << head;
  HttpRequest third = To(server.Url("/3"));
  third.method = "HEAD";
  EXPECT_EQ(Exchange(std::move(third)).body, "");
}

TEST_F(CurlTransportTest, KeepsConnectionsAliveUnlessAFreshOneIsAskedFor) {
  TinyHttpServer server(Echo);
  for (int i = 0; i < 5; ++i) Exchange(To(server.Url()));
  EXPECT_EQ(server.counts().connections, 1);
  EXPECT_EQ(replies_.at(4).connect.count(), 0) << "a pooled connection has no connect step";
  HttpRequest fresh = To(server.Url());
  fresh.fresh_connection = true;
  EXPECT_TRUE(Exchange(std::move(fresh)).connection_closed);
  EXPECT_EQ(server.counts().connections, 2);
  EXPECT_TRUE(server.WaitFor([](const TinyCounts& counts) { return counts.ended == 1; }));
}

TEST_F(CurlTransportTest, ReportsEachSortOfFailureByItsReason) {
  TinyHttpServer silent(Hold);
  TinyHttpServer cut([](const TinyRequest&) {
    return TinyAnswer{"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort", false, true};
  });
  TinyHttpServer nothing([](const TinyRequest&) { return TinyAnswer{"", false, true}; });
  TinyHttpServer garbage([](const TinyRequest&) {
    return TinyAnswer{"not http\r\n\r\n", false, true};
  });
  TinyHttpServer heads([](const TinyRequest&) {
    return Respond(200, "", "X-Big: " + std::string(70'000, 'x') + "\r\n");
  });
  int free_port = 0;
  { free_port = TinyHttpServer(Echo).port(); }
  const std::string refused = "http://127.0.0.1:" + std::to_string(free_port);
  struct Row {
    std::string url;
    HttpOutcome outcome;
    bool not_sent;
    const char* because;
  };
  const Row rows[] = {
      {silent.Url(), HttpOutcome::kTotalTimeout, false, "no answer in time"},
      {cut.Url(), HttpOutcome::kConnectionReset, false, "the body is shorter than it says"},
      {nothing.Url(), HttpOutcome::kConnectionReset, false, "closed without a word"},
      {garbage.Url(), HttpOutcome::kProtocolError, false, "HTTP/0.9 is not taken"},
      {heads.Url(), HttpOutcome::kHeadersTooLarge, false, "over 64 KiB of headers"},
      {refused, HttpOutcome::kConnectFailed, true, "nobody listens there"},
      {"http://no-such-host.invalid/", HttpOutcome::kResolveFailed, true, "no such name"},
      {"ftp://127.0.0.1/", HttpOutcome::kInvalid, true, "http and https only"},
  };
  for (const Row& row : rows) {
    HttpRequest request = To(row.url);
    request.total_timeout = milliseconds(row.outcome == HttpOutcome::kTotalTimeout ? 50 : 5000);
    const HttpReply& reply = Exchange(std::move(request));
    EXPECT_EQ(ReasonOf(reply.outcome), std::string(ReasonOf(row.outcome)))
        << row.because << ": " << reply.message;
    EXPECT_EQ(reply.not_sent, row.not_sent) << row.because;
    EXPECT_TRUE(reply.connection_closed) << row.because;
    EXPECT_FALSE(reply.message.empty()) << row.because;
  }
}

TEST_F(CurlTransportTest, GivesWhatArrivedBeforeAFailure) {
  TinyHttpServer cut([](const TinyRequest&) {
    return TinyAnswer{"HTTP/1.1 200 OK\r\nX-A: b\r\nContent-Length: 100\r\n\r\nshort", false, true};
  });
  const HttpReply& reply = Exchange(To(cut.Url()));
  EXPECT_EQ(reply.status, 200u);
  EXPECT_EQ(reply.headers.Find("x-a"), "b");
  EXPECT_EQ(reply.body, "short");
}

TEST_F(CurlTransportTest, StopsAtTheReadAndTheIdleTimeout) {
  TinyHttpServer silent(Hold);
  HttpRequest read = To(silent.Url());
  read.read_timeout = milliseconds(60);
  EXPECT_EQ(Exchange(std::move(read)).outcome, HttpOutcome::kReadTimeout);
  TinyHttpServer stalls([](const TinyRequest&) {
    return TinyAnswer{"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort", true, false};
  });
  HttpRequest idle = To(stalls.Url());
  idle.idle_timeout = milliseconds(60);
  idle.read_timeout = milliseconds(60);
  const HttpReply& reply = Exchange(std::move(idle));
  EXPECT_EQ(reply.outcome, HttpOutcome::kIdleTimeout) << reply.message;
  EXPECT_EQ(reply.body, "short");
}

TEST_F(CurlTransportTest, CutsABodyAtItsLimitAndClosesTheConnection) {
  TinyHttpServer server(
      [](const TinyRequest&) { return Respond(200, std::string(1'000'000, 'x')); });
  HttpRequest request = To(server.Url());
  request.response_body_max = 1000;
  const HttpReply& reply = Exchange(std::move(request));
  EXPECT_EQ(reply.outcome, HttpOutcome::kOk) << reply.message;
  EXPECT_EQ(reply.body.size(), 1000u);
  EXPECT_TRUE(reply.body_truncated);
  EXPECT_TRUE(reply.connection_closed);
}

TEST_F(CurlTransportTest, CancelClosesTheConnectionBeforeTheCallback) {
  TinyHttpServer server(Hold);
  const uint64_t id = replies_.Send(transport_, To(server.Url()));
  ASSERT_TRUE(server.WaitFor([](const TinyCounts& counts) { return counts.held == 1; }));
  transport_.Cancel(id);
  transport_.Cancel(id);
  ASSERT_TRUE(replies_.WaitAll());
  EXPECT_EQ(replies_.at(0).outcome, HttpOutcome::kCancelled);
  EXPECT_TRUE(replies_.at(0).connection_closed);
  EXPECT_FALSE(replies_.at(0).not_sent);
  EXPECT_TRUE(server.WaitFor([](const TinyCounts& counts) { return counts.ended == 1; }));
  EXPECT_EQ(replies_.calls(0), 1);
}

TEST_F(CurlTransportTest, CancelBreaksTheConnectionWithResetWhereAsked) {
  TinyHttpServer server(Hold);
  HttpRequest request = To(server.Url());
  request.fresh_connection = true;
  request.reset_on_cancel = true;
  const uint64_t id = replies_.Send(transport_, std::move(request));
  ASSERT_TRUE(server.WaitFor([](const TinyCounts& counts) { return counts.held == 1; }));
  transport_.Cancel(id);
  EXPECT_TRUE(server.WaitFor([](const TinyCounts& counts) { return counts.resets == 1; }));
  EXPECT_TRUE(replies_.WaitAll());
}

TEST_F(CurlTransportTest, NeverSendsARequestTwiceWhenAPooledConnectionDies) {
  int requests = 0;
  TinyHttpServer server([&](const TinyRequest& request) {
    return ++requests == 1 ? Echo(request) : TinyAnswer{"", false, true};
  });
  Exchange(To(server.Url()));
  HttpRequest second = To(server.Url());
  second.method = "POST";
  const HttpReply& reply = Exchange(std::move(second));
  EXPECT_EQ(reply.outcome, HttpOutcome::kConnectionReset) << reply.message;
  EXPECT_FALSE(reply.not_sent);
  EXPECT_EQ(server.counts().requests, 2);
}

TEST_F(CurlTransportTest, HoldsAThousandInFlight) {
  TinyHttpServer server(Hold);
  for (int i = 0; i < 1000; ++i) replies_.Send(transport_, To(server.Url()));
  ASSERT_TRUE(server.WaitFor([](const TinyCounts& counts) { return counts.held == 1000; }));
  server.ReleaseHeld(Respond(200, "done"));
  ASSERT_TRUE(replies_.WaitAll());
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(replies_.at(i).body, "done");
}

TEST_F(CurlTransportTest, RefusesAddressesThatThePolicyDoesNotAllow) {
  TinyHttpServer server(Echo);
  Exchange(To(server.Url()));  // A connection that is pooled must not help.
  auto policy = std::make_shared<EgressPolicy>();
  ASSERT_TRUE(policy->Deny("127.0.0.0/8"));
  for (const bool fresh : {false, true}) {
    HttpRequest request = To(server.Url());
    request.policy = policy;
    request.fresh_connection = fresh;
    const HttpReply& reply = Exchange(std::move(request));
    EXPECT_EQ(reply.outcome, HttpOutcome::kDenied) << reply.message;
    EXPECT_TRUE(reply.not_sent);
  }
  EXPECT_EQ(server.counts().requests, 1);
}

TEST_F(CurlTransportTest, ReadsRetryAfter) {
  TinyHttpServer server([](const TinyRequest&) { return Respond(503, "", "Retry-After: 7\r\n"); });
  EXPECT_EQ(Exchange(To(server.Url())).retry_after, std::chrono::seconds(7));
}

TEST(CurlTransport, QueuesWhatIsOverItsLimitsAndCancelsWhatWaits) {
  TinyHttpServer server(Hold);
  SystemClock clock;
  for (const bool per_host : {false, true}) {
    CurlTransportOptions options;
    (per_host ? options.max_per_host : options.max_connections) = 2;
    Replies replies;
    {
      CurlTransport transport(options, clock);
      uint64_t last = 0;
      for (int i = 0; i < 4; ++i) last = replies.Send(transport, To(server.Url()));
      ASSERT_TRUE(server.WaitFor([](const TinyCounts& counts) { return counts.held == 2; }));
      transport.Cancel(last);
    }
    ASSERT_TRUE(replies.WaitAll()) << "the destructor answers what is left";
    EXPECT_TRUE(replies.at(3).not_sent);
    EXPECT_EQ(replies.at(0).outcome, HttpOutcome::kCancelled);
    ASSERT_TRUE(server.WaitFor([](const TinyCounts& counts) { return counts.held == 0; }));
  }
  EXPECT_EQ(server.counts().requests, 4);
}

TEST_F(CurlTransportTest, PausesBetweenTurnsWhileACrowdIsUnderWay) {
  TinyHttpServer held(Hold), answers(Echo);
  CurlTransportOptions options;
  options.crowd = 2;
  options.crowd_pause = milliseconds(30);
  CurlTransport transport(options, clock_);
  const uint64_t first = replies_.Send(transport, To(held.Url()));
  ASSERT_TRUE(held.WaitFor([](const TinyCounts& counts) { return counts.held == 1; }));
  replies_.Send(transport, To(answers.Url()));
  ASSERT_TRUE(replies_.WaitOne(1));
  EXPECT_EQ(replies_.at(1).outcome, HttpOutcome::kOk) << replies_.at(1).message;
  EXPECT_GE(replies_.at(1).total, options.crowd_pause);
  transport.Cancel(first);
  EXPECT_TRUE(replies_.WaitAll());
}

// With a pause that no test would survive.
TEST_F(CurlTransportTest, PausesNeitherForStreamsNorForOneRequestNorAtItsEnd) {
  TinyHttpServer held(Hold), answers(Echo);
  CurlTransportOptions options;
  options.crowd = 2;
  options.crowd_pause = std::chrono::hours(1);
  {
    CurlTransport transport(options, clock_);
    for (int i = 0; i < 3; ++i) {
      HttpRequest stream = To(held.Url());
      stream.on_body = [](std::string_view) { return true; };
      replies_.Send(transport, std::move(stream));
    }
    ASSERT_TRUE(held.WaitFor([](const TinyCounts& counts) { return counts.held == 3; }));
    for (int number = 3; number < 6; ++number) {
      replies_.Send(transport, To(answers.Url()));
      ASSERT_TRUE(replies_.WaitOne(number));
      EXPECT_EQ(replies_.at(number).outcome, HttpOutcome::kOk) << replies_.at(number).message;
    }
    for (int i = 0; i < 2; ++i) replies_.Send(transport, To(held.Url()));
  }
  ASSERT_TRUE(replies_.WaitAll());
  EXPECT_EQ(replies_.at(7).outcome, HttpOutcome::kCancelled);
}

TEST_F(CurlTransportTest, CancelsNothingBeforeTheFirstRequest) {
  transport_.Cancel(1);
  EXPECT_EQ(replies_.size(), 0u);
}

TEST_F(CurlTransportTest, TriesAgainAfterDescriptorsRanOut) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the sanitizer itself needs a descriptor to look at an exception";
#endif
  EXPECT_EQ(Exchange(To("http://127.0.0.1:0/")).status, 0u) << "the library is loaded from here on";
  const int next = dup(0);
  close(next);
  rlimit before{};
  getrlimit(RLIMIT_NOFILE, &before);
  CurlTransport late({}, clock_);
  for (const int room : {0, 1}) {
    const rlimit tight{static_cast<rlim_t>(next + room), before.rlim_max};
    setrlimit(RLIMIT_NOFILE, &tight);
    EXPECT_THROW(late.Send(To("http://127.0.0.1:0/"), [](HttpReply&&) {}), std::system_error);
  }
  setrlimit(RLIMIT_NOFILE, &before);
  const int still_next = dup(0);
  close(still_next);
  EXPECT_EQ(still_next, next) << "nothing is left open";
  replies_.Send(late, To("http://127.0.0.1:0/"));
  EXPECT_TRUE(replies_.WaitAll());
}

// A process of its own, which finds something else under the library's name.
TEST(CurlTransportDeathTest, SaysWhatToInstallWithoutTheLibrary) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  const auto directory =
      std::filesystem::temp_directory_path() / ("detent-no-curl-" + std::to_string(getpid()));
  std::filesystem::create_directories(directory);
  std::ofstream(directory / "libcurl.so.4") << "not a library";
  setenv("LD_LIBRARY_PATH", directory.c_str(), 1);
  const auto ask_both = [&] {
    std::filesystem::remove_all(directory);  // The process' own; it began with its parent's.
    SystemClock clock;
    Replies replies;
    CurlTransport transport({}, clock);
    transport.Cancel(replies.Send(transport, To("http://127.0.0.1:1/")));
    replies.WaitAll();
    const auto fetched = HttpClient({}).Fetch({});
    const bool refused = replies.at(0).outcome == HttpOutcome::kConnectFailed && !fetched;
    std::fputs(replies.at(0).message.c_str(), stderr);
    std::exit(refused && fetched.error().code() == Code::kUnavailable ? 0 : 1);
  };
  EXPECT_EXIT(ask_both(), ::testing::ExitedWithCode(0), "install libcurl 7.88 or newer");
  unsetenv("LD_LIBRARY_PATH");
  std::filesystem::remove_all(directory);
}

}  // namespace
}  // namespace detent
