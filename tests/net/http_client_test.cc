#include "core/net/http_client.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "tests/support/tiny_http_server.h"

namespace detent {
namespace {

using testing::Respond;
using testing::TinyAnswer;
using testing::TinyHttpServer;
using testing::TinyRequest;

TEST(HttpClient, FetchesWithTokenAndBody) {
  std::string head;
  TinyHttpServer server([&](const TinyRequest& request) {
    head = request.head;
    return Respond(404, request.body, "X-A: b\r\n");
  });
  HttpClientOptions options;
  options.base_url = server.Url("");
  options.bearer_token = "secret";
  HttpClient client(options);
  const auto reply = client.Fetch({"POST", "/x", {}, "text"});
  ASSERT_TRUE(reply) << reply.error().message();
  EXPECT_EQ(reply->status, 404);
  EXPECT_EQ(reply->body, "text");
  EXPECT_EQ(reply->headers.Find("x-a"), "b");
  EXPECT_NE(head.find("Authorization: Bearer secret\r\n"), std::string::npos);
}

TEST(HttpClient, SpeaksOverAUnixSocket) {
  const auto path = std::filesystem::temp_directory_path() /
                    ("detent-http-client-" + std::to_string(getpid()) + ".sock");
  TinyHttpServer server([](const TinyRequest&) { return Respond(200, "hi"); }, path);
  HttpClientOptions options;
  options.base_url = "http://localhost";
  options.unix_socket = path;
  HttpClient client(options);
  const auto reply = client.Fetch({});
  ASSERT_TRUE(reply) << reply.error().message();
  EXPECT_EQ(reply->body, "hi");
}

TEST(HttpClient, StreamsLinesUntilTheReaderHasEnough) {
  TinyHttpServer server([](const TinyRequest&) {
    return TinyAnswer{"HTTP/1.1 200 OK\r\n\r\none\ntwo\nthree\nfour", false, true};
  });
  HttpClientOptions options;
  options.base_url = server.Url();
  HttpClient client(options);
  std::vector<std::string> lines;
  const auto all = client.Stream({}, [&](std::string_view line) {
    lines.emplace_back(line);
    return true;
  });
  ASSERT_TRUE(all) << all.error().message();
  EXPECT_EQ(lines, (std::vector<std::string>{"one", "two", "three", "four"}));
  int seen = 0;
  ASSERT_TRUE(client.Stream({}, [&](std::string_view) { return ++seen < 2; }));
  EXPECT_EQ(seen, 2);
}

TEST(HttpClient, GivesTheBodyOfARefusedStream) {
  TinyHttpServer server([](const TinyRequest&) { return Respond(410, "too old"); });
  HttpClientOptions options;
  options.base_url = server.Url();
  HttpClient client(options);
  const auto reply = client.Stream({}, [](std::string_view) { return true; });
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->status, 410);
  EXPECT_EQ(reply->body, "too old");
}

TEST(HttpClient, SaysThatNobodyListens) {
  int port = 0;
  {
    port = TinyHttpServer([](const TinyRequest&) { return Respond(200, ""); }).port();
  }
  HttpClientOptions options;
  options.base_url = "http://127.0.0.1:" + std::to_string(port);
  HttpClient client(options);
  const auto reply = client.Fetch({});
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code(), Code::kUnavailable);
}

}  // namespace
}  // namespace detent
