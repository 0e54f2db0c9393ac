// Many requests on one connection: what one of them suffers is its own.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <future>
#include <mutex>

#include "core/net/curl_transport.h"
#include "tests/net/tls_server.h"
#include "tests/net/waiting.h"

namespace detent {
namespace {

using std::chrono::milliseconds;
using testing::Authority;
using testing::Identity;
using testing::MakeIdentity;
using testing::Replies;
using testing::Served;
using testing::ServedRequest;
using testing::TlsServer;
using testing::TlsServerOptions;

constexpr const char* kHere = "IP:127.0.0.1,DNS:localhost";

// What a server has been asked and not yet answered, by path.
class Desk {
 public:
  void Put(const ServedRequest& request, std::shared_ptr<Served> exchange) {
    std::lock_guard lock(mutex_);
    requests_.push_back(request);
    exchanges_[request.path] = std::move(exchange);
    changed_.notify_all();
  }

  // Waits for the exchange of that path; null after 20 seconds.
  std::shared_ptr<Served> Await(const std::string& path) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::seconds(20),
                      [&] { return exchanges_.find(path) != exchanges_.end(); });
    return exchanges_[path];
  }

  std::vector<ServedRequest> requests() {
    std::lock_guard lock(mutex_);
    return requests_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, std::shared_ptr<Served>> exchanges_;  // Guarded by mutex_, as is requests_.
  std::vector<ServedRequest> requests_;
};

class Http2Test : public ::testing::Test {
 protected:
  HttpRequest To(const TlsServer& server, const std::string& path) const {
    HttpRequest request;
    request.url = server.Url() + path;
    request.version = HttpVersion::k2;
    request.tls = tls_;
    request.total_timeout = std::chrono::seconds(20);
    return request;
  }

  const HttpReply& Exchange(HttpRequest request) {
    replies_.Send(transport_, std::move(request));
    EXPECT_TRUE(replies_.WaitAll());
    return replies_.at(static_cast<int>(replies_.size()) - 1);
  }

  std::shared_ptr<const HttpTls> Trusting(const Identity& server, const Identity& client = {}) {
    auto tls = std::make_shared<HttpTls>();
    tls->ca_pem = server.ca_pem;
    tls->certificate_pem = client.certificate_pem;
    tls->key_pem = client.key_pem;
    return tls;
  }

  const Identity identity_ = MakeIdentity(kHere);
  const std::shared_ptr<const HttpTls> tls_ = Trusting(identity_);
  SystemClock clock_;
  Desk desk_;
  const testing::ServedHandler to_desk_ = [this](const ServedRequest& request,
                                                 std::shared_ptr<Served> exchange) {
    desk_.Put(request, std::move(exchange));
  };
  Replies replies_;
  CurlTransport transport_{{}, clock_};
};

TEST_F(Http2Test, SharesOneConnectionAmongRequestsFromTheFirstOn) {
  TlsServer server(identity_, {true, "", 0},
                   [](const ServedRequest& request, std::shared_ptr<Served> exchange) {
                     exchange->Answer(200, request.method + request.path + request.body);
                   });
  for (int i = 0; i < 60; ++i) {
    HttpRequest request = To(server, std::to_string(i));
    if (i % 2 == 0) {
      request.method = "POST";
      request.body = std::string(1000, 'x');
    }
    replies_.Send(transport_, std::move(request));
  }
  ASSERT_TRUE(replies_.WaitAll());
  for (int i = 0; i < 60; ++i) {
    EXPECT_EQ(replies_.at(i).version, HttpVersion::k2) << replies_.at(i).message;
    const std::string path = "/" + std::to_string(i);
    EXPECT_EQ(replies_.at(i).body,
              i % 2 == 0 ? "POST" + path + std::string(1000, 'x') : "GET" + path);
    EXPECT_FALSE(replies_.at(i).connection_closed);
  }
  EXPECT_EQ(server.connections(), 1);
  EXPECT_EQ(replies_.at(0).request_body, std::string(1000, 'x')) << "for another try";
}

TEST_F(Http2Test, WithholdsWhatMayNotBeSentAnyMore) {
  TlsServer server(identity_, {true, "", 0}, to_desk_);
  int asked = 0;
  HttpRequest request = To(server, "withheld");
  request.may_send = [&asked] { return ++asked > 1; };
  const HttpReply& withheld = Exchange(std::move(request));
  EXPECT_EQ(withheld.outcome, HttpOutcome::kWithheld) << withheld.message;
  EXPECT_STREQ(ReasonOf(withheld.outcome), "Withheld");
  EXPECT_TRUE(withheld.not_sent);
  EXPECT_EQ(asked, 1);
  replies_.Send(transport_, To(server, "other"));
  desk_.Await("/other")->Answer(200, "done");
  ASSERT_TRUE(replies_.WaitAll());
  EXPECT_EQ(replies_.at(1).body, "done");
  EXPECT_EQ(desk_.requests().size(), 1u) << "the server has not seen the first";
}

TEST_F(Http2Test, ResetsACancelledStreamAlone) {
  TlsServer server(identity_, {true, "", 0}, to_desk_);
  const uint64_t id = replies_.Send(transport_, To(server, "cancelled"));
  replies_.Send(transport_, To(server, "other"));
  const auto cancelled = desk_.Await("/cancelled");
  const auto other = desk_.Await("/other");
  transport_.Cancel(id);
  ASSERT_TRUE(replies_.WaitOne(0));
  EXPECT_EQ(replies_.at(0).outcome, HttpOutcome::kCancelled);
  EXPECT_FALSE(replies_.at(0).connection_closed);
  EXPECT_FALSE(replies_.at(0).not_sent);
  other->Answer(200, "done");
  ASSERT_TRUE(replies_.WaitAll());
  EXPECT_EQ(replies_.at(1).body, "done") << replies_.at(1).message;
  EXPECT_TRUE(cancelled->AwaitReset()) << "the server is told";
  EXPECT_EQ(server.connections(), 1);
}

TEST_F(Http2Test, EndsAStreamAtItsOwnTimeoutAndLeavesTheOthers) {
  TlsServer server(identity_, {true, "", 0}, to_desk_);
  replies_.Send(transport_, To(server, "patient"));
  const auto patient = desk_.Await("/patient");
  patient->Begin(200);
  // The connection is alive, so it is kept.
  std::atomic<bool> over = false;
  std::promise<void> quiet;
  std::function<void()> tick = [&] {
    if (over) return quiet.set_value();
    patient->Send(".");
    transport_.RunAt(clock_.Mono() + milliseconds(5), tick);
  };
  tick();
  struct Row {
    const char* path;
    milliseconds total, read;
    HttpOutcome outcome;
  };
  const Row rows[] = {{"total", milliseconds(300), milliseconds(0), HttpOutcome::kTotalTimeout},
                      {"read", milliseconds(0), milliseconds(300), HttpOutcome::kReadTimeout}};
  int number = 1;
  for (const Row& row : rows) {
    HttpRequest hasty = To(server, row.path);
    hasty.total_timeout = row.total;
    hasty.read_timeout = row.read;
    replies_.Send(transport_, std::move(hasty));
    ASSERT_TRUE(replies_.WaitOne(number));
    EXPECT_EQ(ReasonOf(replies_.at(number).outcome), std::string(ReasonOf(row.outcome)));
    EXPECT_FALSE(replies_.at(number).not_sent);
    ++number;
  }
  over = true;
  quiet.get_future().wait();
  patient->Send("end");
  patient->End();
  ASSERT_TRUE(replies_.WaitAll());
  EXPECT_TRUE(replies_.at(0).body.ends_with(".end")) << replies_.at(0).message;
  EXPECT_EQ(server.connections(), 1);
}

TEST_F(Http2Test, LeavesAConnectionThatStalls) {
  std::promise<void> end;
  const std::shared_future<void> ended = end.get_future().share();
  TlsServer server(identity_, {true, "", 0},
                   [&](const ServedRequest& request, std::shared_ptr<Served> exchange) {
                     if (request.path == "/stall") return ended.wait();  // And with it all else.
                     request.path == "/held" ? desk_.Put(request, exchange)
                                             : exchange->Answer(200, "well");
                   });
  HttpRequest held = To(server, "held");
  held.total_timeout = milliseconds(0);
  replies_.Send(transport_, std::move(held));
  desk_.Await("/held");
  replies_.Send(transport_, To(server, "before"));
  ASSERT_TRUE(replies_.WaitOne(1));
  EXPECT_EQ(replies_.at(1).body, "well") << replies_.at(1).message;
  HttpRequest stall = To(server, "stall");
  stall.total_timeout = milliseconds(60);
  replies_.Send(transport_, std::move(stall));
  ASSERT_TRUE(replies_.WaitOne(2));
  EXPECT_EQ(replies_.at(2).outcome, HttpOutcome::kTotalTimeout);
  ASSERT_TRUE(replies_.WaitAll()) << "what else waits for it learns of it";
  EXPECT_EQ(replies_.at(0).outcome, HttpOutcome::kConnectionReset) << replies_.at(0).message;
  EXPECT_FALSE(replies_.at(0).not_sent);
  EXPECT_EQ(Exchange(To(server, "after")).body, "well");
  EXPECT_EQ(server.connections(), 2);
  end.set_value();
}

TEST_F(Http2Test, DoesNotWaitForConnectionsOneAfterTheOther) {
  std::promise<void> end;
  const std::shared_future<void> ended = end.get_future().share();
  testing::ThreadedListener mute([&](int) { ended.wait(); });
  const MonoTime begun = clock_.Mono();
  for (int i = 0; i < 20; ++i) {
    HttpRequest request;
    request.url = "https://127.0.0.1:" + std::to_string(mute.port()) + "/";
    request.version = HttpVersion::k2;
    (i % 2 == 0 ? request.connect_timeout : request.total_timeout) = milliseconds(300);
    replies_.Send(transport_, std::move(request));
  }
  ASSERT_TRUE(replies_.WaitAll());
  EXPECT_LT(clock_.Mono() - begun, std::chrono::seconds(5)) << "one after the other take six";
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(replies_.at(i).outcome, HttpOutcome::kConnectTimeout) << replies_.at(i).message;
    EXPECT_TRUE(replies_.at(i).not_sent);
  }
  end.set_value();
}

TEST_F(Http2Test, NeverSendsTwiceWhatALostConnectionMayHaveDone) {
  TlsServer server(identity_, {true, "", 0},
                   [&](const ServedRequest& request, std::shared_ptr<Served> exchange) {
                     if (request.path == "/first") return exchange->Answer(200, "");
                     if (request.path == "/drop") return exchange->Drop();
                     if (request.path == "/reset") return exchange->Reset(2);
                     if (request.path == "/refuse") return exchange->Reset(7);
                     exchange->Begin(200);
                     exchange->Send("some");
                     exchange->Drop();
                   });
  struct Row {
    const char* path;
    std::vector<HttpOutcome> outcomes;  // Any of them.
    const char* because;
  };
  const Row rows[] = {
      {"drop", {HttpOutcome::kConnectionReset}, "closed without a word"},
      {"reset", {HttpOutcome::kConnectionReset, HttpOutcome::kProtocolError}, "its stream alone"},
      {"refuse", {HttpOutcome::kConnectionReset}, "libcurl would repeat it"},
      {"cut", {HttpOutcome::kConnectionReset, HttpOutcome::kProtocolError}, "in its body"},
  };
  int seen = 0;
  for (const Row& row : rows) {
    for (const bool pooled : {false, true}) {
      if (pooled) {
        EXPECT_EQ(Exchange(To(server, "first")).status, 200u);
        ++seen;
      }
      HttpRequest request = To(server, row.path);
      request.method = "POST";
      request.body = "{}";
      const HttpReply& reply = Exchange(std::move(request));
      ++seen;
      EXPECT_TRUE(std::count(row.outcomes.begin(), row.outcomes.end(), reply.outcome))
          << row.because << ": " << ReasonOf(reply.outcome) << ": " << reply.message;
      EXPECT_FALSE(reply.not_sent) << row.because;
      EXPECT_EQ(server.requests(), seen) << row.because;
    }
  }
}

TEST_F(Http2Test, ShowsTheClientsCertificateAndANewOneOnANewConnection) {
  const Authority authority;
  TlsServer server(identity_, {true, authority.ForClient("ca").ca_pem, 0},
                   [](const ServedRequest& request, std::shared_ptr<Served> exchange) {
                     exchange->Answer(200, request.client);
                   });
  const HttpReply& refused = Exchange(To(server, ""));
  EXPECT_EQ(refused.status, 0u) << "no certificate was shown";
  EXPECT_NE(refused.outcome, HttpOutcome::kOk);
  for (const char* name : {"one", "two"}) {
    const auto tls = Trusting(identity_, authority.ForClient(name));
    const int before = static_cast<int>(replies_.size());
    for (int i = 0; i < 20; ++i) {
      HttpRequest request = To(server, "");
      request.tls = tls;
      replies_.Send(transport_, std::move(request));
    }
    ASSERT_TRUE(replies_.WaitAll());
    for (int i = before; i < before + 20; ++i) {
      EXPECT_EQ(replies_.at(i).body, name) << replies_.at(i).message;
    }
  }
  EXPECT_EQ(server.requests(), 40);
}

TEST_F(Http2Test, ShowsTheCertificatesThatItWasGivenAndNoOthers) {
  const Authority authority;
  const Identity server_identity = authority.ForServer(kHere);
  TlsServer server(server_identity, {true, server_identity.ca_pem, 0},
                   [](const ServedRequest& request, std::shared_ptr<Served> exchange) {
                     exchange->Answer(200, std::to_string(request.certificates));
                   });
  Identity client = authority.ForClient("one");
  HttpRequest request = To(server, "");
  request.tls = Trusting(server_identity, client);
  EXPECT_EQ(Exchange(request).body, "1") << "the authority that it trusts is not among them";
  client.certificate_pem += Authority().ForClient("").ca_pem;
  request.tls = Trusting(server_identity, client);
  EXPECT_EQ(Exchange(request).body, "2") << "one that it was given with its own is";
}

TEST_F(Http2Test, AsksForAndVerifiesTheNameThatItIsGiven) {
  const Identity named = MakeIdentity("DNS:api.inside,IP:10.0.0.1");
  for (const bool http2 : {true, false}) {
    TlsServer server(
        named, {http2, "", 0}, [](const ServedRequest& request, std::shared_ptr<Served> exchange) {
          exchange->Answer(200, request.server_name + " " + request.authority + " " + request.path);
        });
    const std::string here = "127.0.0.1:" + std::to_string(server.port());
    const auto ask = [&](const char* name, const char* host) -> const HttpReply& {
      HttpRequest request = To(server, "x?y");
      auto tls = std::make_shared<HttpTls>(*Trusting(named));
      tls->server_name = name;
      request.tls = std::move(tls);
      if (*host != '\0') request.headers.Add("Host", host);
      return Exchange(std::move(request));
    };
    EXPECT_EQ(ask("api.inside", "").body, "api.inside " + here + " /x?y");
    EXPECT_EQ(ask("api.inside", "other.host").body, "api.inside other.host /x?y");
    EXPECT_EQ(ask("10.0.0.1", "").body, " " + here + " /x?y") << "an address is not asked for";
    EXPECT_EQ(ask("api.outside", "").outcome, HttpOutcome::kTlsFailed);
    EXPECT_TRUE(replies_.at(static_cast<int>(replies_.size()) - 1).certificate_refused);
    EXPECT_EQ(ask("", "").outcome, HttpOutcome::kTlsFailed) << "127.0.0.1 is not in it";
    EXPECT_EQ(ask("api.inside/x", "").outcome, HttpOutcome::kInvalid);
    EXPECT_EQ(ask("api.inside", "").body, "api.inside " + here + " /x?y") << "and again";
    EXPECT_EQ(server.requests(), 4);
  }
}

TEST_F(Http2Test, SharesNoConnectionThatIsARequestsOwn) {
  TlsServer server(identity_, {true, "", 0}, to_desk_);
  HttpRequest own = To(server, "own");
  own.fresh_connection = true;
  replies_.Send(transport_, std::move(own));
  const auto held = desk_.Await("/own");
  replies_.Send(transport_, To(server, "other"));
  desk_.Await("/other")->Answer(200, "");
  held->Answer(200, "");
  ASSERT_TRUE(replies_.WaitAll());
  EXPECT_TRUE(replies_.at(0).connection_closed);
  EXPECT_FALSE(replies_.at(1).connection_closed);
  EXPECT_EQ(desk_.requests()[0].connection, 1);
  EXPECT_EQ(desk_.requests()[1].connection, 2);
}

// Follows replies piece by piece.
class Http2Streams : public Http2Test {
 protected:
  uint64_t Follow(const char* path, std::function<bool(std::string_view)> on_body) {
    HttpRequest request = To(server_, path);
    request.total_timeout = milliseconds(0);
    request.decode = true;
    request.on_body = std::move(on_body);
    return replies_.Send(transport_, std::move(request));
  }
  uint64_t Follow(const char* path) {
    return Follow(path, [this](std::string_view piece) { return Take(piece); });
  }
  bool Take(std::string_view piece) {
    std::lock_guard lock(mutex_);
    got_ += piece;
    came_.notify_all();
    return true;
  }
  bool Await(const std::string& text) {
    std::unique_lock lock(mutex_);
    const bool equal = came_.wait_for(lock, std::chrono::seconds(20), [&] { return got_ == text; });
    got_.clear();
    return equal;
  }

  TlsServer server_{identity_, {true, "", 0}, to_desk_};
  std::mutex mutex_;
  std::condition_variable came_;
  std::string got_;
};

TEST_F(Http2Streams, AreGivenAwayAsTheyCome) {
  Follow("ends");
  auto exchange = desk_.Await("/ends");
  exchange->Begin(200);
  exchange->Send("one\n");
  EXPECT_TRUE(Await("one\n")) << "before the end";
  exchange->Send("two\n");
  EXPECT_TRUE(Await("two\n"));
  exchange->End();
  ASSERT_TRUE(replies_.WaitAll());
  EXPECT_EQ(replies_.at(0).outcome, HttpOutcome::kOk) << replies_.at(0).message;
  EXPECT_EQ(replies_.at(0).body, "");

  Follow("cut");
  exchange = desk_.Await("/cut");
  exchange->Begin(200);
  exchange->Send("half");
  EXPECT_TRUE(Await("half"));
  exchange->Drop();
  ASSERT_TRUE(replies_.WaitAll());
  EXPECT_NE(replies_.at(1).outcome, HttpOutcome::kOk);
  EXPECT_EQ(replies_.at(1).status, 200u);
}

TEST_F(Http2Streams, EndWhereSomebodyHasEnough) {
  const uint64_t id = Follow("cancelled");
  auto exchange = desk_.Await("/cancelled");
  exchange->Begin(200);
  exchange->Send("x");
  EXPECT_TRUE(Await("x"));
  transport_.Cancel(id);
  ASSERT_TRUE(replies_.WaitAll());
  EXPECT_EQ(replies_.at(0).outcome, HttpOutcome::kCancelled);

  Follow("enough", [&](std::string_view piece) { return !Take(piece); });
  exchange = desk_.Await("/enough");
  exchange->Begin(200);
  exchange->Send("a");
  ASSERT_TRUE(replies_.WaitAll());
  EXPECT_EQ(replies_.at(1).outcome, HttpOutcome::kOk) << replies_.at(1).message;
  EXPECT_TRUE(replies_.at(1).body_truncated);
  EXPECT_TRUE(Await("a"));
}

TEST_F(Http2Streams, AreDecodedAndAreOfSuccessesOnly) {
  Follow("zipped");
  auto exchange = desk_.Await("/zipped");
  constexpr char kZipped[] =
      "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\xcb\xcf\x4b\x55\xc8\xc9\xcc\x4b\xe5\xca\xc7\x60\x00"
      "\x00\x20"
      "\xec\x36\xb4\x1b\x00\x00\x00";
  exchange->Answer(200, {kZipped, sizeof kZipped - 1}, {{"content-encoding", "gzip"}});
  EXPECT_TRUE(Await("one line\none line\none line\n"));
  ASSERT_TRUE(replies_.WaitAll());

  Follow("forbidden");
  exchange = desk_.Await("/forbidden");
  exchange->Answer(403, "why");
  ASSERT_TRUE(replies_.WaitAll());
  EXPECT_EQ(replies_.at(1).body, "why") << "only a success is given away";
  EXPECT_TRUE(Await(""));
}

TEST_F(Http2Test, OpensAnotherConnectionAfterTheServerSaidGoodbye) {
  TlsServer server(identity_, {true, "", 0}, to_desk_);
  std::promise<void> heard;
  HttpRequest request = To(server, "first");
  request.on_body = [&](std::string_view piece) {
    if (piece == "goodbye") heard.set_value();
    return true;
  };
  replies_.Send(transport_, std::move(request));
  const auto first = desk_.Await("/first");
  first->GoAway(first->stream());
  first->Begin(200);
  first->Send("goodbye");
  heard.get_future().wait();
  replies_.Send(transport_, To(server, "second"));
  const auto second = desk_.Await("/second");
  second->Answer(200, "new");
  first->Send("finished");
  first->End();
  ASSERT_TRUE(replies_.WaitAll());
  EXPECT_EQ(replies_.at(0).outcome, HttpOutcome::kOk) << replies_.at(0).message;
  EXPECT_EQ(replies_.at(1).body, "new") << replies_.at(1).message;
  EXPECT_EQ(server.connections(), 2);
}

TEST(CurlTransportTimers, RunInTheOrderOfTheirTimesOnTheTransportsThread) {
  SystemClock clock;
  std::vector<int> order;
  std::promise<void> last;
  auto dropped = std::make_shared<int>(0);
  const std::weak_ptr<int> kept = dropped;
  {
    CurlTransport transport({}, clock);
    const MonoTime now = clock.Mono();
    transport.RunAt(now + milliseconds(40), [&] {
      order.push_back(3);
      last.set_value();
    });
    transport.RunAt(now + milliseconds(20), [&] { order.push_back(2); });
    transport.RunAt(MonoTime::min(), [&] { order.push_back(1); });
    transport.RunAt(now + std::chrono::hours(1), [dropped] { ++*dropped; });
    dropped.reset();
    last.get_future().wait();
  }
  EXPECT_EQ(order, (std::vector<int>{1, 2, 3}));
  EXPECT_TRUE(kept.expired()) << "what was not due is dropped with the transport";
}

}  // namespace
}  // namespace detent
