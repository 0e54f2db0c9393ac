#include "core/http/server.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <mutex>

#include "core/base/metrics.h"
#include "core/base/random.h"
#include "core/http/api.h"
#include "core/store/memory_store.h"
#include "tests/net/test_identity.h"
#include "tests/support/http_client.h"

namespace detent {
namespace {

using testing::HttpCall;
using testing::HttpLines;
using testing::HttpServerAddress;
using testing::Send;

HttpCall CallOf(const std::string& method, const std::string& path) {
  HttpCall call;
  call.method = method;
  call.path = path;
  return call;
}

// A bare connection, for what no HTTP client would send.
class RawClient {
 public:
  explicit RawClient(const std::string& url) : socket_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(std::stoi(url.substr(url.rfind(':') + 1))));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const int small = 4096;
    setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
    EXPECT_EQ(connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  }
  ~RawClient() { close(socket_); }
  void Write(const std::string& text) {
    (void)send(socket_, text.data(), text.size(), MSG_NOSIGNAL);
  }
  void EndWriting() { shutdown(socket_, SHUT_WR); }
  // Everything until the server closes; nullopt if it does not within ten seconds.
  std::optional<std::string> ReadToEnd() {
    std::string text;
    char piece[4096];
    while (true) {
      pollfd ready{socket_, POLLIN, 0};
      if (poll(&ready, 1, 10'000) <= 0) return std::nullopt;
      const ssize_t got = recv(socket_, piece, sizeof(piece), 0);
      if (got <= 0) return text;
      text.append(piece, static_cast<size_t>(got));
    }
  }

 private:
  const int socket_;
};

class ServerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = std::filesystem::temp_directory_path() / "detent-server-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    directory_ = pattern;
    options_.listeners = {{"127.0.0.1:0", std::nullopt}};
  }
  void TearDown() override {
    server_.reset();
    std::filesystem::remove_all(directory_);
  }
  void Start(Handler handler) {
    auto started = Server::Start(options_, std::move(handler), clock_, nullptr);
    ASSERT_TRUE(started) << started.error().message();
    server_ = std::move(started).value();
    address_.url = server_->urls().front();
  }
  std::string File(const std::string& name, const std::string& text) const {
    std::ofstream(directory_ + "/" + name) << text;
    return directory_ + "/" + name;
  }
  testing::HttpAnswer Get(const std::string& path) { return Send(address_, CallOf("GET", path)); }

  static Handler Echo() {
    return [](const Request& request) { return TextResponse(request.path + request.body); };
  }

  SystemClock clock_;
  std::string directory_;
  ServerOptions options_;
  std::unique_ptr<Server> server_;
  HttpServerAddress address_;
};

TEST_F(ServerTest, AnswersOnTcpAndOnAUnixSocket) {
  options_.listeners.push_back({"unix:" + directory_ + "/socket", std::nullopt});
  options_.token_file = File("token", "secret\n");
  Start(Echo());
  EXPECT_EQ(Get("/x").status, 401);
  EXPECT_EQ(Get("/healthz").status, 200);
  address_.token = "secret";
  EXPECT_EQ(Get("/x").body, "/x");
  address_ = {server_->urls()[1], "", "", "", ""};
  EXPECT_EQ(Get("/x").body, "/x") << "the file's mode guards it";
  EXPECT_EQ(std::filesystem::status(directory_ + "/socket").permissions(),
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  server_->Stop();
  EXPECT_FALSE(std::filesystem::exists(directory_ + "/socket"));
}

TEST_F(ServerTest, ReadsItsTokenAgainWhenTheFileChanges) {
  options_.token_file = File("token", "first");
  Start(Echo());
  address_.token = "second-token";
  EXPECT_EQ(Get("/x").status, 401);
  File("token", "second-token");
  EXPECT_EQ(Get("/x").status, 200);
}

TEST_F(ServerTest, RefusesAnOpenAddressWithoutAGuard) {
  options_.listeners = {{"0.0.0.0:0", std::nullopt}};
  const auto refused = Server::Start(options_, Echo(), clock_, nullptr);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Code::kInvalid);
  options_.token_file = File("token", "secret");
  EXPECT_TRUE(Server::Start(options_, Echo(), clock_, nullptr));
}

TEST_F(ServerTest, SaysWhatIsWrongWithAnAddress) {
  for (const char* address :
       {"127.0.0.1", "nonsense:1", "127.0.0.1:99999", "unix:/no/such/dir/x"}) {
    options_.listeners = {{address, std::nullopt}};
    const auto refused = Server::Start(options_, Echo(), clock_, nullptr);
    ASSERT_FALSE(refused) << address;
    EXPECT_NE(refused.error().message().find(address), std::string::npos);
  }
}

TEST_F(ServerTest, MalformedRequestsAreAnsweredOrDropped) {
  Start(Echo());
  struct Row {
    const char* text;
    const char* begin;
    const char* because;
  };
  const Row rows[] = {
      {"GET /x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", "HTTP/1.1 200", "good"},
      {"POST /x HTTP/1.1\r\nContent-Length: 5\r\n\r\nab", "HTTP/1.1 400", "cut off"},
      {"POST /x HTTP/1.1\r\nContent-Length: -5\r\n\r\n", "HTTP/1.1 400", "no length"},
      {"POST /x HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n", "HTTP/1.1 413", "too long"},
      {"POST /x HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
       "HTTP/1.1 400", "smuggling"},
      {"GET /a%00b HTTP/1.1\r\n\r\n", "HTTP/1.1 400", "NUL in the path"},
      {"GET /x HTTP/1.0\r\n\r\n", "HTTP/1.0 200", "an old client"},
      {"GET /x HT", "", "cut off in its first line"},
      {"", "", "nothing at all"},
  };
  for (const Row& row : rows) {
    RawClient client(address_.url);
    client.Write(row.text);
    client.EndWriting();
    const std::optional<std::string> answer = client.ReadToEnd();
    ASSERT_TRUE(answer) << row.because;
    EXPECT_TRUE(answer->starts_with(row.begin)) << row.because << ": " << *answer;
  }
  EXPECT_EQ(Get("/still").body, "/still");
}

TEST_F(ServerTest, ABodyOverTheLimitIsRefusedHoweverItComes) {
  options_.request_bytes_max = 100'000;
  Start(Echo());
  HttpCall call = CallOf("POST", "/");
  call.body = std::string(100'000, 'x');
  EXPECT_EQ(Send(address_, call).status, 200);
  call.body += 'x';
  EXPECT_EQ(Send(address_, call).status, 413);
  call.headers = {{"Transfer-Encoding", "chunked"}};
  EXPECT_EQ(Send(address_, call).status, 413);
  call.headers = {{"Expect", "100-continue"}};
  EXPECT_EQ(Send(address_, call).status, 413);
}

TEST_F(ServerTest, ARequestThatDoesNotGetReadyIsEnded) {
  options_.request_timeout = std::chrono::milliseconds(300);
  Start(Echo());
  RawClient half_header(address_.url);
  half_header.Write("GET /x HTTP/1.1\r\nHost:");
  RawClient half_body(address_.url);
  half_body.Write("POST /x HTTP/1.1\r\nContent-Length: 10\r\n\r\nabc");
  EXPECT_TRUE(half_header.ReadToEnd());
  EXPECT_TRUE(half_body.ReadToEnd());
}

TEST_F(ServerTest, OneConnectionTooManyIsToldSo) {
  options_.connections_max = 2;
  Start(Echo());
  RawClient first(address_.url);
  RawClient second(address_.url);
  first.Write("GET /x HTTP/1.1\r\n");
  second.Write("GET /x HTTP/1.1\r\n");
  testing::HttpAnswer answer;
  // The two count once their threads have taken them.
  for (int i = 0; i < 1000 && answer.status != 429; ++i) answer = Get("/x");
  EXPECT_EQ(answer.status, 429);
  EXPECT_EQ(answer.Header("retry-after"), "1");
}

// A stream that never ends by itself, and tells how it ended.
struct Endless {
  std::mutex mutex;
  std::condition_variable ended;
  bool over = false;
  std::atomic<size_t> written{0};

  Response Make() {
    Response response;
    response.stream = [this](BodySink& sink) {
      const std::string piece = std::string(16 * 1024, 'x') + "\n";
      while (sink.Write(piece)) written += piece.size();
      std::lock_guard lock(mutex);
      over = true;
      ended.notify_all();
      return true;
    };
    return response;
  }
  bool WaitUntilOver() {
    std::unique_lock lock(mutex);
    return ended.wait_for(lock, std::chrono::seconds(10), [this] { return over; });
  }
};

TEST_F(ServerTest, AClientThatNeverReadsIsDropped) {
  options_.send_timeout = std::chrono::milliseconds(300);
  Endless endless;
  Start([&](const Request&) { return endless.Make(); });
  RawClient client(address_.url);
  client.Write("GET /x HTTP/1.1\r\n\r\n");
  EXPECT_TRUE(endless.WaitUntilOver());
  EXPECT_LT(endless.written, 16u * 1024 * 1024) << "only what the kernel takes is sent";
}

TEST_F(ServerTest, StoppingEndsStreamsAndIdleConnections) {
  Endless endless;
  Start([&](const Request&) { return endless.Make(); });
  HttpLines lines(address_, CallOf("GET", "/x"));
  ASSERT_TRUE(lines.Next());
  RawClient idle(address_.url);
  const MonoTime begin = clock_.Mono();
  server_->Stop();
  EXPECT_LT(clock_.Mono() - begin, std::chrono::seconds(2));
  EXPECT_TRUE(endless.WaitUntilOver());
  EXPECT_TRUE(lines.WaitForEnd());
}

TEST_F(ServerTest, AStreamThatFailsDoesNotLookWhole) {
  Start([](const Request&) {
    Response response;
    response.stream = [](BodySink& sink) { return sink.Write("half") && false; };
    return response;
  });
  EXPECT_EQ(Get("/x").status, 0);
}

TEST_F(ServerTest, ServesTlsAndAsksForCertificates) {
  const std::string make = "cd '" + directory_ +
                           "' && openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 "
                           "-nodes -keyout key.pem -out cert.pem -days 2 -subj /CN=localhost "
                           "-addext subjectAltName=IP:127.0.0.1 2>&1 >log";
  ASSERT_EQ(system(make.c_str()), 0);
  const std::string certificate = directory_ + "/cert.pem";
  const std::string key = directory_ + "/key.pem";
  options_.token_file = File("token", "secret");
  options_.listeners = {{"127.0.0.1:0", TlsFiles{certificate, key, ""}},
                        {"127.0.0.1:0", TlsFiles{certificate, key, certificate}}};
  Start(Echo());
  address_.ca_file = certificate;
  EXPECT_EQ(Get("/x").status, 401);
  address_.token = "secret";
  EXPECT_EQ(Get("/x").status, 200);
  address_ = {server_->urls()[1], "", certificate, "", ""};
  EXPECT_EQ(Get("/x").status, 0) << "without a certificate";
  address_.certificate_file = certificate;
  address_.key_file = key;
  EXPECT_EQ(Get("/x").status, 200) << "it stands for a token";
}

TEST_F(ServerTest, ShowsNewConnectionsARenewedCertificate) {
  const testing::Identity first = testing::MakeIdentity("IP:127.0.0.1");
  const testing::Identity second = testing::MakeIdentity("IP:127.0.0.1");
  options_.listeners.front().pem = TlsPem{first.certificate_pem, first.key_pem};
  Endless endless;
  Start([&](const Request& request) {
    return request.path == "/endless" ? endless.Make() : TextResponse("ok");
  });
  address_.ca_file = File("first.pem", first.ca_pem);
  EXPECT_EQ(Get("/x").status, 200);
  HttpLines before(address_, CallOf("GET", "/endless"));
  ASSERT_TRUE(before.Next());
  EXPECT_FALSE(server_->Renew(0, {second.certificate_pem, first.key_pem})) << "not its key";
  EXPECT_FALSE(server_->Renew(0, {"", second.key_pem}));
  EXPECT_EQ(Get("/x").status, 200) << "nothing has changed";
  ASSERT_TRUE(server_->Renew(0, {second.certificate_pem, second.key_pem}));
  EXPECT_EQ(Get("/x").status, 0) << "the first is shown no more";
  address_.ca_file = File("second.pem", second.ca_pem);
  EXPECT_EQ(Get("/x").status, 200);
  EXPECT_TRUE(before.Next()) << "what was open goes on";
  server_->Stop();  // Its stream would outlive what it writes to.
}

TEST_F(ServerTest, AListenerDeclaredOpenAsksForNoToken) {
  options_.token_file = File("token", "secret");
  options_.listeners.push_back({"0.0.0.0:0", std::nullopt, std::nullopt, true});
  Start(Echo());
  EXPECT_EQ(Get("/x").status, 401);
  const std::string& url = server_->urls()[1];
  address_.url = "http://127.0.0.1" + url.substr(url.rfind(':'));
  EXPECT_EQ(Get("/x").body, "/x");
}

}  // namespace
}  // namespace detent
