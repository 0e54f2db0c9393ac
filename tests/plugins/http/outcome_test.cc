// From an answer to the end of a task.

#include "plugins/http/outcome.h"

#include <gtest/gtest.h>

#include "core/base/json.h"

namespace detent::http {
namespace {

struct Answer {
  detent_status code = DETENT_OK;
  uint32_t status = 200;
  uint32_t flags = 0;
  const char* reason = "";
  const char* message = "";
};

detent_http_response Raw(const Answer& answer) {
  detent_http_response raw{};
  raw.size = sizeof(raw);
  raw.code = answer.code;
  raw.http_status = answer.code == DETENT_OK ? answer.status : 0;
  raw.flags = answer.flags;
  raw.reason = sdk::Str(answer.reason);
  raw.message = sdk::Str(answer.message);
  return raw;
}

HttpSpec Post(Format format = Format::kAuto) {
  HttpSpec spec;
  spec.method = "POST";
  spec.url = "http://h:8080/secret?token=x";
  spec.format = format;
  return spec;
}

TEST(HttpOutcome, SaysWhatHappenedToWhichRequest) {
  struct Row {
    Answer answer;
    uint32_t result, flags;
    const char* reason;
    const char* message;
  };
  const Row rows[] = {
      {{DETENT_OK, 200}, DETENT_RESULT_SUCCEEDED, 0, "", ""},
      {{DETENT_OK, 299}, DETENT_RESULT_SUCCEEDED, 0, "", ""},
      {{DETENT_OK, 302},
       DETENT_RESULT_FAILED,
       0,
       "UnexpectedStatus",
       "the server answered 302 Found"},
      {{DETENT_OK, 404},
       DETENT_RESULT_FAILED,
       0,
       "UnexpectedStatus",
       "the server answered 404 Not Found"},
      {{DETENT_OK, 599}, DETENT_RESULT_FAILED, 0, "UnexpectedStatus", "the server answered 599"},
      {{DETENT_E_DEADLINE, 0, DETENT_HTTP_NOT_SENT, "ConnectTimeout", "x"},
       DETENT_RESULT_FAILED,
       DETENT_TASK_RERUN_SAFE,
       "ConnectTimeout",
       "no connection within the connectTimeout of 10 s; nothing was sent"},
      {{DETENT_E_DEADLINE, 0, 0, "TotalTimeout", "x"},
       DETENT_RESULT_FAILED,
       0,
       "TotalTimeout",
       "not over within the totalTimeout of 1.050 s; whether the request took effect is not known"},
      {{DETENT_E_DEADLINE, 0, 0, "IdleTimeout", ""},
       DETENT_RESULT_FAILED,
       0,
       "SocketTimeout",
       "no byte came or went for the socketTimeout of 2 s; whether the request took effect is not "
       "known"},
      {{DETENT_E_UNAVAILABLE, 0, DETENT_HTTP_NOT_SENT, "ConnectFailed", "refused"},
       DETENT_RESULT_FAILED,
       DETENT_TASK_RERUN_SAFE,
       "ConnectFailed",
       "refused; nothing was sent"},
      {{DETENT_E_DENIED, 0, DETENT_HTTP_NOT_SENT, "EgressDenied", "not allowed"},
       DETENT_RESULT_FAILED,
       DETENT_TASK_RERUN_SAFE | DETENT_TASK_NEVER_RETRY,
       "EgressDenied",
       "not allowed; nothing was sent"},
      {{DETENT_E_CANCELLED, 0, 0, "Cancelled", "gone"},
       DETENT_RESULT_LOST,
       0,
       "RequestDropped",
       "gone; whether the request took effect is not known"},
  };
  HttpSpec spec = Post();
  spec.total_ms = 1050;
  spec.socket_ms = 2000;
  const Plan plan(spec, {});
  for (const Row& row : rows) {
    const detent_http_response raw = Raw(row.answer);
    const sdk::TaskStatus status = DescribeEnd(plan, {raw, ""});
    EXPECT_EQ(status.phase, DETENT_PHASE_TERMINATED);
    EXPECT_EQ(status.result, row.result) << row.reason;
    EXPECT_EQ(status.flags, row.flags) << row.reason;
    EXPECT_EQ(status.reason, row.reason);
    const std::string message =
        *row.message == '\0' ? "" : std::string("POST h:8080: ") + row.message;
    EXPECT_EQ(status.message, message);
  }
}

TEST(HttpOutcome, KeepsTheResponse) {
  const std::string type = "Content-Type", json = "application/json; charset=utf-8";
  const std::string cookie = "Set-Cookie", secret = "id=1";
  const detent_http_header headers[] = {
      {sizeof(headers[0]), 0, sdk::Str(type), sdk::Str(json)},
      {sizeof(headers[0]), 0, sdk::Str(cookie), sdk::Str(secret)}};
  const detent_http_header* const list[] = {&headers[0], &headers[1]};
  detent_http_response raw = Raw({});
  raw.headers = list;
  raw.header_count = 2;
  raw.bytes_sent = 10;
  raw.bytes_received = 20;
  raw.total_us = 1500;
  const Plan plan(Post(), {});
  const std::string_view body = "\xEF\xBB\xBF{\"a\": [1]}";
  EXPECT_TRUE(WantsJson(plan, raw, body));
  EXPECT_EQ(DescribeEnd(plan, {raw, body, true}).output,
            R"({"status":200,"statusText":"OK","headers":[{"name":"Content-Type",)"
            R"("value":"application/json; charset=utf-8"}],"body":{"a": [1]},)"
            R"("bytes":{"body":13,"sent":10,"received":20},"timings":{"total":1.5}})");
}

TEST(HttpOutcome, WantsJsonWhereItWasAskedFor) {
  const Plan json(Post(Format::kJson), {});
  const detent_http_response raw = Raw({});
  EXPECT_TRUE(WantsJson(json, raw, "x"));
  EXPECT_FALSE(WantsJson(Plan(Post(), {}), raw, "{}")) << "nothing says that it is JSON";
  EXPECT_FALSE(WantsJson(Plan(Post(Format::kText), {}), raw, "{}"));
  EXPECT_EQ(DescribeEnd(json, {raw, "<html>"}).reason, "NotJson");
  EXPECT_EQ(DescribeEnd(json, {raw, ""}).reason, "NotJson");
  EXPECT_EQ(DescribeEnd(json, {Raw({DETENT_OK, 204}), ""}).result, DETENT_RESULT_SUCCEEDED);
  const Answer cut{DETENT_OK, 200, DETENT_HTTP_BODY_TRUNCATED};
  EXPECT_EQ(DescribeEnd(json, {Raw(cut), "[1"}).reason, "BodyTooLarge");
  EXPECT_EQ(DescribeEnd(json, {Raw({DETENT_OK, 500}), "<html>"}).reason, "UnexpectedStatus");
}

TEST(HttpOutcome, KeepsItsOutputBelowTheTasksLimit) {
  std::string control(200'000, '\x01'), umlauts, text(kBodyKept + 1, 'a');
  for (int i = 0; i < 100'000; ++i) umlauts += "\xC3\xBC";
  const std::string name = "N", value(2000, '\x01');
  const detent_http_header header{sizeof(header), 0, sdk::Str(name), sdk::Str(value)};
  const std::vector<const detent_http_header*> many(200, &header);
  const Plan plan(Post(), {});
  for (const std::string& body : {control, umlauts, text}) {
    detent_http_response raw = Raw({});
    raw.headers = many.data();
    raw.header_count = static_cast<uint32_t>(many.size());
    const sdk::TaskStatus status = DescribeEnd(plan, {raw, body});
    EXPECT_EQ(status.result, DETENT_RESULT_SUCCEEDED);
    EXPECT_EQ(status.flags, DETENT_TASK_OUTPUT_TRUNCATED);
    EXPECT_LE(status.output.size(), 64u * 1024);
    const auto output = ParseJson(status.output);
    ASSERT_TRUE(output);
    EXPECT_NE(output.value().Find("truncated"), nullptr);
    EXPECT_NE(output.value().Find("headersTruncated"), nullptr);
  }
}

}  // namespace
}  // namespace detent::http
